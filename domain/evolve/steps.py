"""What facts about steps, operations and their attempts change."""

from __future__ import annotations

from typing import Any

from .. import facts as f
from ..ids import split_key
from ..receipt import Receipt
from ..run import Committed, Operation, Run


def step_started(run: Run, fact: f.StepStarted) -> None:
    key = fact.operation
    run.closed.pop(key, None)
    run.running[key] = Operation(
        key=key, step=fact.step, tool=fact.tool, input=fact.input, digest=fact.digest, effect=fact.effect,
        undo=fact.undo, idempotent=fact.idempotent, takes_back=fact.takes_back, attempt=fact.attempt,
        deadline=fact.deadline, version=run.version,
    )  # fmt: skip
    run.attempts[key] = fact.attempt
    run.ready.pop(fact.step, None)
    run.started.add(fact.step)
    if not fact.takes_back:
        _count_intent(run, key)


def _count_intent(run: Run, key: str) -> None:
    """Keep the position among equal intents of this tail, and the next number nobody used."""
    intent, n = split_key(key)
    if n >= run.tail_n.get(intent, 0):
        run.tail_n[intent] = n + 1
    if n >= run.next_n.get(intent, 0):
        run.next_n[intent] = n + 1


def attempt_started(run: Run, fact: f.AttemptStarted) -> None:
    operation = _take(run, fact.operation)
    operation.attempt = run.attempts[fact.operation] = fact.attempt
    operation.version = run.version
    run.running[fact.operation] = operation


def attempt_failed(run: Run, fact: f.AttemptFailed) -> None:
    operation = _take(run, fact.operation)
    operation.retry_at = fact.retry_at
    operation.doubt |= fact.failure.kind == "timeout"
    run.backoff[fact.operation] = operation


def attempt_lost(run: Run, fact: f.AttemptLost) -> None:
    operation = _take(run, fact.operation)
    operation.lost += 1
    operation.doubt = True
    operation.retry_at = 0.0
    operation.details = fact.details
    run.backoff[fact.operation] = operation


def outcome_unknown(run: Run, fact: f.OutcomeUnknown) -> None:
    operation = _take(run, fact.operation)
    operation.probing = fact.probing
    operation.details = fact.details
    run.unknown[fact.operation] = operation


def probe_failed(run: Run, fact: f.ProbeFailed) -> None:
    run.unknown[fact.operation].probing = False


def outcome_settled(run: Run, fact: f.OutcomeSettled) -> None:
    if fact.happened:
        operation = _take(run, fact.operation)
        _commit(run, operation, fact.receipt or Receipt())
    else:
        operation = run.unknown.pop(fact.operation)
        operation.retry_at = 0.0
        operation.doubt = False
        target = run.closed if run.unwinding or run.owed else run.backoff
        target[fact.operation] = operation


def step_completed(run: Run, fact: f.StepCompleted) -> None:
    _commit(run, _take(run, fact.operation), fact.receipt)


def receipt_arrived_late(run: Run, fact: f.ReceiptArrivedLate) -> None:
    _commit(run, _take(run, fact.operation), fact.receipt)


def _commit(run: Run, operation: Operation, receipt: Receipt) -> None:
    entry = run.ledger[operation.key] = Committed(operation, receipt, run.version)
    if operation.effect == "reversible":
        run.reversible[operation.key] = entry
    if operation.takes_back:
        undone = run.ledger[operation.takes_back]
        undone.state, undone.undone_by = "undone", operation.key
        run.reversible.pop(operation.takes_back, None)
    if operation.step in run.unmet:
        _finish(run, operation.step, operation.key, receipt.result)


def step_satisfied(run: Run, fact: f.StepSatisfied) -> None:
    undo = run.undos.get(fact.operation)
    if undo is None:
        _count_intent(run, fact.operation)
    run.ready.pop(fact.step, None)
    run.started.add(fact.step)
    entry = run.ledger.get(fact.operation)
    _finish(run, fact.step, fact.operation, entry.receipt.result if entry else None)


def _finish(run: Run, step: str, operation: str, result: Any) -> None:
    run.done[step] = operation
    run.results[step] = result
    del run.unmet[step]
    run.ready.pop(step, None)
    for dependent in run.needed_by.pop(step, ()):
        run.unmet[dependent] -= 1
        if not run.unmet[dependent]:
            run.ready[dependent] = None


def step_failed(run: Run, fact: f.StepFailed) -> None:
    if fact.operation:
        run.closed[fact.operation] = _take(run, fact.operation)
    run.ready.pop(fact.step, None)
    run.started.add(fact.step)
    run.failures.append(fact.failure)
    if fact.step in run.unmet and not run.owed and not run.unwinding:
        run.broken = fact.failure


def _take(run: Run, key: str) -> Operation:
    """Remove an operation from wherever it stands."""
    for place in (run.running, run.backoff, run.unknown, run.closed):
        operation = place.pop(key, None)
        if operation is not None:
            return operation
    raise KeyError(key)
