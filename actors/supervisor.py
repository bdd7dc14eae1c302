"""Running work: within limits, on time, until it ends or is left behind."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable, Collection, Hashable
from typing import Any

from ..domain.fairness import Priority
from ..domain.messages import Report
from .attempts import Attempt
from .clock import Clock, Timers
from .context import Pulse
from .control import ToolError
from .executor_limits import ExecutorLimits
from .limits import Places, Rank
from .orders import Reporter
from .threads import Call, ToolThreads
from .throttle import Throttle
from .work import CLOSING, Work

_log = logging.getLogger("midcourse.actors")


class Supervisor:
    """Runs work and sees that it ends in at most one report, plus that of a result that came too late.

    Make it on the event loop it is for. What its maker sees of context variables is what all work sees,
    whoever ordered it.

    Args:
        report: takes the reports, on the event loop.
        clock: tells how far a deadline is.
        timers: lets time-outs happen.
        limits: what is allowed.
        priority: tells that of a run; asked only where work has to wait.

    Attributes:
        is_closed: it runs nothing more and reports nothing more.
    """

    def __init__(
        self,
        *,
        report: Reporter,
        clock: Clock,
        timers: Timers,
        limits: ExecutorLimits,
        priority: Callable[[str], Priority],
    ) -> None:
        self._send = report
        self._clock = clock
        self._timers = timers
        self._limits = limits
        self._priority = priority
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        self._places = Places[Work](limits.max_attempts_at_once, self._start_task, self._rank)
        self._thread_places = Places[Work](limits.max_threads, self._start_thread, self._rank)
        self._throttle = Throttle(limits.tools, timers, self._take_place) if limits.tools else None
        self._threads = ToolThreads()
        self._live: dict[Hashable, Work] = {}
        self._left_behind: set[Work] = set()
        self._awaited: tuple[Collection[object], ...] = ()
        self._idle: asyncio.Future[None] | None = None
        self.is_closed = False

    def find(self, key: Hashable) -> Work | None:
        """Return the work of that key, if it is waiting or running and not given up."""
        return self._live.get(key)

    def run(self, work: Work) -> None:
        """Run work once there is a place for it."""
        self._live[work.key] = work
        if self._throttle is not None and isinstance(work, Attempt):
            self._throttle.enter(work, work.order.tool)
        else:
            self._take_place(work)

    async def finish(self) -> None:
        """Let work finish, then cancel the rest without a report, and leave behind what does not end."""
        try:
            await self._until_idle(self._limits.drain_s, self._live)
            self._cancel_all()
            await self._until_idle(self._limits.close_grace_s, self._live, self._left_behind)
        finally:
            self.close()

    def close(self) -> None:
        """Cancel all work without a report; nothing is reported after this."""
        if self.is_closed:
            return
        self._cancel_all()
        self.is_closed = True
        self._threads.close()
        if self._throttle is not None:
            self._throttle.close()
        for work in (*self._live.values(), *self._left_behind):
            work.cancel_timers()
            _log.warning("%s does not end (%s) and is left behind by its engine", work, work.stop)

    def report(self, run_id: str, report: Report) -> None:
        """Hand a report to its run."""
        try:
            self._send(run_id, report)
        except Exception as error:  # noqa: BLE001 - a boundary: one run's trouble must not stop the others
            message = f"{type(report).__name__} on {report.operation} could not be handed to run {run_id}"
            self._loop.call_exception_handler({"message": message, "exception": error})

    def _take_place(self, work: Work) -> None:
        self._places_of(work).enter(work)

    def _rank(self, work: Work) -> Rank:
        """Let undos and probes come first: people wait for them."""
        is_step = isinstance(work, Attempt) and bool(work.order.step)
        return Rank(work.run_id, self._priority(work.run_id), not is_step)

    def _places_of(self, work: Work) -> Places[Work]:
        return self._places if work.is_async else self._thread_places

    def _start_task(self, work: Work) -> None:
        if self._begin(work):
            work.task = self._loop.create_task(self._run(work), name=str(work), context=self._context.copy())

    def _start_thread(self, work: Work) -> None:
        if self._begin(work):
            work.has_begun = True

            def done(result: Any, error: BaseException | None) -> None:
                self._ended(work, result, error)

            call = Call(work.call, context=self._context.copy(), done=done, name=str(work))
            try:
                self._threads.run(call)
            except RuntimeError as error:
                self._ended(work, None, ToolError(f"no thread for it: {error}", no_effect=True))

    def _begin(self, work: Work) -> bool:
        """Set the timers of work that has got its place; return whether there is any time left for it."""
        work.has_place = True
        timeout_s = self._timeout_s(work)
        if timeout_s is not None:
            if timeout_s <= 0:
                self.stop(work, "timeout")
                return False
            work.timer = self._timers.call_later(timeout_s, self.stop, work, "timeout")
        if isinstance(work, Attempt) and work.pulse is not None:
            silence_s = work.tool.spec.heartbeat_timeout_s
            if silence_s is not None:
                work.pulse.beat_at = self._timers.time()
                work.beat_timer = self._timers.call_later(
                    silence_s, self._listen, work, work.pulse, silence_s
                )
        return True

    def _timeout_s(self, work: Work) -> float | None:
        if not isinstance(work, Attempt):
            return self._limits.probe_timeout_s
        timeout_s, deadline = work.tool.spec.timeout_s, work.order.deadline
        if deadline is None:
            return timeout_s
        left_s = deadline - self._clock()
        return left_s if timeout_s is None else min(timeout_s, left_s)

    async def _run(self, work: Work) -> None:
        work.has_begun = True
        result: Any = None
        error: BaseException | None = None
        try:
            result = await work.call()
        except asyncio.CancelledError as raised:
            task = work.task
            if not work.stop and task is not None and task.cancelling():
                work.ask_to_stop(CLOSING)  # whoever ends the loop cancels its tasks; nobody cancelled the run
            error = raised
        except BaseException as raised:  # a boundary: whatever a tool raises is reported
            if isinstance(raised, GeneratorExit) and asyncio.current_task(self._loop) is not work.task:
                raise  # the tool did not raise it: its task is thrown away, for the event loop is gone
            error = raised
        self._ended(work, result, error)

    def _ended(self, work: Work, result: Any, error: BaseException | None) -> None:
        self._dismiss(work)
        if self.is_closed:
            if error is None:
                _log.warning("%s succeeded after its engine was closed; its receipt is not recorded", work)
            return
        report = self._conclude(work, result, error)
        if report is not None:
            self.report(work.run_id, report)

    def _conclude(self, work: Work, result: Any, error: BaseException | None) -> Report | None:
        try:
            return work.returned(result) if error is None else work.raised(error)
        except BaseException as trouble:  # noqa: BLE001 - a boundary: without a report the run would hang
            message = f"the outcome of {work} could not be read"
            self._loop.call_exception_handler({"message": message, "exception": trouble})
            work.ask_to_stop("its outcome could not be read")
            return None if work.is_given_up else work.lost()

    def _dismiss(self, work: Work) -> None:
        work.cancel_timers()
        if self._live.get(work.key) is work:
            del self._live[work.key]
        self._left_behind.discard(work)
        self._give_place_back(work)
        self._look_if_idle()

    def _give_place_back(self, work: Work) -> None:
        if work.has_place:
            work.has_place = False
            self._places_of(work).leave()
        if self._throttle is not None:
            self._throttle.leave(work)

    def _listen(self, work: Work, pulse: Pulse, silence_s: float) -> None:
        left_s = pulse.beat_at + silence_s - self._timers.time()
        if left_s > 0:
            work.beat_timer = self._timers.call_later(left_s, self._listen, work, pulse, silence_s)
        else:
            self.stop(work, "heartbeat")

    def stop(self, work: Work, why: str) -> None:
        """Ask work to stop, unless it was asked before."""
        if work.stop:
            return
        work.ask_to_stop(why)
        work.cancel_timers()
        if not work.has_begun:
            self._withdraw(work)
            return
        if work.task is not None:
            work.task.cancel()
        if why == CLOSING:
            return
        if work.task is None and why != "cancelled":
            self._give_up(work)  # a thread does not hear of it before its next heartbeat
        else:
            work.timer = self._timers.call_later(self._limits.cancel_timeout_s, self._give_up, work)

    def _withdraw(self, work: Work) -> None:
        if work.task is not None:
            work.task.cancel()
        elif not work.has_place:
            self._places_of(work).withdraw(work)
        self._dismiss(work)
        if work.stop != CLOSING:
            self.report(work.run_id, work.not_begun())

    def _give_up(self, work: Work) -> None:
        """Report as lost what does not stop, and keep it until it ends: it may yet bring a receipt."""
        work.is_given_up = True
        del self._live[work.key]
        self._left_behind.add(work)
        _log.warning("%s goes on though its time is over (%s); its result will be recorded", work, work.stop)
        threads = sum(not left.is_async for left in self._left_behind)
        if work.is_async or threads <= self._limits.max_threads:
            self._give_place_back(work)
        self._look_if_idle()
        self.report(work.run_id, work.lost())

    async def _until_idle(self, seconds: float, *awaited: Collection[object]) -> None:
        if not any(awaited):
            return
        self._awaited = awaited
        self._idle = self._loop.create_future()
        timer = self._timers.call_later(seconds, self._end_wait)
        try:
            await self._idle
        finally:
            timer.cancel()
            self._idle = None

    def _look_if_idle(self) -> None:
        if self._idle is not None and not any(self._awaited):
            self._end_wait()

    def _end_wait(self) -> None:
        if self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    def _cancel_all(self) -> None:
        for work in tuple(self._live.values()):
            self.stop(work, CLOSING)
