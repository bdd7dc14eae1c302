"""The executor: calls tools as it was ordered to, and reports what came of it.

It never decides what is next, nor whether to try again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextvars import Context
from copy import deepcopy
from functools import partial
from types import MappingProxyType, TracebackType
from typing import Any

from ..domain.facts import Failure
from ..domain.fairness import Priority
from ..domain.messages import ReportFailure, ReportProbe
from ..domain.orders import CancelAttempt, Execute, Probe
from ._pykka import HOLD, Dispatcher, Envelope, Hold, TurnActor
from .attempts import Attempt
from .clock import Clock, Timers
from .context import Pulse, ToolContext
from .errors import ToolArgumentsError
from .executor_limits import ExecutorLimits
from .offspring import Offspring
from .orders import Ask, Finish, ForgetRun, Reporter, RunOrders
from .questions import Question
from .supervisor import Supervisor
from .tools import Tool

_NO_BOARD: Mapping[str, Any] = MappingProxyType({})


class Executor(TurnActor):
    """Takes `RunOrders`, `ForgetRun` and `Finish`; a stop cancels attempts without a report.

    An attempt is a task on the event loop or a call in a thread. Its token is used once: an order that comes
    again, as orders may after a run was read anew, is passed over.

    Args:
        urn: the name of the actor.
        dispatcher: gives the turns.
        tools: the tools by full name.
        report: takes the reports, on the event loop.
        ask: asks runs on behalf of tools; without it, tools start no child runs.
        clock: tells the time of reports.
        timers: lets time-outs happen; as a rule the running event loop.
        random: returns numbers from 0 to 1, for the jitter of waits.
        limits: what is allowed.
        priority: tells that of a run.
    """

    # An order may become a task, and none of a turn's tasks begins before the turn has ended.
    max_batch = 32

    def __init__(  # noqa: PLR0913 - it is told all of it by its engine
        self,
        *,
        urn: str,
        dispatcher: Dispatcher,
        tools: Mapping[str, Tool],
        report: Reporter,
        ask: Ask | None = None,
        clock: Clock,
        timers: Timers,
        random: Callable[[], float],
        limits: ExecutorLimits = ExecutorLimits(),  # noqa: B008 - frozen
        priority: Callable[[str], Priority] = lambda _run_id: "normal",
    ) -> None:
        super().__init__(urn=urn, dispatcher=dispatcher)
        self._tools = tools
        self._ask_run = ask
        self._clock = clock
        self._timers = timers
        self._random = random
        self._supervisor = Supervisor(
            report=report, clock=clock, timers=timers, limits=limits, priority=priority
        )
        self._latest: dict[str, dict[str, int]] = {}
        self._finishing: asyncio.Task[None] | None = None

    def on_turn(self, messages: list[Envelope[Any]]) -> Hold | None:
        """Act on the orders of runs, forget runs, or let what runs finish."""
        for at, envelope in enumerate(messages, 1):
            message: RunOrders | ForgetRun | Finish = envelope.message
            if message.__class__ is RunOrders:
                self._take(message)
            elif message.__class__ is ForgetRun:
                self._latest.pop(message.run_id, None)
            else:
                self.actor_inbox.waiting[:0] = messages[at:]
                self._finish(envelope)
                return HOLD
            if envelope.reply_to is not None:
                envelope.reply_to.set(None)
        return None

    def _finish(self, envelope: Envelope[Any]) -> None:
        """Let what runs finish; what was sent after that waits meanwhile."""
        loop = self.actor_inbox.loop
        self._finishing = loop.create_task(
            self._supervisor.finish(), name=f"{self} finishes", context=Context()
        )
        self._finishing.add_done_callback(partial(self._finished, envelope), context=Context())

    def _finished(self, envelope: Envelope[Any], _task: asyncio.Task[None]) -> None:
        self._supervisor.close()  # a task that was cancelled early did not get to it
        if envelope.reply_to is not None:
            envelope.reply_to.set(None)
        self.resume_turns()

    def on_stop(self) -> None:
        """Cancel what runs, as at a shutdown; `Finish` before the stop lets it come to its end."""
        self._supervisor.close()

    def on_failure(
        self,
        exception_type: type[BaseException] | None,
        exception_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Cancel what runs, as at a shutdown."""
        super().on_failure(exception_type, exception_value, traceback)
        self._supervisor.close()

    def _take(self, orders: RunOrders) -> None:
        if self._supervisor.is_closed:
            return  # the next engine derives them again
        run_id = orders.run_id
        for order in orders.orders:
            if isinstance(order, Execute):
                self._execute(run_id, order)
            elif isinstance(order, CancelAttempt):
                self._cancel(run_id, order)
            elif isinstance(order, Probe):
                self._ask(run_id, order)

    def _execute(self, run_id: str, order: Execute) -> None:
        latest = self._latest.setdefault(run_id, {})
        if order.attempt <= latest.get(order.operation, 0):
            return  # the token was used: the order was sent again, or is one of the past
        latest[order.operation] = order.attempt
        tool = self._tools.get(order.tool)
        if tool is None:
            known = ", ".join(sorted(self._tools)) or "none"
            problem = f"tool {order.tool!r} is not registered with this engine (registered: {known})"
            self._reject(run_id, order, "missing", problem)
            return
        try:
            arguments = tool.parameters.bind(order.input)
        except ToolArgumentsError as error:
            self._reject(run_id, order, "arguments", str(error))
            return
        pulse = None
        if tool.parameters.context:
            pulse = Pulse(self._timers, order.details)
            arguments[tool.parameters.context] = _context(
                run_id, order, pulse, self._offspring(run_id, order)
            )
        attempt = Attempt(run_id, order, tool, arguments, pulse=pulse, clock=self._clock, random=self._random)
        self._supervisor.run(attempt)

    def _offspring(self, run_id: str, order: Execute) -> Offspring | None:
        if self._ask_run is None or not order.step:
            return None
        return Offspring(run_id, order.operation, order.attempt, ask=self._ask_run, clock=self._clock)

    def _reject(self, run_id: str, order: Execute, kind: str, problem: str) -> None:
        report = ReportFailure(
            at=self._clock(),
            operation=order.operation,
            attempt=order.attempt,
            failure=Failure(kind, problem, order.step, order.tool),
            no_effect=True,
        )
        self._supervisor.report(run_id, report)

    def _cancel(self, run_id: str, order: CancelAttempt) -> None:
        work = self._supervisor.find((run_id, order.operation, order.attempt))
        if work is not None:
            self._supervisor.stop(work, "cancelled")

    def _ask(self, run_id: str, order: Probe) -> None:
        tool = self._tools.get(order.tool)
        if tool is None or tool.probe is None:
            why = f"tool {order.tool!r} is not registered with this engine, or has no probe"
            report = ReportProbe(
                at=self._clock(), operation=order.operation, attempt=order.attempt, happened=None, why=why
            )
            self._supervisor.report(run_id, report)
            return
        question = Question(run_id, order, tool, self._clock)
        if self._supervisor.find(question.key) is None:
            self._supervisor.run(question)


def _context(run_id: str, order: Execute, pulse: Pulse, offspring: Offspring | None) -> ToolContext:
    return ToolContext(
        order.operation,
        order.attempt,
        tool=order.tool,
        step=order.step,
        run_id=run_id,
        details=order.details,
        board=MappingProxyType(deepcopy(order.board)) if order.board else _NO_BOARD,
        signal=order.letter,
        pulse=pulse,
        offspring=offspring,
    )
