"""What an executor runs: a call into a tool's code."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any, Final

from ..domain.messages import Report
from .clock import Clock, Timer

CLOSING: Final = "the engine is closing"
"""Why work stops that is to be left without a report: the next engine finds it in flight."""


class Work(ABC):
    """A call into a tool's code and where it stands.

    Attributes:
        run_id: the run it is for.
        key: what makes it the same work.
        is_async: it runs on the event loop; else in a thread.
        task: its task, once it has one.
        timer: ends it when its time is up, or gives it up when it does not stop.
        beat_timer: looks whether it is still alive.
        stop: why it was asked to stop; empty while it was not.
        has_begun: the tool's code was entered.
        is_given_up: nobody waits for it any more, though it still runs.
        has_place: it counts against the limit of its kind.
    """

    __slots__ = (
        "beat_timer", "clock", "has_begun", "has_place", "is_async", "is_given_up", "key", "run_id", "stop",
        "task", "timer",
    )  # fmt: skip

    def __init__(self, run_id: str, key: Hashable, clock: Clock, *, is_async: bool) -> None:
        self.run_id = run_id
        self.key = key
        self.clock = clock
        self.is_async = is_async
        self.task: asyncio.Task[None] | None = None
        self.timer: Timer | None = None
        self.beat_timer: Timer | None = None
        self.stop = ""
        self.has_begun = self.is_given_up = self.has_place = False

    @abstractmethod
    def call(self) -> Any:
        """Enter the tool's code."""

    @abstractmethod
    def ask_to_stop(self, why: str) -> None:
        """Note why it should stop, for itself and for the tool's code."""

    @abstractmethod
    def not_begun(self) -> Report:
        """Return the report of work that was withdrawn before its beginning."""

    @abstractmethod
    def lost(self) -> Report:
        """Return the report of work that was given up."""

    @abstractmethod
    def returned(self, result: Any) -> Report:
        """Return the report of a result, however late it is."""

    @abstractmethod
    def raised(self, error: BaseException) -> Report | None:
        """Return the report of an error, if there is anything to report that is not known yet."""

    def cancel_timers(self) -> None:
        """Let nothing happen to it any more by the passing of time."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        if self.beat_timer is not None:
            self.beat_timer.cancel()
            self.beat_timer = None
