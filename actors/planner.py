"""The planner actor: asks planners, and tells the runs what they answered."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
from collections.abc import Callable, Mapping
from types import TracebackType

import msgspec

from ..domain.errors import InvalidInputError
from ..domain.facts import Failure
from ..domain.fairness import Priority
from ..domain.messages import Message, ReportPlanningFailure
from ..domain.orders import CancelPlanning, MakePlan
from ..domain.planning import Planner
from ._pykka import AsyncioActor
from .answers import answer_message
from .clock import Clock, Timer, Timers
from .failures import only_cause
from .json_values import text
from .limits import Places, Rank
from .orders import Reporter, RunOrders

_log = logging.getLogger("midcourse.actors")


class PlannerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What a planner actor allows.

    Args:
        max_calls_at_once: planners that work at the same time; further calls wait.
        timeout_s: seconds one call may take; ``None`` is without limit.
    """

    max_calls_at_once: int = 16
    timeout_s: float | None = None


class PlanningCall:
    """One call of a planner.

    Attributes:
        run_id: the run it is for.
        order: what was ordered.
        task: its task, once it has one.
        timer: ends it when its time is up.
        is_over: its answer is here, or is not wanted any more.
    """

    __slots__ = ("is_over", "order", "run_id", "task", "timer")

    def __init__(self, run_id: str, order: MakePlan) -> None:
        self.run_id = run_id
        self.order = order
        self.task: asyncio.Task[None] | None = None
        self.timer: Timer | None = None
        self.is_over = False

    @property
    def epoch(self) -> int:
        """The epoch it plans from."""
        return self.order.context.epoch


