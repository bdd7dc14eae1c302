"""Waits: when a step begins to wait, and when what it or a tool waits for is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import facts as f
from .. import messages as m
from .. import waits
from ..errors import InvalidInputError
from ..ledger import Operation
from ..plan import Step
from ..planning import SignalEntry
from ..run import Run
from ..tools import Catalog
from .decision import NOTHING, Decision
from .outcomes import unknown


def begin(step: Step, input: Mapping[str, Any], at: float) -> Decision:
    """Have a step wait for what its rendered input says."""
    try:
        wait = waits.read(input, at)
    except InvalidInputError as error:
        failure = f.Failure("arguments", str(error), step.id, step.tool_name, type(error).__name__)
        return Decision((f.StepFailed(step.id, "", 0, failure),))
    return Decision((f.WaitStarted(step.id, wait.due, wait.signal),))


def end_next(run: Run, at: float) -> Decision:
    """End the first wait whose signal or time has come; a signal that is there comes before the time."""
    for step, wait in run.waits.items():
        letter = first_letter(run, wait.signal)
        if letter is not None or (wait.due is not None and wait.due <= at):
            received = letter.version if letter is not None else 0
            return Decision((f.WaitEnded(step, wait.result(letter), received),), (), received)
    return NOTHING


def first_letter(run: Run, name: str) -> SignalEntry | None:
    """Return the oldest signal of a name that nobody has waited for yet."""
    box = run.mail.get(name) if name else None
    return box[0] if box else None


def is_due(run: Run, operation: Operation, at: float) -> bool:
    """Whether the next attempt may begin: its time has come, or its signal, or its child runs have ended."""
    if operation.retry_at <= at or first_letter(run, operation.awaits) is not None:
        return True
    return bool(operation.children) and not any(
        child.run in operation.children for child in run.children.values()
    )


def suspend(run: Run, operation: Operation, report: m.ReportSuspended, catalog: Catalog) -> Decision:
    """Have an operation wait until its tool is to be called again.

    Where its plan is being left nobody will call it again: what it did so far has to be known, unless it
    waits for child runs, which are stopped on their own and end.
    """
    if report.children or not run.is_unwanted(operation):
        due = report.due
        if operation.deadline is not None:
            due = operation.deadline if due is None else min(due, operation.deadline)
        suspended = f.AttemptSuspended(
            operation.key, operation.attempt, due, report.signal, report.details, report.reply,
            report.no_effect or operation.effect == "read", report.children,
        )  # fmt: skip
        return Decision((suspended,), (), operation.version)
    if not report.no_effect and operation.effect != "read":
        why = "its tool waits in the middle of its work, and its plan is being left"
        return unknown(operation, why, report.details, catalog)
    failure = f.Failure(
        "waiting", f"{operation.tool} waits, and its plan is being left", operation.step, operation.tool,
        digest=operation.digest,
    )  # fmt: skip
    return Decision(
        (f.StepFailed(operation.step, operation.key, operation.attempt, failure),), (), operation.version
    )
