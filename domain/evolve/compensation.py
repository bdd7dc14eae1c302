"""What facts about undoing change."""

from __future__ import annotations

from .. import facts as f
from ..ledger import Undo, UndoState
from ..run import Run


def compensation_requested(run: Run, fact: f.CompensationRequested) -> None:
    run.undo_requests[fact.operation] = fact.reason
    run.foreseen_from = run.version


def compensation_issued(run: Run, fact: f.CompensationIssued) -> None:
    attempt = run.attempts.get(fact.operation, 0)
    undo = Undo(fact.operation, fact.of, fact.tool, fact.input, fact.cause, attempt + 1, attempt, run.version)
    run.undos[fact.operation] = run.undos_open[fact.operation] = undo
    run.reversible.pop(fact.of, None)
    run.strays.pop(fact.of, None)
    run.undo_requests.pop(fact.of, None)
    run.recheck = True
    entry = run.ledger[fact.of]
    entry.state = "undoing"
    entry.waived = False
    if fact.cause == "plan":
        run.calls[fact.tool] = run.calls.get(fact.tool, 0) + 1
    entry.undone_by = fact.operation


def compensation_started(run: Run, fact: f.CompensationStarted) -> None:
    undo = run.undos[fact.operation]
    undo.state = "running"
    undo.attempt = run.attempts[fact.operation] = fact.attempt
    undo.version = run.version
    run.undo_running = fact.operation


def compensation_failed(run: Run, fact: f.CompensationFailed) -> None:
    undo = _back_off(run, fact.operation)
    undo.retry_at = fact.retry_at
    undo.failure = fact.failure


def compensation_lost(run: Run, fact: f.CompensationLost) -> None:
    undo = _back_off(run, fact.operation)
    undo.retry_at = 0.0
    undo.lost += 1


def _back_off(run: Run, key: str) -> Undo:
    undo = run.undos[key]
    undo.state = "backoff"
    run.undo_running = ""
    return undo


def compensation_completed(run: Run, fact: f.CompensationCompleted) -> None:
    undo = _close(run, fact.operation, "done")
    undo.receipt = fact.receipt
    entry = run.ledger[undo.of]
    entry.state = "undone"
    entry.undone_by = fact.operation
    entry.waived = False


def compensation_parked(run: Run, fact: f.CompensationParked) -> None:
    state: UndoState = "escalated" if run.undos[fact.operation].retried else "parked"
    undo = run.parked[fact.operation] = _close(run, fact.operation, state)
    undo.failure = fact.failure


def compensation_retried(run: Run, fact: f.CompensationRetried) -> None:
    undo = run.undos_open[fact.operation] = run.parked.pop(fact.operation)
    undo.state = "issued"
    undo.first = undo.attempt + 1
    undo.lost = 0
    undo.retried += 1
    if fact.input is not None:
        undo.input = fact.input


def compensation_waived(run: Run, fact: f.CompensationWaived) -> None:
    entry = run.ledger[_close(run, fact.operation, "waived").of]
    entry.state = "committed"
    entry.undone_by = ""
    entry.waived = run.recheck = True
    run.foreseen_from = run.version


def _close(run: Run, key: str, state: UndoState) -> Undo:
    undo = run.undos[key]
    run.undos_open.pop(key, None)
    run.parked.pop(key, None)
    if run.undo_running == key:
        run.undo_running = ""
    undo.state = state
    return undo