class PlannerActor(AsyncioActor):
    """Takes `RunOrders`; a stop cancels all calls and reports none of them.

    A run has one call at a time: a newer order ends the older call, and an order for the same epoch is the
    same call. A call that was ended but goes on all the same is left to itself: planners have no effects.

    Args:
        urn: the name of the actor.
        planners: the planners by name; looked up at each order, so it may grow.
        report: takes the messages for the runs, on the event loop.
        clock: tells the time of messages.
        timers: lets time-outs happen; as a rule the running event loop.
        limits: what is allowed.
        priority: tells that of a run.
    """

    def __init__(
        self,
        *,
        urn: str,
        planners: Mapping[str, Planner],
        report: Reporter,
        clock: Clock,
        timers: Timers,
        limits: PlannerLimits = PlannerLimits(),  # noqa: B008 - frozen
        priority: Callable[[str], Priority] = lambda _run_id: "normal",
    ) -> None:
        super().__init__(urn=urn)
        self._planners = planners
        self._send = report
        self._clock = clock
        self._timers = timers
        self._priority = priority
        self._timeout_s = limits.timeout_s
        # What its maker sees is what every planner sees, whoever sent the order.
        self._context = contextvars.copy_context()
        self._places = Places[PlanningCall](limits.max_calls_at_once, self._start, self._rank)
        self._calls: dict[str, PlanningCall] = {}
        # The loop holds tasks weakly.
        self._tasks: set[asyncio.Task[None]] = set()

    def _rank(self, call: PlanningCall) -> Rank:
        return Rank(call.run_id, self._priority(call.run_id))

    async def on_receive(self, message: RunOrders) -> None:
        """Act on the planning orders of a run."""
        run_id, orders = message.run_id, message.orders
        for order in orders:
            if isinstance(order, MakePlan):
                self._make_plan(run_id, order)
            elif isinstance(order, CancelPlanning):
                call = self._calls.get(run_id)
                if call is not None and call.epoch <= order.epoch:
                    self._end(call)

    def on_stop(self) -> None:
        """Cancel all calls."""
        self._end_all()

    def on_failure(
        self,
        exception_type: type[BaseException] | None,
        exception_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Cancel all calls, as at a stop."""
        super().on_failure(exception_type, exception_value, traceback)
        self._end_all()

    def _end_all(self) -> None:
        for call in tuple(self._calls.values()):
            self._end(call)

    def _make_plan(self, run_id: str, order: MakePlan) -> None:
        present = self._calls.get(run_id)
        if present is not None:
            if present.epoch == order.context.epoch and present.order.planner == order.planner:
                return
            self._end(present)
        call = self._calls[run_id] = PlanningCall(run_id, order)
        self._places.enter(call)

    def _start(self, call: PlanningCall) -> None:
        planner = self._planners.get(call.order.planner)
        if planner is None:
            known = ", ".join(sorted(self._planners)) or "none"
            problem = f"is not registered with this engine (registered: {known})"
            self._end(call)
            self._report(call.run_id, self._failed(call, problem, LookupError(problem)))
            return
        if self._timeout_s is not None:
            call.timer = self._timers.call_later(self._timeout_s, self._time_out, call)
        # Not `spawn`: what goes on after it was cancelled must not hold up the end of the actor.
        call.task = self.actor_inbox.loop.create_task(
            self._call(call, planner),
            name=f"planner {call.order.planner} for run {call.run_id}",
            context=self._context.copy(),
        )
        self._tasks.add(call.task)
        call.task.add_done_callback(self._tasks.discard, context=self._context)

    async def _call(self, call: PlanningCall, planner: Planner) -> None:
        try:
            answer: object = planner.plan(call.order.context)
            if inspect.isawaitable(answer):
                answer = await answer
        except BaseException as error:  # a boundary: whatever a planner raises is reported
            task = call.task
            if isinstance(error, GeneratorExit) and asyncio.current_task(self.actor_inbox.loop) is not task:
                raise  # the planner did not raise it: its task is thrown away, for the event loop is gone
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                self._end(call)
                return
            cause = only_cause(error)
            problem = f"raised {type(cause).__qualname__}: {text(cause)}".removesuffix(": ")
            message = self._failed(call, problem, cause)
        else:
            message = self._read(call, answer)
        if not call.is_over:
            self._end(call)
            self._report(call.run_id, message)

    def _read(self, call: PlanningCall, answer: object) -> Message:
        try:
            return answer_message(answer, epoch=call.epoch, at=self._clock())
        except InvalidInputError as error:
            return self._failed(call, str(error), error)
        except BaseException as error:  # noqa: BLE001 - a boundary: a value of a planner raises what it likes
            problem = f"answered what raises {type(error).__qualname__} when it is read: {text(error)}"
            return self._failed(call, problem.removesuffix(": "), error)

    def _end(self, call: PlanningCall) -> None:
        """End a call: its place is free, and whatever it still answers is dropped."""
        if call.is_over:
            return
        call.is_over = True
        if call.timer is not None:
            call.timer.cancel()
        if self._calls.get(call.run_id) is call:
            del self._calls[call.run_id]
        if not self._places.withdraw(call):
            self._places.leave()
        if call.task is not None and call.task is not asyncio.current_task():
            call.task.cancel()

    def _time_out(self, call: PlanningCall) -> None:
        self._end(call)
        problem = f"did not answer within {self._timeout_s:g} s"
        self._report(call.run_id, self._failed(call, problem, TimeoutError(problem)))

    def _failed(self, call: PlanningCall, problem: str, error: BaseException) -> Message:
        name = call.order.planner
        _log.info("planner %r of run %s %s", name, call.run_id, problem, exc_info=error)
        failure = Failure("planner", f"planner {name!r} {problem}", error_type=type(error).__qualname__)
        return ReportPlanningFailure(at=self._clock(), epoch=call.epoch, failure=failure)

    def _report(self, run_id: str, message: Message) -> None:
        try:
            self._send(run_id, message)
        except Exception as error:  # noqa: BLE001 - a boundary: one run's trouble must not stop the others
            self._complain(f"could not hand {type(message).__name__} to run {run_id}", error)
