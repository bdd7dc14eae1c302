"""When runs have to act by themselves: one timer for all of them."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

from .clock import Clock, Timer, Timers

HORIZON_S = 60.0
"""How far ahead wake-ups are held in memory, in seconds; later ones are looked up in the index in time."""


class WakeUps:
    """Calls runs when they are due.

    Of runs that are not in memory, only what falls due within the horizon is held: the index of the store
    knows the rest, and `look_ahead` is called for it once a horizon. So a run that waits for long costs no
    memory.

    Args:
        clock: the time that wake-ups are given in, in seconds since the epoch.
        timers: makes things happen later.
    """

    def __init__(self, *, clock: Clock, timers: Timers) -> None:
        self._clock = clock
        self._timers = timers
        self._wake: Callable[[str], None] = _nobody
        self._look_ahead: Callable[[float], None] = _nobody
        self._due: dict[str, float] = {}
        self._far: dict[str, float] = {}
        self._heap: list[tuple[float, str]] = []
        self._horizon = -math.inf
        self._timer: Timer | None = None
        self._timer_at = math.inf

    def start(self, *, wake: Callable[[str], None], look_ahead: Callable[[float], None]) -> None:
        """Begin to look ahead.

        Args:
            wake: called with the id of a run that is due.
            look_ahead: called with the time up to which wake-ups are wanted; answers with `hold`.
        """
        self._wake, self._look_ahead = wake, look_ahead
        self._turn()

    def stop(self) -> None:
        """Wake nobody any more."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        self._due.clear()
        self._far.clear()
        self._heap.clear()
        self._horizon = math.inf
        self._timer_at = -math.inf

    def hold(self, run_id: str, at: float) -> None:
        """Wake a run at a time, instead of the time known before.

        Args:
            run_id: the run.
            at: seconds since the epoch.
        """
        self._far.pop(run_id, None)
        if at > self._horizon:
            self._due.pop(run_id, None)
            self._far[run_id] = at
        elif self._due.get(run_id) != at:
            self._due[run_id] = at
            heapq.heappush(self._heap, (at, run_id))
            self._arm(at)

    def forget(self, run_id: str) -> None:
        """Leave the wake-up of a run that leaves memory to the index, unless it is near."""
        self._far.pop(run_id, None)

    def drop(self, run_id: str) -> None:
        """Do not wake a run."""
        self._due.pop(run_id, None)
        self._far.pop(run_id, None)

    def _arm(self, at: float) -> None:
        if at >= self._timer_at:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = at
        self._timer = self._timers.call_later(max(at - self._clock(), 0.0), self._turn)

    def _turn(self) -> None:
        now = self._clock()
        self._timer, self._timer_at = None, math.inf
        if now >= self._horizon - HORIZON_S:
            self._horizon = now + 2 * HORIZON_S
            self._look_ahead(self._horizon)
            for run_id, at in tuple(self._far.items()):
                self.hold(run_id, at)
        while self._heap and self._heap[0][0] <= now:
            at, run_id = heapq.heappop(self._heap)
            if self._due.get(run_id) == at:
                del self._due[run_id]
                self._wake(run_id)
        if self._horizon < math.inf:
            self._arm(min(self._heap[0][0] if self._heap else math.inf, self._horizon - HORIZON_S))


def _nobody(_whom: object) -> None:
    """Nobody is there before the start."""
