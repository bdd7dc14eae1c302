"""Limits on tools, shared by all runs of an engine: how many calls go on at once, how fast they begin.

What is over a limit waits in the order it came: the calls of one tool in one queue, or in one for each run
where a limit counts runs by themselves. A queue whose head may not begin waits at the limit in its way.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextvars import Context
from math import isfinite

from ..domain.authority import ToolLimit, matches
from .clock import Timers
from .meters import Concurrency, Meter, Pace
from .work import Work

_FEWEST_KEPT = 64


class Queue:
    """Work that waits for the same limits, first come first served.

    Args:
        meters: those limits.

    Attributes:
        waiting: what waits.
        begun: how much of it goes on.
    """

    __slots__ = ("begun", "meters", "waiting")

    def __init__(self, meters: Iterable[Meter]) -> None:
        self.meters = tuple(meters)
        self.waiting: OrderedDict[Work, None] = OrderedDict()
        self.begun = 0


class _RunLimits:
    """What is counted for one run by itself: meters by the number of their limit, queues by tool."""

    __slots__ = ("meters", "queues")

    def __init__(self) -> None:
        self.meters: dict[int, Pace] = {}
        self.queues: dict[str, Queue] = {}

    def is_idle(self, now: float) -> bool:
        """Whether there is nothing to remember."""
        busy = any(queue.waiting or queue.begun for queue in self.queues.values())
        return not busy and all(meter.is_unused(now) for meter in self.meters.values())


class Throttle:
    """Lets work begin when the limits of its tool allow it.

    Args:
        limits: the limits; those of calls and costs, which are no matter of time, are passed over.
        timers: tells the time, and looks again later.
        start: goes on with work that may begin; it must not raise.
    """

    def __init__(self, limits: Iterable[ToolLimit], timers: Timers, start: Callable[[Work], None]) -> None:
        self._limits = [each for each in limits if each.rate or each.rate_per_run or each.at_once]
        self._timers = timers
        self._start = start
        self._loop = asyncio.get_running_loop()
        self._limits_of: dict[str, list[int]] = {}
        self._places = {n: Concurrency(each.at_once) for n, each in enumerate(self._limits) if each.at_once}
        self._paces = {n: Pace(each.rate) for n, each in enumerate(self._limits) if each.rate}
        self._queues: dict[str, Queue] = {}
        self._runs: dict[str, _RunLimits] = {}
        self._keep = _FEWEST_KEPT
        self._held: dict[Work, Queue] = {}

    def enter(self, work: Work, tool: str) -> None:
        """Let work begin now, or once the limits of its tool allow it."""
        queue = self._queue(tool, work.run_id)
        if not queue.meters:
            self._start(work)
            return
        self._held[work] = queue
        queue.waiting[work] = None
        if len(queue.waiting) > 1:
            return
        ahead = next((meter for meter in queue.meters if meter.blocked), None)
        if ahead is not None:
            ahead.blocked[queue] = None
        else:
            self._begin_next(queue)

    def leave(self, work: Work) -> None:
        """Give back what work had, or let it wait no longer."""
        queue = self._held.pop(work, None)
        if queue is None:
            return
        if work in queue.waiting:
            del queue.waiting[work]
            return
        queue.begun -= 1
        for meter in queue.meters:
            meter.give_back()
            if meter.blocked:
                # Not at once: this may be the end of work, on its stack and in its context.
                self._loop.call_soon(self._look_again, meter, context=Context())

    def close(self) -> None:
        """Let nothing begin any more."""
        for queue in (
            *self._queues.values(),
            *(q for run in self._runs.values() for q in run.queues.values()),
        ):
            queue.waiting.clear()
            for meter in queue.meters:
                meter.blocked.clear()
                if meter.timer is not None:
                    meter.timer.cancel()

    # ------------------------------------------------------------------------------- whose turn it is

    def _begin_next(self, queue: Queue) -> None:
        """Let the head of a queue begin, or have the queue wait at the limit in its way."""
        now = self._timers.time()
        for meter in queue.meters:
            free_in = meter.free_in(now)
            if free_in:
                self._wait(queue, meter, free_in)
                return
        for meter in queue.meters:
            meter.take(now)
        queue.begun += 1
        self._start(queue.waiting.popitem(last=False)[0])

    def _wait(self, queue: Queue, meter: Meter, free_in: float) -> None:
        meter.blocked[queue] = None
        if isfinite(free_in) and meter.timer is None:
            meter.timer = self._timers.call_later(free_in, self._time_is_up, meter)

    def _time_is_up(self, meter: Meter) -> None:
        meter.timer = None
        self._look_again(meter)

    def _look_again(self, meter: Meter) -> None:
        """Let one of each queue begin in turn, until the limit is reached."""
        while meter.blocked:
            queue = next(iter(meter.blocked))
            if queue.waiting and (free_in := meter.free_in(self._timers.time())):
                self._wait(queue, meter, free_in)
                return
            del meter.blocked[queue]
            if queue.waiting:
                self._begin_next(queue)
            if queue.waiting and not any(queue in each.blocked for each in queue.meters):
                meter.blocked[queue] = None

    # -------------------------------------------------------------------------------- what is counted

    def _queue(self, tool: str, run_id: str) -> Queue:
        numbers = self._limits_of.get(tool)
        if numbers is None:
            numbers = [n for n, each in enumerate(self._limits) if matches(each.tool, tool)]
            self._limits_of[tool] = numbers
        if not any(self._limits[n].rate_per_run for n in numbers):
            queues, run = self._queues, None
        else:
            run = self._run(run_id)
            queues = run.queues
        queue = queues.get(tool)
        if queue is None:
            queue = queues[tool] = Queue(self._meters(numbers, run))
        return queue

    def _meters(self, numbers: Iterable[int], run: _RunLimits | None) -> Iterator[Meter]:
        for n in numbers:
            yield from (meters[n] for meters in (self._places, self._paces) if n in meters)
            rate = self._limits[n].rate_per_run
            if run is not None and rate is not None:
                if n not in run.meters:
                    run.meters[n] = Pace(rate)
                yield run.meters[n]

    def _run(self, run_id: str) -> _RunLimits:
        run = self._runs.get(run_id)
        if run is None:
            if len(self._runs) >= self._keep:
                now = self._timers.time()
                self._runs = {key: each for key, each in self._runs.items() if not each.is_idle(now)}
                self._keep = max(_FEWEST_KEPT, 2 * len(self._runs))
            run = self._runs[run_id] = _RunLimits()
        return run
