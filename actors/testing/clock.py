"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable
from typing import Any

from ..clock import Timer


class _Alarm:
    __slots__ = ("args", "at", "callback", "number")

    def __init__(
        self, at: float, number: int, callback: Callable[..., object], args: tuple[Any, ...]
    ) -> None:
        self.at = at
        self.number = number
        self.callback: Callable[..., object] | None = callback
        self.args = args

    def __lt__(self, other: _Alarm) -> bool:
        return (self.at, self.number) < (other.at, other.number)

    def cancel(self) -> None:
        self.callback = None


class ManualClock:
    """The clock and the timers of an engine, moved by hand: ``Engine(..., clock=clock, timers=clock)``.

    Calling it returns the time in seconds since the epoch. What falls due happens within `advance`.

    Args:
        start: the time to begin with, in seconds since the epoch.

    Attributes:
        how_to_wait: what one whose wait for a run was in vain is told.
    """

    how_to_wait = (
        "but its clock stands still: clock.advance(seconds) makes what it may be waiting for fall due"
    )

    def __init__(self, start: float = 1_800_000_000.0) -> None:
        self._now = start
        self._alarms: list[_Alarm] = []
        self._numbers = itertools.count()

    def __call__(self) -> float:
        """Return the time in seconds since the epoch."""
        return self._now

    def time(self) -> float:
        """Return a monotonic time in seconds."""
        return self._now

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> Timer:
        """Call ``callback(*args)`` when the clock was moved on by ``delay`` seconds; soon, if by none."""
        if delay <= 0:
            return asyncio.get_running_loop().call_soon(callback, *args)
        alarm = _Alarm(self._now + delay, next(self._numbers), callback, args)
        heapq.heappush(self._alarms, alarm)
        return alarm

    def advance(self, seconds: float) -> None:
        """Move the clock on, and call what falls due, each at its time and in order."""
        end = self._now + seconds
        while self._alarms and self._alarms[0].at <= end:
            alarm = heapq.heappop(self._alarms)
            self._now = max(self._now, alarm.at)
            if alarm.callback is not None:
                alarm.callback(*alarm.args)
        self._now = end
