"""Places for work that runs at the same time."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from contextvars import Context
from typing import Generic, TypeVar

J = TypeVar("J")


class Places(Generic[J]):
    """A number of places for jobs; who finds none free waits, first come first served.

    Args:
        number: how many there are.
        start: starts a job that has got its place; it must not raise.
    """

    def __init__(self, number: int, start: Callable[[J], None]) -> None:
        self._free = number
        self._start = start
        self._waiting: OrderedDict[J, None] = OrderedDict()
        self._loop = asyncio.get_running_loop()

    def enter(self, job: J) -> None:
        """Start a job now, or once those before it have got their places and one is free."""
        if self._free and not self._waiting:
            self._free -= 1
            self._start(job)
        else:
            self._waiting[job] = None

    def leave(self) -> None:
        """Give a place back."""
        self._free += 1
        if self._waiting:
            # Not at once: this may be the end of a job, on its stack and in its context.
            self._loop.call_soon(self._start_next, context=Context())

    def withdraw(self, job: J) -> bool:
        """Let a job wait no longer; return whether it was waiting."""
        if job not in self._waiting:
            return False
        del self._waiting[job]
        return True

    def _start_next(self) -> None:
        if self._free and self._waiting:
            self._free -= 1
            self._start(self._waiting.popitem(last=False)[0])
