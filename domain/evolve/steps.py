"""What facts about steps, operations and their attempts change."""

from __future__ import annotations

from typing import Any

from .. import facts as f
from ..frames import is_closed
from ..ids import is_undo, operation_key, split_key
from ..ledger import Committed, Operation
from ..plan import Step
from ..planning import Asker
from ..receipt import Receipt
from ..run import Run
from .bodies import leave, note_done, note_failed
from .mail import take_letter
from .reviews import begin_review


def step_started(run: Run, fact: f.StepStarted) -> None:
    key, step = fact.operation, run.steps[fact.step]
    run.closed.pop(key, None)
    run.running[key] = operation = Operation(
        key, fact.step, fact.tool, fact.input, fact.digest, fact.effect, fact.undo, fact.idempotent,
        fact.takes_back, fact.deadline, fact.attempt, fact.attempt, run.version,
    )  # fmt: skip
    if step.on_replan != "drain" or fact.replans:
        operation.on_replan, operation.replans = step.on_replan, fact.replans
    if fact.review:
        operation.review, operation.rounds = fact.review, fact.rounds
    operation.retry = fact.retry
    run.attempts[key] = fact.attempt
    run.calls[fact.tool] = run.calls.get(fact.tool, 0) + 1
    begin(run, fact.step)
    run.foreseen_from = run.epoch
    if not fact.takes_back:
        _count(run, step, key)


def begin(run: Run, step: str) -> None:
    run.ready.pop(step, None)
    run.started[step] = run.steps[step]
    run.recheck = False
    if run.guarded:
        run.guarded.pop(step, None)
    if run.approvals:
        run.approvals.pop(step, None)


def _count(run: Run, step: Step, key: str) -> None:
    """Note which number of its intent a step of the present tail has taken."""
    intent, n = split_key(key)
    if n >= run.next_n.get(intent, 0):
        run.next_n[intent] = n + 1
    first = run.tail_n.get(intent, 0)
    if n != first and (step.again or _passes_over(run, intent, first, n)):
        run.tail_again.add(key)
    else:
        run.tail_n[intent] = n + 1


def _passes_over(run: Run, intent: str, first: int, n: int) -> bool:
    """Whether a number before this one is left for a later step: its operation ended without effect."""
    keys = (operation_key(intent, each) for each in range(first, n))
    return any(key not in run.tail_again and key not in run.ledger for key in keys)


def attempt_started(run: Run, fact: f.AttemptStarted) -> None:
    operation = run.running[fact.operation] = take(run, fact.operation)
    operation.attempt = run.attempts[fact.operation] = fact.attempt
    operation.version = run.version
    operation.is_stopping = False
    if operation.is_suspended:
        operation.awaits, operation.is_suspended, operation.children = "", False, ()
        if fact.received:
            take_letter(run, fact.signal, fact.received)


def attempt_stop_requested(run: Run, fact: f.AttemptStopRequested) -> None:
    run.running[fact.operation].is_stopping = True
    child = run.children.get(fact.operation)
    if child is not None:
        child.state, child.stop = "stopping", fact.reason


def attempt_failed(run: Run, fact: f.AttemptFailed) -> None:
    operation = run.backoff[fact.operation] = take(run, fact.operation)
    operation.retry_at = fact.retry_at
    operation.doubt |= fact.doubt
    operation.details = fact.details
    run.asked = None  # what is planned while an open step is in doubt would be stale


def attempt_lost(run: Run, fact: f.AttemptLost) -> None:
    operation = run.backoff[fact.operation] = take(run, fact.operation)
    operation.lost += 1
    operation.doubt = True
    operation.retry_at = 0.0
    operation.details = fact.details
    run.asked = None


def outcome_unknown(run: Run, fact: f.OutcomeUnknown) -> None:
    operation = run.unknown[fact.operation] = take(run, fact.operation)
    operation.probing = fact.probing
    operation.why = fact.why
    operation.details = fact.details
    run.asked = None


def probe_failed(run: Run, fact: f.ProbeFailed) -> None:
    run.unknown[fact.operation].probing = False


def outcome_settled(run: Run, fact: f.OutcomeSettled) -> None:
    operation = take(run, fact.operation)
    if fact.happened:
        commit(run, operation, fact.receipt or Receipt(), operation.attempt if fact.receipt else 0)
        return
    operation.retry_at = 0.0
    operation.doubt = operation.probing = False
    if run.is_unwanted(operation):
        run.orphans.discard(fact.operation)
        run.closed[fact.operation] = operation
    else:
        run.backoff[fact.operation] = operation


def step_completed(run: Run, fact: f.StepCompleted) -> None:
    commit(run, take(run, fact.operation), fact.receipt, fact.attempt)


