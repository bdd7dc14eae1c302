"""What an attempt's report becomes. An old attempt settles nothing, yet no receipt is ever lost."""

from __future__ import annotations

from .. import facts as f
from .. import messages as m
from ..ledger import Committed, Operation
from ..orders import CancelAttempt, Order
from ..receipt import Receipt
from ..run import Run
from ..tools import Catalog
from . import compensation, waits
from .decision import NOTHING, Decision
from .outcomes import end_without_receipt, failure_in, is_late, lose, unknown
from .replan import request_replan

CANCELLED = "cancelled"
"""Why an attempt was lost that was asked to stop."""


def report_success(run: Run, report: m.ReportSuccess, catalog: Catalog) -> Decision:
    """Commit an operation."""
    operation = _current(run, report)
    if operation is not None and operation.key not in run.orphans:
        done = f.StepCompleted(operation.step, operation.key, report.attempt, report.receipt)
        return Decision((done,), (), operation.version)
    if report.operation in run.undos and operation is None:
        return compensation.succeed(run, report.operation, report.attempt, report.receipt)
    return _late_receipt(run, report.operation, report.attempt, report.receipt, catalog)


def _late_receipt(run: Run, key: str, attempt: int, receipt: Receipt, catalog: Catalog) -> Decision:
    late = f.ReceiptArrivedLate(key, attempt, receipt)
    entry = run.ledger.get(key)
    if entry is not None:
        return Decision((late,), (), entry.version) if _is_news(entry, attempt, receipt) else NOTHING
    operation = run.operation(key)
    if operation is None or attempt > operation.attempt:
        return NOTHING
    orders: tuple[Order, ...] = ()
    if key in run.running and attempt != operation.attempt:
        orders = (CancelAttempt(key, operation.attempt, "an earlier attempt reported its receipt"),)
    facts: list[f.Fact] = [late]
    if run.final == "completed" and operation.effect == "reversible" and not operation.takes_back:
        entry = Committed.of(operation, receipt, attempt, run.version + 1)
        facts += compensation.issue((entry,), catalog, "late")
    return Decision(facts, orders, operation.version)


def _is_news(entry: Committed, attempt: int, receipt: Receipt) -> bool:
    """Whether a receipt of an operation that is committed says anything the ledger does not."""
    return attempt != entry.attempt and attempt not in entry.late and receipt != entry.receipt


def report_failure(run: Run, report: m.ReportFailure, catalog: Catalog) -> Decision:
    """Try again while the policy allows, else the step has failed."""
    operation = _current(run, report)
    if operation is None:
        return compensation.fail(run, report, catalog)
    failure = failure_in(operation, report.failure)
    if report.retry_after_s is not None and _may_try_again(run, operation, report, catalog):
        retry_at = report.at + report.retry_after_s
        again = f.AttemptFailed(
            operation.key, operation.attempt, failure, retry_at, details=operation.details
        )
        if not is_late(operation, retry_at):
            return Decision((again,), (), operation.version)
    return end_without_receipt(operation, failure, catalog, no_effect=report.no_effect)


def _may_try_again(run: Run, operation: Operation, report: m.ReportFailure, catalog: Catalog) -> bool:
    spec = catalog.get(operation.tool)
    if spec is None or run.is_unwanted(operation):
        return False
    return operation.tries < spec.max_attempts_after(no_effect=report.no_effect, retry=operation.retry)


def report_suspended(run: Run, report: m.ReportSuspended, catalog: Catalog) -> Decision:
    """Have a tool called again later; an undo does not wait, it fails and is tried again."""
    operation = _current(run, report)
    if operation is not None:
        return waits.suspend(run, operation, report, catalog)
    failure = f.Failure("tool_error", "an undo cannot wait; make it end, or fail")
    failed = m.ReportFailure(
        at=report.at, operation=report.operation, attempt=report.attempt, failure=failure, retry_after_s=1.0
    )
    return compensation.fail(run, failed, catalog)


