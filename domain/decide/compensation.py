"""Undoing forward: which effects are taken back, with what, one at a time, newest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from .. import facts as f
from .. import messages as m
from ..errors import MessageRefused
from ..ids import undo_key
from ..orders import Execute, Probe
from ..receipt import Receipt
from ..run import Committed, Run, Undo
from ..tools import RECEIPT_FIELD, Catalog
from .decision import NOTHING, Decision

LOST_RETRY_S = 1.0


def issue(run: Run, entries: Iterable[Committed], catalog: Catalog, cause: str) -> list[f.Fact]:
    """Return the facts that issue the undo of committed operations, in reverse order of commitment."""
    newest_first = sorted(entries, key=lambda entry: entry.version, reverse=True)
    return [
        f.CompensationIssued(undo_key(entry.key), entry.key, entry.undo, undo_input(entry, catalog), cause)
        for entry in newest_first
    ]


def undo_input(entry: Committed, catalog: Catalog) -> Mapping[str, Any]:
    """Return the arguments of an undo: what the receipt says, else the fields the undo tool declares."""
    if entry.receipt.undo_input is not None:
        return entry.receipt.undo_input
    spec = catalog.get(entry.undo)
    wanted = spec.parameters if spec else frozenset[str]()
    arguments = {name: value for name, value in entry.input.items() if name in wanted}
    if RECEIPT_FIELD in wanted:
        arguments[RECEIPT_FIELD] = msgspec.to_builtins(entry.receipt)
    return arguments


def start_next(run: Run, catalog: Catalog, at: float) -> Decision:
    """Start the next undo that is due, unless one is running; one in back-off or parked holds up no other."""
    if run.undo_running:
        return NOTHING
    due = next((undo for undo in run.undos_open.values() if _is_due(undo, at)), None)
    if due is None:
        return NOTHING
    if catalog.get(due.tool) is None:
        problem = f"tool {due.tool!r} is not registered; register it and retry the undo, or waive it"
        return Decision(
            (f.CompensationParked(due.key, f.Failure("undo", problem, tool=due.tool)),), cause=due.version
        )
    attempt = due.attempt + 1
    order = Execute(due.key, attempt, due.tool, due.input)
    return Decision((f.CompensationStarted(due.key, attempt),), (order,), due.version)


def _is_due(undo: Undo, at: float) -> bool:
    return undo.state == "issued" or (undo.state == "backoff" and undo.retry_at <= at)


def current(run: Run, report: m.Report) -> Undo | None:
    """Return the undo a report is about, where its attempt is the current one."""
    undo = run.undos.get(report.operation)
    if undo is None or undo.state != "running" or undo.attempt != report.attempt:
        return None
    return undo


def succeed(run: Run, report: m.ReportSuccess) -> Decision:
    """An undo reports success. A late one counts too: the effect is gone, whoever reports it."""
    undo = run.undos[report.operation]
    if undo.state == "done":
        return NOTHING
    return Decision((f.CompensationCompleted(undo.key, report.attempt, report.receipt),), cause=undo.version)


def fail(
    run: Run, report: m.Report, failure: f.Failure, retry_after_s: float | None, catalog: Catalog
) -> Decision:
    """An undo reports failure: try again while its policy allows, then park it for a person."""
    undo = current(run, report)
    if undo is None:
        return NOTHING
    spec = catalog.get(undo.tool)
    tries = undo.attempt - undo.first + 1
    if retry_after_s is None or spec is None or tries >= spec.max_attempts:
        return Decision((f.CompensationParked(undo.key, failure),), cause=undo.version)
    retry_at = report.at + retry_after_s
    return Decision((f.CompensationFailed(undo.key, undo.attempt, failure, retry_at),), cause=undo.version)


def lose(run: Run, report: m.ReportLost, catalog: Catalog) -> Decision:
    """An attempt to undo is lost: an idempotent one is tried again, another is asked about first."""
    undo = current(run, report)
    if undo is None:
        return NOTHING
    spec = catalog.get(undo.tool)
    if spec is not None and not spec.idempotent and spec.has_probe:
        return Decision((), (Probe(undo.key, undo.attempt, undo.tool, undo.input),), undo.version)
    failure = f.Failure("lost", f"the attempt to undo {undo.of} was lost: {report.why}", tool=undo.tool)
    return fail(run, report, failure, LOST_RETRY_S, catalog)


def settle_probe(run: Run, report: m.ReportProbe, catalog: Catalog) -> Decision:
    """A probe says whether an undo happened."""
    undo = current(run, report)
    if undo is None:
        return NOTHING
    if report.happened:
        receipt = report.receipt or Receipt()
        return Decision((f.CompensationCompleted(undo.key, undo.attempt, receipt),), cause=undo.version)
    if report.happened is None:
        failure = f.Failure(
            "undo", f"the probe could not tell whether {undo.of} is undone: {report.why}", tool=undo.tool
        )
        return Decision((f.CompensationParked(undo.key, failure),), cause=undo.version)
    failure = f.Failure("lost", f"the attempt to undo {undo.of} did not happen", tool=undo.tool)
    return fail(run, report, failure, 0.0, catalog)


def retry(run: Run, message: m.RetryCompensation, _catalog: Catalog) -> Decision:
    """A person wants a parked undo tried again."""
    undo = _parked(run, message.operation)
    return Decision((f.CompensationRetried(undo.key, message.reason),), cause=undo.version)


def waive(run: Run, message: m.WaiveCompensation, _catalog: Catalog) -> Decision:
    """A person lets an effect stay."""
    if not message.reason:
        raise MessageRefused(
            f"waiving the undo {message.operation!r} needs a reason; say why the effect may stay"
        )
    undo = _parked(run, message.operation)
    return Decision((f.CompensationWaived(undo.key, message.reason),), cause=undo.version)


def _parked(run: Run, operation: str) -> Undo:
    undo = run.undos.get(operation) or run.undos.get(undo_key(operation))
    if undo is None or undo.state != "parked":
        parked = ", ".join(key for key, each in run.undos.items() if each.state == "parked") or "none"
        raise MessageRefused(f"run {run.id}: no parked undo {operation!r} (parked: {parked})")
    return undo