def receipt_arrived_late(run: Run, fact: f.ReceiptArrivedLate) -> None:
    entry = run.ledger.get(fact.operation)
    if entry is None:
        if fact.operation in run.closed:
            run.foreseen_from = run.version
        commit(run, take(run, fact.operation), fact.receipt, fact.attempt)
        return
    entry.late += (fact.attempt,)
    if entry.attempt == 0:
        entry.attempt, entry.receipt = fact.attempt, fact.receipt
        if run.done.get(entry.step) == entry.key:
            run.results[entry.step] = fact.receipt.result


def commit(run: Run, operation: Operation, receipt: Receipt, attempt: int) -> None:
    entry = run.ledger[operation.key] = Committed.of(operation, receipt, attempt, run.version)
    if operation.takes_back:
        undone = run.ledger[operation.takes_back]
        undone.state, undone.undone_by = "undone", operation.key
        run.reversible.pop(operation.takes_back, None)
        run.undo_requests.pop(operation.takes_back, None)
    elif operation.effect == "reversible":
        run.reversible[operation.key] = entry
    run.recheck = True
    if operation.key in run.orphans:
        run.orphans.discard(operation.key)
        if operation.key in run.reversible:
            run.strays[operation.key] = entry
    elif operation.step in run.unmet and not operation.is_left:
        who = operation.review or run.steps[operation.step].review
        if who and run.unwinding is None:
            begin_review(run, operation.step, operation.key, who, operation.rounds)
        else:
            finish(run, operation.step, operation.key, receipt.result)
        if operation.replans:
            _ask_anew(run, operation)


def _ask_anew(run: Run, operation: Operation) -> None:
    """Note that the tool of an operation asks for another plan after every call, whatever came of it."""
    if not run.is_leaving and run.asking is None:
        run.asking = Asker("tool", operation.replans, operation.step, operation.tool, operation.digest)


def step_satisfied(run: Run, fact: f.StepSatisfied) -> None:
    key = fact.operation
    if not is_undo(key):
        _count(run, run.steps[fact.step], key)
    begin(run, fact.step)
    run.foreseen_from = run.version
    run.strays.pop(key, None)
    who = fact.review or run.steps[fact.step].review
    if who and key in run.ledger and key not in run.passed:
        begin_review(run, fact.step, key, who, fact.rounds)
        return
    source = run.ledger.get(key) or run.undos.get(key)
    receipt = source.receipt if source is not None else None
    finish(run, fact.step, key, receipt.result if receipt is not None else None)


def finish(run: Run, step: str, operation: str, result: Any) -> None:
    run.done[step] = operation
    run.results[step] = result
    del run.unmet[step]
    run.ready.pop(step, None)
    if run.frame_of and step in run.frame_of:
        note_done(run, step)
    for dependent in run.needed_by.pop(step, ()):
        if dependent not in run.unmet:
            continue  # its plan has ended before it
        run.unmet[dependent] -= 1
        if not run.unmet[dependent] and not (run.frame_of and is_closed(run, dependent)):
            run.ready[dependent] = None


def step_failed(run: Run, fact: f.StepFailed) -> None:
    operation = None
    if fact.operation:
        operation = run.closed[fact.operation] = take(run, fact.operation)
        run.orphans.discard(fact.operation)
    if fact.step in run.unmet:
        begin(run, fact.step)
    run.failures.append(fact.failure)
    if run.controls.pop(fact.step, None) is not None:
        leave(run, fact.step)
    run.questions.pop(fact.step, None)
    if run.breakpoints is not None and run.breakpoints.on_error and _may_be_held(run, fact.step):
        run.stops[fact.step] = fact.failure
    else:
        follow_failure(run, fact.step, fact.failure, operation)


def _may_be_held(run: Run, step: str) -> bool:
    return step in run.unmet and not (run.is_leaving or run.exit is not None or is_closed(run, step))


def follow_failure(run: Run, step: str, failure: f.Failure, operation: Operation | None = None) -> None:
    """Let what a failure means for the body of its step, or for the whole plan, come about."""
    if run.frame_of and note_failed(run, step, failure):
        return
    if step in run.unmet and not run.is_leaving and run.broken is None and run.exit is None:
        run.broken = failure
        if operation is not None and operation.replans:
            _ask_anew(run, operation)


def step_skipped(run: Run, fact: f.StepSkipped) -> None:
    begin(run, fact.step)
    finish(run, fact.step, "", fact.default)
    run.foreseen_from = run.version
    run.skipped[fact.step] = fact.why
    if not fact.has_default:
        del run.results[fact.step]


def replan_rule_failed(run: Run, fact: f.ReplanRuleFailed) -> None:
    run.failures.append(fact.failure)
    review = run.reviews.get(fact.step)
    operation = run.done.get(fact.step) if review is None else review.operation
    if operation == fact.operation and not run.is_leaving and run.broken is None:
        run.broken = fact.failure


def take(run: Run, key: str) -> Operation:
    """Remove an operation from wherever it stands."""
    operation = run.running.pop(key, None)
    if operation is not None:
        return operation
    for place in (run.backoff, run.unknown, run.closed):
        operation = place.pop(key, None)
        if operation is not None:
            return operation
    raise KeyError(key)
