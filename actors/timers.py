"""When runs have to act by themselves: one timer for all of them."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

from .clock import Clock, Timer, Timers

HORIZON_S = 60.0
"""How far ahead wake-ups are held in memory, in seconds; later ones are looked up in the index in time."""

SHORT_WAIT_S = 5.0
"""A run that waits no longer than this stays in memory: folding it anew would cost more than keeping it."""

_MOST_AT_ONCE = 32
"""Runs woken between two turns of the loop: about a millisecond."""

_JUMP_S = 1.0
"""Seconds by which the clock has to get ahead of the monotonic time before what is due is reckoned anew."""


class WakeUps:
    """Calls runs when they are due.

    Of runs that are not in memory, only what falls due within the horizon is held: the index of the store
    knows the rest, and `look_ahead` is called for it once a horizon. So a run that waits for long costs no
    memory.

    How long there is to wait is reckoned once, in monotonic time: a clock that is set back makes no run that
    is held wait longer. One that is set forward is noticed when a timer next rings, within a horizon at most.
    For what only the index knows, the clock decides when it comes within the horizon.

    Args:
        clock: the time that wake-ups are given in, in seconds since the epoch.
        timers: makes things happen later, and tells the monotonic time.
    """

    def __init__(self, *, clock: Clock, timers: Timers) -> None:
        self._clock = clock
        self._timers = timers
        self._wake: Callable[[str, float], None] = _nobody
        self._look_ahead: Callable[[float], None] = _nobody
        self._due: dict[str, float] = {}
        self._far: dict[str, tuple[float, float]] = {}
        self._heap: list[tuple[float, float, str]] = []
        self._horizon = -math.inf
        self._offset = math.inf
        self._timer: Timer | None = None
        self._timer_at = math.inf

    def start(self, *, wake: Callable[[str, float], None], look_ahead: Callable[[float], None]) -> None:
        """Begin to look ahead.

        Args:
            wake: called with the id of a run that is due, and the time it was to be woken at.
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
        known_at, _ = self._far.get(run_id, (self._due.get(run_id), 0.0))
        if known_at != at:
            self._far.pop(run_id, None)
            self._hold(run_id, at, self._timers.time() + (at - self._clock()))
            if self._heap:
                self._arm(self._heap[0][0])

    def forget(self, run_id: str) -> None:
        """Leave the wake-up of a run that leaves memory to the index, unless it is near."""
        self._far.pop(run_id, None)

    def drop(self, run_id: str) -> None:
        """Do not wake a run."""
        self._due.pop(run_id, None)
        self._far.pop(run_id, None)

    def _hold(self, run_id: str, at: float, due: float) -> None:
        if due > self._horizon:
            self._due.pop(run_id, None)
            self._far[run_id] = (at, due)
        else:
            self._due[run_id] = at
            heapq.heappush(self._heap, (due, at, run_id))

    def _arm(self, due: float) -> None:
        if due >= self._timer_at:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = due
        self._timer = self._timers.call_later(max(due - self._timers.time(), 0.0), self._turn)

    def _turn(self) -> None:
        now = self._timers.time()
        self._timer, self._timer_at = None, math.inf
        self._notice_jump(now)
        if now >= self._horizon - HORIZON_S:
            self._horizon = now + 2 * HORIZON_S
            self._look_ahead(self._clock() + 2 * HORIZON_S)
            for run_id, (at, due) in tuple(self._far.items()):
                if due <= self._horizon:
                    del self._far[run_id]
                    self._hold(run_id, at, due)
        woken = 0
        while self._heap and self._heap[0][0] <= now and woken < _MOST_AT_ONCE:
            _, at, run_id = heapq.heappop(self._heap)
            if self._due.get(run_id) == at:
                del self._due[run_id]
                self._wake(run_id, at)
                woken += 1
        if self._horizon < math.inf:
            self._arm(min(self._heap[0][0] if self._heap else math.inf, self._horizon - HORIZON_S))

    def _notice_jump(self, now: float) -> None:
        """Bring wake-ups forward, if the clock was set forward since the last turn."""
        offset = self._clock() - now
        if offset > self._offset + _JUMP_S:
            self._heap = [(min(due, at - offset), at, run_id) for due, at, run_id in self._heap]
            heapq.heapify(self._heap)
            self._far = {run_id: (at, min(due, at - offset)) for run_id, (at, due) in self._far.items()}
            self._offset = offset
        self._offset = min(self._offset, offset)


def _nobody(*_whom: object) -> None:
    """Nobody is there before the start."""
