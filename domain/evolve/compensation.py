"""What facts about undoing change."""

from __future__ import annotations

from .. import facts as f
from ..run import Run, Undo, UndoState


def compensation_issued(run: Run, fact: f.CompensationIssued) -> None:
    undo = Undo(
        key=fact.operation,
        of=fact.of,
        tool=fact.tool,
        input=fact.input,
        cause=fact.cause,
        version=run.version,
    )
    undo.attempt = run.attempts.get(fact.operation, 0)
    undo.first = undo.attempt + 1
    run.undos[fact.operation] = run.undos_open[fact.operation] = undo
    run.reversible.pop(fact.of, None)
    run.ledger[fact.of].state = "undoing"
    run.ledger[fact.of].undone_by = fact.operation


def compensation_started(run: Run, fact: f.CompensationStarted) -> None:
    undo = run.undos[fact.operation]
    undo.state = "running"
    run.undo_running = fact.operation
    undo.attempt = run.attempts[fact.operation] = fact.attempt
    undo.version = run.version


def compensation_failed(run: Run, fact: f.CompensationFailed) -> None:
    undo = run.undos[fact.operation]
    undo.state = "backoff"
    run.undo_running = ""
    undo.retry_at = fact.retry_at
    undo.failure = fact.failure


def compensation_lost(run: Run, fact: f.CompensationLost) -> None:
    undo = run.undos[fact.operation]
    undo.state = "backoff"
    run.undo_running = ""
    undo.first += 1
    undo.retry_at = 0.0


def compensation_completed(run: Run, fact: f.CompensationCompleted) -> None:
    undo = _close_undo(run, fact.operation, "done")
    run.ledger[undo.of].state = "undone"


def compensation_parked(run: Run, fact: f.CompensationParked) -> None:
    undo = run.parked[fact.operation] = _close_undo(run, fact.operation, "parked")
    undo.failure = fact.failure


def compensation_retried(run: Run, fact: f.CompensationRetried) -> None:
    undo = run.undos_open[fact.operation] = run.parked.pop(fact.operation)
    undo.state = "issued"
    undo.first = undo.attempt + 1


def compensation_waived(run: Run, fact: f.CompensationWaived) -> None:
    undo = _close_undo(run, fact.operation, "waived")
    run.ledger[undo.of].state = "committed"


def _close_undo(run: Run, key: str, state: UndoState) -> Undo:
    undo = run.undos[key]
    run.undos_open.pop(key, None)
    run.parked.pop(key, None)
    if run.undo_running == key:
        run.undo_running = ""
    undo.state = state
    return undo
