"""What the state of a run calls for by itself, one thing at a time, until nothing is left to do now."""

from __future__ import annotations

from .. import facts as f
from ..briefing import brief
from ..orders import Execute, MakePlan
from ..run import Operation, Run
from ..tools import Catalog
from . import compensation
from .admission import admit
from .decision import NOTHING, Decision
from .replan import request_replan


def advance(run: Run, catalog: Catalog, at: float) -> Decision:
    """Return the next thing that is due, or nothing.

    The order is a law: what is in flight is known before anything is planned, what is to be undone is undone before
    anything new is started, and a plan that is owed holds up every step of the old one.
    """
    if run.final is not None:
        return _after_the_end(run, catalog, at)
    if run.backoff:
        again = _try_again(run, catalog, at)
        if again.facts:
            return again
    if run.unwinding is not None:
        return _unwind(run, catalog, at)
    if run.undos_open:
        return compensation.start_next(run, catalog, at)
    if run.broken is not None:
        failure = run.broken
        return (
            Decision(request_replan(run, "failure", failure.message, failure.step, failure.tool))
            if run.author == "planner"
            else Decision((f.UnwindingBegan("failed", failure),))
        )
    if run.stuck or run.missing:
        return NOTHING
    if run.owed is not None or (run.revision == 0 and not run.goal_found):
        return _ask(run, catalog, at)
    if run.ready:
        return admit(run, run.steps[next(iter(run.ready))], catalog, at)
    if run.unmet or run.running or run.backoff or run.unknown or run.parked:
        return NOTHING
    return _complete(run)


def _try_again(run: Run, catalog: Catalog, at: float) -> Decision:
    """Start the next attempt of an operation whose wait is over."""
    due = next((each for each in run.backoff.values() if each.retry_at <= at), None)
    if due is None:
        return NOTHING
    if catalog.get(due.tool) is None:
        return NOTHING if due.tool in run.missing else Decision((f.PartMissing("tool", due.tool),))
    if run.unwinding is not None and due.effect == "irreversible":
        return _leave_to_a_person(due)
    order = Execute(due.key, due.attempt + 1, due.tool, due.input, due.step, due.details, due.deadline)
    return Decision((f.AttemptStarted(due.key, due.attempt + 1),), (order,), due.version)


def _leave_to_a_person(operation: Operation) -> Decision:
    why = "the run is being undone, and repeating it to learn its outcome could have the effect now"
    return Decision((f.OutcomeUnknown(operation.key, operation.attempt, why),), (), operation.version)


def _unwind(run: Run, catalog: Catalog, at: float) -> Decision:
    """Undo what can be undone, then end the run as what it unwinds to."""
    unwinding = run.unwinding
    if unwinding is None or run.running or run.backoff:
        return NOTHING
    if run.reversible:
        cause = "cancel" if unwinding.status == "cancelled" else "failure"
        return Decision(compensation.issue(run, run.reversible.values(), catalog, cause))
    if run.undos_open:
        return compensation.start_next(run, catalog, at)
    if run.unknown or run.parked:
        return NOTHING
    if unwinding.status == "cancelled":
        return Decision((f.RunCancelled(unwinding.failure.message),))
    return Decision((f.RunFailed(unwinding.failure),))


def _after_the_end(run: Run, catalog: Catalog, at: float) -> Decision:
    """A receipt that came after a run was undone is undone as well."""
    if run.unwinding is not None and run.reversible:
        return Decision(compensation.issue(run, run.reversible.values(), catalog, "late"))
    return compensation.start_next(run, catalog, at) if run.undos_open else NOTHING


def _ask(run: Run, catalog: Catalog, at: float) -> Decision:
    """Ask the planner, once everything in flight is known."""
    if run.asked is not None or run.running or run.backoff or run.unknown:
        return NOTHING
    if run.plan_retry_at is not None and run.plan_retry_at > at:
        return NOTHING
    if run.refused >= run.limits.proposals:
        return Decision((f.RunStuck(f"stuck: {run.refused} proposals in a row were refused"),))
    if not run.planner:
        return Decision((f.RunStuck("stuck: a plan is owed and the run has no planner"),))
    reason = run.owed.reason if run.owed is not None else "start"
    requested = f.PlanRequested(run.epoch, run.planner, reason)
    return Decision((requested,), (MakePlan(run.planner, brief(run, catalog)),))


def _complete(run: Run) -> Decision:
    last = next((run.results[step] for step in reversed(run.order) if step in run.results), None)
    return Decision((f.RunCompleted(last),))
