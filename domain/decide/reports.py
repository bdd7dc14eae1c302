"""What an attempt's report becomes. An old attempt settles nothing, yet no receipt is ever lost."""

from __future__ import annotations

from collections.abc import Sequence

from .. import facts as f
from .. import messages as m
from ..orders import CancelAttempt, Order, Probe
from ..receipt import Receipt
from ..run import Operation, Run
from ..tools import Catalog
from . import compensation
from .decision import NOTHING, Decision
from .replan import request_replan


def report_success(run: Run, report: m.ReportSuccess, catalog: Catalog) -> Decision:
    """Commit an operation."""
    operation = run.running.get(report.operation)
    if operation is not None and operation.attempt == report.attempt:
        done = f.StepCompleted(operation.step, operation.key, report.attempt, report.receipt)
        return Decision((done,), (), operation.version)
    if report.operation in run.undos:
        return compensation.succeed(run, report)
    return _late_receipt(run, report, catalog)


def _late_receipt(run: Run, report: m.ReportSuccess, catalog: Catalog) -> Decision:
    operation = run.operation(report.operation)
    if operation is None:
        return NOTHING
    orders: tuple[Order, ...] = ()
    if operation.key in run.running:
        orders = (CancelAttempt(operation.key, operation.attempt, "an earlier attempt reported its receipt"),)
    late = f.ReceiptArrivedLate(operation.key, report.attempt, report.receipt)
    return Decision((late,), orders, operation.version)


def report_failure(run: Run, report: m.ReportFailure, catalog: Catalog) -> Decision:
    """Try again while the policy allows, else the step has failed."""
    if report.operation in run.undos:
        return compensation.fail(run, report, report.failure, report.retry_after_s, catalog)
    operation = _current(run, report)
    if operation is None:
        return NOTHING
    return _retry_or_fail(run, operation, report, catalog)


def _retry_or_fail(run: Run, operation: Operation, report: m.ReportFailure, catalog: Catalog) -> Decision:
    spec = catalog.get(operation.tool)
    leaving = run.owed is not None or run.unwinding is not None
    wait_s = report.retry_after_s
    if wait_s is not None and spec is not None and operation.tries < spec.max_attempts and not leaving:
        retry_at = report.at + wait_s
        if operation.deadline is None or retry_at < operation.deadline:
            failed = f.AttemptFailed(operation.key, operation.attempt, report.failure, retry_at)
            return Decision((failed,), (), operation.version)
    if operation.doubt and operation.effect != "read" and not report.no_effect:
        why = f"it failed ({report.failure.message}), and an attempt before that ended without an answer"
        return _unknown(operation, why, None, catalog)
    failed_step = f.StepFailed(operation.step, operation.key, operation.attempt, report.failure)
    return Decision((failed_step,), (), operation.version)


def report_replan(run: Run, report: m.ReportReplan, catalog: Catalog) -> Decision:
    """A tool asks for another plan; its step ends, and what it committed stays."""
    operation = _current(run, report)
    if operation is None:
        if report.receipt is None:
            return NOTHING
        success = m.ReportSuccess(
            at=report.at, operation=report.operation, attempt=report.attempt, receipt=report.receipt
        )
        return report_success(run, success, catalog)
    facts: list[f.Fact] = []
    orders: Sequence[Order] = ()
    if report.receipt is not None:
        facts.append(f.StepCompleted(operation.step, operation.key, report.attempt, report.receipt))
    elif report.no_effect or operation.effect == "read":
        failure = f.Failure("replan", report.reason, operation.step, operation.tool)
        facts.append(f.StepFailed(operation.step, operation.key, report.attempt, failure))
    else:
        why = "it asked for another plan without saying what it did"
        unknown = _unknown(operation, why, None, catalog)
        facts.extend(unknown.facts)
        orders = unknown.orders
    if report.updates:
        facts.append(f.BoardUpdated(report.updates, operation.step))
    facts.extend(request_replan(run, "tool", report.reason, operation.step, operation.tool))
    return Decision(facts, orders, operation.version)


