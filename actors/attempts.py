"""One attempt of an operation, and what its end says."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from typing import Any

from ..domain.budget import Spent
from ..domain.facts import Failure
from ..domain.messages import Report, ReportFailure, ReportLost, ReportReplan, ReportSuccess, ReportSuspended
from ..domain.orders import Execute
from ..domain.receipt import Receipt
from .backoff import retry_delay_s
from .clock import Clock
from .context import Pulse
from .control import OutcomeUnknownError, RequestReplan, WaitFor
from .failures import failure_of, only_cause, verdict
from .json_values import is_unreadable, readable, receipt_of, text
from .rules import judge
from .tools import Tool
from .work import CLOSING, Work

_log = logging.getLogger("midcourse.actors")


class Attempt(Work):
    """One attempt of an operation.

    Args:
        run_id: the run.
        order: what was ordered.
        tool: the tool to call.
        arguments: its arguments, converted.
        pulse: its link to the tool's code; ``None`` where the tool takes no context.
        clock: tells the time of reports.
        random: for the jitter of waits.
    """

    __slots__ = ("arguments", "order", "pulse", "random", "tool")

    def __init__(
        self,
        run_id: str,
        order: Execute,
        tool: Tool,
        arguments: dict[str, Any],
        *,
        pulse: Pulse | None,
        clock: Clock,
        random: Callable[[], float],
    ) -> None:
        key = (run_id, order.operation, order.attempt)
        super().__init__(run_id, key, clock, is_async=tool.is_async)
        self.order = order
        self.tool = tool
        self.arguments = arguments
        self.pulse = pulse
        self.random = random

    def __str__(self) -> str:
        return f"attempt {self.order.attempt} of {self.order.operation} (tool {self.order.tool})"

    def call(self) -> Any:
        """Call the tool."""
        return self.tool.function(**self.arguments)

    def ask_to_stop(self, why: str) -> None:
        """Note why it should stop; the tool sees it at its next heartbeat."""
        self.stop = why
        if self.pulse is not None:
            self.pulse.stop = why

    def not_begun(self) -> Report:
        """Return a failure that vouches that nothing happened."""
        message = f"{self} ended before it began: {self.stop}"
        failure = Failure(self.stop, message, self.order.step, self.order.tool)
        return self._failed(failure, no_effect=True)

    def lost(self) -> Report:
        """Return that nobody knows what became of it."""
        return self._lost(self.stop)

    def returned(self, result: Any) -> Report:
        """Return the success: it is a fact, also of an attempt that was given up."""
        if not self.is_async and inspect.isawaitable(result):
            return self._not_awaited(result)
        receipt = receipt_of(result)
        if is_unreadable(receipt.result):
            _log.warning("%s is done, but its result cannot be recorded: %s", self, receipt.result)
        order = self.order
        if self.tool.rules and order.step:
            asked = judge(
                self.tool.rules, order.tool, result.result if isinstance(result, Receipt) else result
            )
            if asked is not None:
                return self._replan(asked.reason, asked.updates, receipt, failure=asked.failure)
        return ReportSuccess(
            at=self.clock(),
            operation=order.operation,
            attempt=order.attempt,
            receipt=receipt,
            spent=self._spent(),
        )

    def raised(self, error: BaseException) -> Report | None:
        """Return what the error says of the operation.

        After it was asked to stop, an error may be just the way it stops, so it is believed only where it
        vouches that nothing happened; and once it was given up, only a receipt is news.
        """
        error = only_cause(error)
        if isinstance(error, RequestReplan):
            return self._asked_to_replan(error)
        if isinstance(error, WaitFor):
            return self._waits(error)
        if self.is_given_up:
            return None
        said = verdict(error)
        if not said.no_effect:
            if self.stop:
                return None if self.stop == CLOSING else self.lost()
            if isinstance(error, OutcomeUnknownError):
                return self._lost(f"tool: {text(error)}".removesuffix(": "))
        _log.info("%s raised", self, exc_info=error)
        wait_s = None
        if said.retryable:
            policy = self.order.retry or self.tool.spec.retry
            wait_s = said.retry_after_s
            if wait_s is None:
                wait_s = retry_delay_s(policy, self.order.attempt, self.random)
        failure = failure_of(error, tool=self.order.tool, step=self.order.step)
        return self._failed(failure, retry_after_s=wait_s, no_effect=said.no_effect)

    def _asked_to_replan(self, request: RequestReplan) -> Report | None:
        if self.is_given_up:
            return None if request.receipt is None else self.returned(request.receipt)
        receipt = None if request.receipt is None else receipt_of(request.receipt)
        return self._replan(request.reason, request.updates, receipt, no_effect=request.no_effect)

    def _waits(self, wait: WaitFor) -> Report | None:
        if self.is_given_up:
            return None
        now = self.clock()
        details = readable(wait.details) if wait.details is not None else None
        if details is None:
            details = self.order.details if self.pulse is None else self.pulse.details
        return ReportSuspended(
            at=now,
            operation=self.order.operation,
            attempt=self.order.attempt,
            due=wait.until if wait.for_s is None else now + max(0.0, wait.for_s),
            signal=text(wait.signal),
            details=details,
            reply=readable(wait.reply),
            no_effect=wait.no_effect,
            children=wait.children,
            spent=self._spent(),
        )

    def _replan(
        self,
        reason: str,
        updates: Mapping[str, Any],
        receipt: Receipt | None,
        *,
        no_effect: bool = False,
        failure: Failure | None = None,
    ) -> ReportReplan:
        return ReportReplan(
            at=self.clock(),
            operation=self.order.operation,
            attempt=self.order.attempt,
            reason=text(reason),
            updates={text(name): readable(value) for name, value in updates.items()},
            receipt=receipt,
            no_effect=no_effect,
            failure=failure,
            spent=self._spent(),
        )

    def _not_awaited(self, result: Any) -> Report:
        if inspect.iscoroutine(result):
            result.close()
        message = "it returned an awaitable, which was not awaited; declare the tool with async def"
        failure = Failure("tool_error", message, self.order.step, self.order.tool)
        return self._failed(failure, no_effect=False)

    def _failed(
        self, failure: Failure, *, no_effect: bool, retry_after_s: float | None = None
    ) -> ReportFailure:
        return ReportFailure(
            at=self.clock(),
            operation=self.order.operation,
            attempt=self.order.attempt,
            failure=failure,
            retry_after_s=retry_after_s,
            no_effect=no_effect,
            spent=self._spent(),
        )

    def _spent(self) -> Spent | None:
        return None if self.pulse is None else self.pulse.spent

    def _lost(self, why: str) -> ReportLost:
        return ReportLost(
            at=self.clock(),
            operation=self.order.operation,
            attempt=self.order.attempt,
            why=why,
            details=self.order.details if self.pulse is None else self.pulse.details,
            spent=self._spent(),
        )
