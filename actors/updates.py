"""What became of a signal, read from the facts that follow it."""

from __future__ import annotations

from typing import Any

from ..domain import facts as f
from ..domain.errors import MessageRefused
from ..store import Record


class Answer:
    """What the step or tool that took a signal made of it.

    Args:
        signal_id: the id of the signal.

    Attributes:
        is_there: it is known.
        value: what it is.
    """

    def __init__(self, signal_id: str) -> None:
        self.is_there = False
        self.value: Any = None
        self._signal_id = signal_id
        self._version = 0
        self._operation = ""

    def take(self, record: Record) -> None:
        """Take in the next fact of the run.

        Raises:
            MessageRefused: what took the signal failed.
        """
        fact = record.fact
        if isinstance(fact, f.SignalReceived) and fact.id == self._signal_id:
            self._version = record.version
        elif self._operation:
            self._take_from_tool(record.run_id, fact)
        elif self._version and isinstance(fact, f.WaitEnded) and fact.received == self._version:
            self._answer(fact.result)
        elif self._version and isinstance(fact, f.AttemptStarted) and fact.received == self._version:
            self._operation = fact.operation

    def _take_from_tool(self, run_id: str, fact: f.Fact) -> None:
        if getattr(fact, "operation", "") != self._operation:
            return
        if isinstance(fact, f.StepCompleted):
            self._answer(fact.receipt.result)
        elif isinstance(fact, f.AttemptSuspended):
            self._answer(fact.reply)
        elif isinstance(fact, f.StepFailed):
            problem = fact.failure.message
            raise MessageRefused(f"run {run_id}: the tool that took the signal failed: {problem}")
        elif isinstance(fact, f.OutcomeUnknown):
            raise MessageRefused(
                f"run {run_id}: nobody knows what the tool that took the signal has done: {fact.why}"
            )

    def _answer(self, value: Any) -> None:
        self.is_there, self.value = True, value