def report_lost(run: Run, report: m.ReportLost, catalog: Catalog) -> Decision:
    """An attempt timed out, fell silent, was cancelled or died with its process."""
    if report.operation in run.undos:
        return compensation.lose(run, report, catalog)
    operation = _current(run, report)
    if operation is None:
        return NOTHING
    spec = catalog.get(operation.tool)
    spent = spec is None or operation.tries >= spec.max_attempts or report.why == "cancelled"
    message = f"{operation.tool} attempt {operation.attempt} ended without an answer: {report.why}"
    kind = "cancelled" if report.why == "cancelled" else "timeout"
    failure = f.Failure(kind, message, operation.step, operation.tool)
    again = f.AttemptFailed(operation.key, operation.attempt, failure, report.at)
    return _lose(run, operation, spent, failure, again, report, catalog)


def lose_with_process(run: Run, operation: Operation, at: float, catalog: Catalog) -> Decision:
    """The process that ran an attempt is gone: repeat what may be repeated, ask about the rest."""
    spec = catalog.get(operation.tool)
    why = "the process that ran it ended"
    spent = spec is not None and operation.lost >= spec.retry.max_lost
    message = f"{operation.tool} lost {operation.lost + 1} attempts in a row: {why}"
    failure = f.Failure("lost", message, operation.step, operation.tool)
    again = f.AttemptLost(operation.key, operation.attempt, why, operation.details)
    lost = m.ReportLost(
        at=at, operation=operation.key, attempt=operation.attempt, why=why, details=operation.details
    )
    return _lose(run, operation, spent, failure, again, lost, catalog)


def _lose(
    run: Run,
    operation: Operation,
    spent: bool,
    failure: f.Failure,
    again: f.Fact,
    lost: m.ReportLost,
    catalog: Catalog,
) -> Decision:
    """Unknown is not failed: what may have had its effect is repeated, asked about, or left to a person."""
    leaving = run.owed is not None or run.unwinding is not None
    if operation.effect == "read":
        over = f.StepFailed(operation.step, operation.key, operation.attempt, failure)
        return Decision((over if spent or leaving else again,), (), operation.version)
    spec = catalog.get(operation.tool)
    may_ask = leaving and spec is not None and spec.has_probe
    no_way_back = run.unwinding is not None and operation.effect == "irreversible"
    if spent or may_ask or no_way_back or not operation.idempotent:
        return _unknown(operation, lost.why, lost.details, catalog)
    return Decision((again,), (), operation.version)


def _unknown(operation: Operation, why: str, details: object, catalog: Catalog) -> Decision:
    spec = catalog.get(operation.tool)
    probing = spec is not None and spec.has_probe
    orders = (Probe(operation.key, operation.attempt, operation.tool, operation.input),) if probing else ()
    unknown = f.OutcomeUnknown(operation.key, operation.attempt, why, details, probing)
    return Decision((unknown,), orders, operation.version)


def report_probe(run: Run, report: m.ReportProbe, catalog: Catalog) -> Decision:
    """A probe says what became of an attempt, or that it cannot tell."""
    if report.operation in run.undos:
        return compensation.settle_probe(run, report, catalog)
    operation = run.unknown.get(report.operation)
    if operation is None or operation.attempt != report.attempt or not operation.probing:
        return NOTHING
    if report.happened is None:
        return Decision((f.ProbeFailed(operation.key, operation.attempt, report.why),), (), operation.version)
    return settle(run, operation, report.happened, report.receipt, report.why or "the probe says so")


def settle(run: Run, operation: Operation, happened: bool, receipt: Receipt | None, reason: str) -> Decision:
    """Settle an unknown outcome; only *not happened* permits another attempt."""
    settled = f.OutcomeSettled(operation.key, happened, receipt, reason)
    return Decision((settled,), (), operation.version)


def _current(run: Run, report: m.Report) -> Operation | None:
    operation = run.running.get(report.operation)
    return operation if operation is not None and operation.attempt == report.attempt else None