def report_replan(run: Run, report: m.ReportReplan, catalog: Catalog) -> Decision:
    """A tool asks for another plan; its step ends, and what it committed stays."""
    operation = _current(run, report)
    if operation is None and report.operation in run.undos:
        return _undo_asks(run, report, catalog)
    if operation is not None and (report.receipt is None or operation.key not in run.orphans):
        ended = _end_for_replan(operation, report, catalog)
    elif report.receipt is not None:
        ended = _late_receipt(run, report.operation, report.attempt, report.receipt, catalog)
        operation = run.operation(report.operation)
    else:
        return NOTHING
    if operation is None or not ended.facts or run.final is not None:
        return ended
    facts = [*ended.facts]
    if report.updates:
        facts.append(f.BoardUpdated(report.updates, operation.step))
    if report.failure is not None:
        failure = failure_in(operation, report.failure)
        facts.append(f.ReplanRuleFailed(operation.step, operation.key, failure))
        return Decision(facts, ended.orders, operation.version)
    facts += request_replan(
        run,
        "tool",
        report.reason,
        operation.step,
        operation.tool,
        input_digest=operation.digest,
        updates=report.updates,
        committed=operation if report.receipt is not None else None,
        found=report.receipt.result if report.receipt is not None else None,
    )
    return Decision(facts, ended.orders, operation.version)


def _undo_asks(run: Run, report: m.ReportReplan, catalog: Catalog) -> Decision:
    """An undo is no step of a plan: what it was asked to do is done, or has failed."""
    if report.receipt is not None:
        return compensation.succeed(run, report.operation, report.attempt, report.receipt)
    failure = f.Failure("undo", f"it asked for another plan, which an undo cannot: {report.reason}")
    failed = m.ReportFailure(
        at=report.at, actor=report.actor, operation=report.operation, attempt=report.attempt, failure=failure
    )
    return compensation.fail(run, failed, catalog)


def _end_for_replan(operation: Operation, report: m.ReportReplan, catalog: Catalog) -> Decision:
    if report.receipt is not None:
        done = f.StepCompleted(operation.step, operation.key, report.attempt, report.receipt)
        return Decision((done,))
    if report.no_effect or operation.effect == "read":
        failure = failure_in(operation, f.Failure("replan", report.reason))
        return end_without_receipt(operation, failure, catalog, no_effect=report.no_effect)
    why = f"it asked for another plan without saying what it did: {report.reason}"
    return unknown(operation, why, operation.details, catalog)


def report_lost(run: Run, report: m.ReportLost, catalog: Catalog) -> Decision:
    """An attempt timed out, fell silent, or was cancelled."""
    operation = _current(run, report)
    if operation is None:
        return compensation.lose(run, report, catalog)
    spec = catalog.get(operation.tool)
    message = f"attempt {operation.attempt} of {operation.tool} ended without an answer: {report.why}"
    kind = CANCELLED if report.why == CANCELLED else "timeout"
    failure = failure_in(operation, f.Failure(kind, message))
    policy = operation.retry or (spec.retry if spec is not None else None)
    retry_at = report.at + (policy.wait_s(operation.tries) if policy is not None else 0.0)
    again = f.AttemptFailed(
        operation.key, operation.attempt, failure, retry_at, doubt=True, details=report.details
    )
    is_spent = (
        report.why == CANCELLED
        or spec is None
        or operation.tries >= spec.max_attempts_after(no_effect=False, retry=operation.retry)
        or is_late(operation, retry_at)
    )
    return lose(run, operation, again, catalog, failure=failure, is_spent=is_spent)


def lose_with_process(run: Run, operation: Operation, catalog: Catalog) -> Decision:
    """The process that ran an attempt is gone."""
    spec = catalog.get(operation.tool)
    why = "the process that ran it ended"
    message = f"attempt {operation.attempt} of {operation.tool} ended without an answer: {why}"
    failure = failure_in(operation, f.Failure("lost", message))
    again = f.AttemptLost(operation.key, operation.attempt, why, operation.details)
    is_spent = spec is not None and operation.lost >= (operation.retry or spec.retry).max_lost
    return lose(run, operation, again, catalog, failure=failure, is_spent=is_spent)


def report_probe(run: Run, report: m.ReportProbe, catalog: Catalog) -> Decision:
    """A probe says what became of an attempt, or that it cannot tell."""
    operation = run.unknown.get(report.operation)
    if operation is None:
        return compensation.settle_probe(run, report, catalog)
    if operation.attempt != report.attempt or not operation.probing:
        return NOTHING
    if report.happened is None:
        return Decision((f.ProbeFailed(operation.key, operation.attempt, report.why),), (), operation.version)
    return settle(operation, report.happened, report.receipt, report.why or "the probe says so")


def settle(operation: Operation, happened: bool, receipt: Receipt | None, reason: str) -> Decision:
    """Settle an unknown outcome; only *not happened* permits another attempt."""
    settled = f.OutcomeSettled(operation.key, happened, receipt if happened else None, reason)
    return Decision((settled,), (), operation.version)


def _current(run: Run, report: m.Report) -> Operation | None:
    operation = run.running.get(report.operation)
    return operation if operation is not None and operation.attempt == report.attempt else None
