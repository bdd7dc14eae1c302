"""Undoing forward: which effects are taken back, with what, one at a time, newest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .. import facts as f
from .. import messages as m
from ..children import TAKE_BACK
from ..errors import MessageRefused
from ..ids import plain, undo_key
from ..ledger import Committed, Undo
from ..orders import Execute, Probe, TakeBackChild
from ..receipt import Receipt
from ..run import Run
from ..tools import RECEIPT_FIELD, Catalog
from .decision import NOTHING, Decision


def issue(entries: Iterable[Committed], catalog: Catalog, cause: str, reason: str = "") -> list[f.Fact]:
    """Return the facts that issue the undo of committed operations, in reverse order of commitment."""
    newest_first = sorted(entries, key=lambda entry: entry.version, reverse=True)
    return [
        f.CompensationIssued(
            undo_key(entry.key), entry.key, entry.undo, undo_input(entry, catalog), cause, reason
        )
        for entry in newest_first
    ]


def undo_input(entry: Committed, catalog: Catalog) -> Mapping[str, Any]:
    """Return the arguments of an undo: what the receipt says, else the fields the undo tool declares."""
    if entry.receipt.undo_input is not None:
        return entry.receipt.undo_input
    spec = catalog.get(entry.undo)
    wanted = spec.parameters if spec is not None else frozenset[str]()
    arguments = {name: value for name, value in entry.input.items() if name in wanted}
    if RECEIPT_FIELD in wanted:
        arguments[RECEIPT_FIELD] = plain(entry.receipt)
    return arguments


def start_next(run: Run, catalog: Catalog, at: float) -> Decision:
    """Start the next undo that is due, unless one is running; one in back-off or parked holds up no other."""
    if not run.may_undo:
        return NOTHING
    due = next((undo for undo in run.undos_open.values() if _is_due(undo, at)), None)
    if due is None:
        return NOTHING
    if catalog.get(due.tool) is None:
        return _park(due, f"tool {due.tool!r} is not registered; register it and retry the undo, or waive it")
    attempt = due.attempt + 1
    started = (f.CompensationStarted(due.key, attempt),)
    if due.tool == TAKE_BACK:
        return Decision(started, (take_back(due, attempt),), due.version)
    order = Execute(due.key, attempt, due.tool, due.input, board=dict(run.board) if run.board else {})
    return Decision(started, (order,), due.version)


def take_back(undo: Undo, attempt: int) -> TakeBackChild:
    """Return the order that has a child run undo what it did."""
    reason = f"its parent takes it back ({undo.cause})"
    return TakeBackChild(str(undo.input["run"]), undo.key, attempt, reason)


def _is_due(undo: Undo, at: float) -> bool:
    return undo.state == "issued" or (undo.state == "backoff" and undo.retry_at <= at)


def _park(undo: Undo, problem: str | f.Failure) -> Decision:
    failure = f.Failure("undo", problem, tool=undo.tool) if isinstance(problem, str) else problem
    return Decision((f.CompensationParked(undo.key, failure),), (), undo.version)


def _current(run: Run, report: m.Report) -> Undo | None:
    undo = run.undos.get(report.operation)
    if undo is None or undo.state != "running" or undo.attempt != report.attempt:
        return None
    return undo


def succeed(run: Run, key: str, attempt: int, receipt: Receipt) -> Decision:
    """An undo reports success. A late one counts too: the effect is gone, whoever reports it."""
    undo = run.undos[key]
    if run.ledger[undo.of].state == "undone":
        return NOTHING
    return Decision((f.CompensationCompleted(undo.key, attempt, receipt),), (), undo.version)


def fail(run: Run, report: m.ReportFailure, catalog: Catalog) -> Decision:
    """An undo reports failure: try again while its policy allows, then park it for a person."""
    undo = _current(run, report)
    if undo is None:
        return NOTHING
    spec = catalog.get(undo.tool)
    may_try_again = spec is not None and undo.tries < spec.max_attempts_after(no_effect=report.no_effect)
    if report.retry_after_s is None or not may_try_again:
        return _park(undo, report.failure)
    return _try_again(undo, report.failure, report.at + report.retry_after_s)


def _try_again(undo: Undo, failure: f.Failure, retry_at: float) -> Decision:
    return Decision((f.CompensationFailed(undo.key, undo.attempt, failure, retry_at),), (), undo.version)


def lose(run: Run, report: m.ReportLost, catalog: Catalog) -> Decision:
    """An attempt to undo timed out or fell silent: repeat it if it may be, else ask the probe."""
    undo = _current(run, report)
    if undo is None:
        return NOTHING
    spec = catalog.get(undo.tool)
    if spec is None or not spec.repeatable:
        return _ask_about(undo, report.why, catalog)
    message = f"the attempt to undo {undo.of} ended without an answer: {report.why}"
    failure = f.Failure("timeout", message, tool=undo.tool)
    if undo.tries >= spec.max_attempts:
        return _park(undo, failure)
    return _try_again(undo, failure, report.at + spec.retry.wait_s(undo.tries))


def lose_with_process(undo: Undo, catalog: Catalog) -> Decision:
    """The process that ran an attempt to undo is gone; a child run goes on by itself, and is told again."""
    if undo.tool == TAKE_BACK:
        return Decision((), (take_back(undo, undo.attempt),), undo.version)
    why = "the process that ran it ended"
    spec = catalog.get(undo.tool)
    if spec is None or not spec.repeatable:
        return _ask_about(undo, why, catalog)
    return _repeat(undo, why, catalog)


def _repeat(undo: Undo, why: str, catalog: Catalog) -> Decision:
    spec = catalog.get(undo.tool)
    if spec is not None and undo.lost >= spec.retry.max_lost:
        return _park(undo, f"{undo.lost + 1} attempts to undo {undo.of} were lost; the last: {why}")
    return Decision((f.CompensationLost(undo.key, undo.attempt, why),), (), undo.version)


def _ask_about(undo: Undo, why: str, catalog: Catalog) -> Decision:
    """Ask the probe; the attempt stays the running one until it answers."""
    spec = catalog.get(undo.tool)
    if spec is None or not spec.has_probe:
        return _park(undo, f"nobody knows whether {undo.of} is undone: {why}; look, then retry or waive it")
    return Decision((), (Probe(undo.key, undo.attempt, undo.tool, undo.input),), undo.version)


def settle_probe(run: Run, report: m.ReportProbe, catalog: Catalog) -> Decision:
    """A probe says whether an undo happened."""
    undo = _current(run, report)
    if undo is None:
        return NOTHING
    if report.happened is None:
        return _park(undo, f"the probe could not tell whether {undo.of} is undone: {report.why}")
    if report.happened:
        receipt = report.receipt or Receipt()
        return Decision((f.CompensationCompleted(undo.key, undo.attempt, receipt),), (), undo.version)
    return _repeat(undo, report.why or "the probe says it did not happen", catalog)


def request(run: Run, message: m.RequestCompensation, _catalog: Catalog) -> Decision:
    """A person wants a committed operation taken back, whatever the plan says of it."""
    problem = not_undoable(run, message.operation)
    if problem:
        raise MessageRefused(f"run {run.id}: cannot undo operation {message.operation!r}, {problem}")
    if run.undoing_step(message.operation):
        raise MessageRefused(
            f"run {run.id}: a step of the plan is undoing operation {message.operation!r} already"
        )
    if not message.reason:
        raise MessageRefused(f"run {run.id}: say why operation {message.operation!r} is to be undone")
    if message.operation in run.undo_requests:
        return NOTHING
    return Decision((f.CompensationRequested(message.operation, message.reason),))


def issue_requested(run: Run, catalog: Catalog) -> Decision:
    """Issue the next undo that a person asked for."""
    key, reason = next(iter(run.undo_requests.items()))
    entry = run.ledger[key]
    return Decision(issue((entry,), catalog, "request", reason))


def not_undoable(run: Run, key: str) -> str:
    """Return why an operation cannot be taken back, or nothing where it can."""
    entry = run.ledger.get(key)
    if entry is None:
        committed = ", ".join(each.key for each in run.standing()) or "none"
        return f"which is not committed (committed: {committed})"
    if entry.takes_back:
        return f"which undid {entry.takes_back}; plan that effect again instead"
    if entry.effect != "reversible":
        return f"of {entry.tool}, whose effect is {entry.effect} and cannot be undone"
    return f"which is {entry.state} already" if entry.state != "committed" else ""


def retry(run: Run, message: m.RetryCompensation, catalog: Catalog) -> Decision:
    """A person wants a parked undo tried again, with the arguments its tool takes now."""
    undo = _parked(run, message.operation)
    arguments = undo_input(run.ledger[undo.of], catalog)
    changed = arguments if catalog.get(undo.tool) is not None and arguments != undo.input else None
    return Decision((f.CompensationRetried(undo.key, message.reason, changed),), (), undo.version)


def waive(run: Run, message: m.WaiveCompensation, _catalog: Catalog) -> Decision:
    """A person lets an effect stay."""
    undo = _parked(run, message.operation)
    if not message.reason:
        raise MessageRefused(
            f"run {run.id}: waiving the undo {undo.key!r} needs a reason; say why the effect may stay"
        )
    return Decision((f.CompensationWaived(undo.key, message.reason),), (), undo.version)


def _parked(run: Run, operation: str) -> Undo:
    undo = run.parked.get(operation) or run.parked.get(undo_key(operation))
    if undo is None:
        parked = ", ".join(run.parked) or "none"
        raise MessageRefused(f"run {run.id}: no parked undo {operation!r} (parked: {parked})")
    return undo
