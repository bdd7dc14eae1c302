"""Places for work that runs at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import Generic, NamedTuple, TypeVar

from ..domain.fairness import FairQueue, Priority

J = TypeVar("J")


class Rank(NamedTuple):
    """Where a job stands among those that wait; see `FairQueue.push`."""

    run_id: str
    priority: Priority = "normal"
    is_urgent: bool = False


class Places(Generic[J]):
    """A number of places for jobs; who finds none free waits, and gets one by the rules of `FairQueue`.

    Args:
        number: how many there are.
        start: starts a job that has got its place; it must not raise.
        rank: tells where a job stands; asked only of those that have to wait.
    """

    def __init__(self, number: int, start: Callable[[J], None], rank: Callable[[J], Rank]) -> None:
        self._free = number
        self._start = start
        self._rank = rank
        self._waiting = FairQueue[J]()
        self._loop = asyncio.get_running_loop()

    def enter(self, job: J) -> None:
        """Start a job now, or once it is its turn and one is free."""
        if self._free and not self._waiting:
            self._free -= 1
            self._start(job)
        else:
            rank = self._rank(job)
            self._waiting.push(job, rank.run_id, priority=rank.priority, is_urgent=rank.is_urgent)

    def leave(self) -> None:
        """Give a place back."""
        self._free += 1
        if self._waiting:
            # Not at once: this may be the end of a job, on its stack and in its context.
            self._loop.call_soon(self._start_next, context=Context())

    def withdraw(self, job: J) -> bool:
        """Let a job wait no longer; return whether it was waiting."""
        return self._waiting.remove(job)

    def _start_next(self) -> None:
        if self._free and self._waiting:
            self._free -= 1
            self._start(self._waiting.pop())
