"""A journal that ends its process at a commit."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Any, Literal, cast

from ...store import Append, Appended, Journal, JournalError, OnDone

Moment = Literal["before", "after"]

TURNS_TO_LIVE = 20
"""Turns of the event loop between a withheld append and the end: enough for a tool to act."""


class CrashingJournal:
    """A journal that ends its process at an append; in all else it is the journal it wraps.

    Args:
        journal: the journal.
        at: number of the append, from 1; 0 for never.
        moment: ``before`` its commit: it is withheld, and the process lives on for some turns of its loop, in
            which nothing may happen that has to wait for it. Or ``after``, before anyone is told.
        crash: how to end; by default SIGKILL to this process.

    Attributes:
        appends: how many appends were submitted.
        facts: how many facts they held.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        at: int = 0,
        moment: Moment = "before",
        crash: Callable[[], None] | None = None,
    ) -> None:
        self._journal = journal
        self._at = at
        self._moment = moment
        self._crash = crash or _kill_this_process
        self._is_dying = False
        self.appends = 0
        self.facts = 0

    def submit(self, append: Append, on_done: OnDone) -> None:
        """Queue an append, or crash."""
        if self._is_dying:
            return
        self.appends += 1
        self.facts += len(append.entries)
        if self.appends != self._at:
            self._journal.submit(append, on_done)
        elif self._moment == "before":
            self._is_dying = True
            self._crash_in(TURNS_TO_LIVE)
        else:
            self._journal.submit(append, self._crash_when_done)

    def _crash_in(self, turns: int) -> None:
        if turns:
            asyncio.get_running_loop().call_soon(self._crash_in, turns - 1)
        else:
            self._crash()

    def _crash_when_done(self, _result: Appended | JournalError) -> None:
        self._crash()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)


def crashing(
    journal: Journal, *, at: int = 0, moment: Moment = "before", crash: Callable[[], None] | None = None
) -> Journal:
    """Return a `CrashingJournal` as what it passes for."""
    return cast(Journal, CrashingJournal(journal, at=at, moment=moment, crash=crash))


def _kill_this_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
