"""What facts about child runs change."""

from __future__ import annotations

from .. import facts as f
from ..children import PLAN_AND_EXECUTE, TAKE_BACK, Parent
from ..family import Child
from ..ledger import Operation
from ..receipt import Receipt
from ..run import Run
from .steps import commit, take


def child_started(run: Run, fact: f.ChildStarted) -> None:
    first = run.running[fact.of or fact.operation].first
    run.children[fact.operation] = run.family[fact.operation] = Child(
        fact.child, fact.operation, fact.attempt, fact.step, fact.goal, fact.of, fact.digest, fact.depth,
        first, fact,
    )  # fmt: skip
    if fact.of:
        _begin_within(run, fact, run.running[fact.of])


def _begin_within(run: Run, fact: f.ChildStarted, owner: Operation) -> None:
    """Note an operation of its own for the child of a tool: it commits by itself, and finishes no step."""
    run.closed.pop(fact.operation, None)
    run.running[fact.operation] = Operation(
        fact.operation, fact.step, PLAN_AND_EXECUTE, fact.input, fact.digest, "reversible", TAKE_BACK, True,
        "", owner.deadline, fact.attempt, fact.attempt, run.version, is_left=True, on_replan=owner.on_replan,
    )  # fmt: skip
    run.attempts[fact.operation] = fact.attempt


def child_ended(run: Run, fact: f.ChildEnded) -> None:
    child = run.children.pop(fact.operation)
    child.terms = None
    child.state, child.result, child.failure, child.kept = fact.status, fact.result, fact.failure, fact.kept
    if not child.of:
        return  # what follows for its step is a fact of its own
    operation = take(run, fact.operation)
    if fact.status == "completed":
        commit(run, operation, receipt_of(fact.child, fact.result), fact.attempt)
    else:
        run.closed[fact.operation] = operation
        run.orphans.discard(fact.operation)


def receipt_of(child: str, result: object) -> Receipt:
    """Return the receipt of a child run that is completed."""
    return Receipt(result, undo_input={"run": child})


def take_back_requested(run: Run, fact: f.TakeBackRequested) -> None:
    assert run.parent is not None  # noqa: S101 - a journal where a run without a parent is taken back is corrupt
    run.taken_back = Parent(run.parent.run, fact.operation, fact.attempt, run.parent.step, run.parent.depth)
    if run.final == "completed":
        run.final = run.outcome = None
