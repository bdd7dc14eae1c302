"""What the state of a run calls for by itself, one thing at a time, until nothing is left to do now."""

from __future__ import annotations

import msgspec

from .. import facts as f
from ..approvals import PLAN
from ..briefing import brief
from ..ids import undo_key
from ..ledger import Operation
from ..orders import Execute, Letter, MakePlan
from ..planning import Asker
from ..run import Run
from ..scopes import render_in
from ..templates import TemplateError
from ..tools import Catalog
from . import (
    approvals,
    compensation,
    controls,
    guiding,
    in_flight,
    limits,
    preconditions,
    proposals,
    reviews,
    stuck,
    waits,
)
from .admission import admit, template_failure
from .decision import NOTHING, Decision
from .delivery import check_coverage, delivered
from .laps import look_again
from .outcomes import end_without_receipt, failure_in, is_late, must_be_known_first, unknown
from .replan import request_replan
from .strays import undo_unwanted

MAX_REFUSED_ALIKE = 3
"""The same plan on the same state, refused for the same reasons: a planner that has not understood by then
will not."""


def advance(run: Run, catalog: Catalog, at: float) -> Decision:
    """Return the next thing that is due, or nothing.

    The order is a law: what is in flight is known before anything is planned, what is to be undone is undone
    before anything new is started, and a plan that is owed holds up every step of the old one.

    Args:
        run: the state.
        catalog: the tools of the engine that owns the run.
        at: the present time, in seconds since the epoch.
    """
    if run.undo_requests:
        return compensation.issue_requested(run, catalog)
    if run.final is not None:
        return _after_the_end(run, catalog, at)
    first = _before_all_else(run, catalog, at)
    if first is not None:
        return first
    if run.unwinding is not None:
        return _unwind(run, run.unwinding, catalog, at)
    if run.strays or run.undos_open or run.owed is not None:
        left = _leave(run, catalog, at)
        if left.facts or run.undos_open:
            return left
    if run.broken is not None or run.asking is not None:
        return _ask_anew(run)
    if run.stuck and run.held is None:
        return stuck.go_on(run, catalog)
    if run.owed is not None or (run.revision == 0 and run.goal_found is None):
        return _ask(run, catalog, at)
    return _go_on(run, catalog, at)


def _before_all_else(run: Run, catalog: Catalog, at: float) -> Decision | None:
    """Return what comes before anything is undone, planned or begun, or ``None`` where that may be."""
    if run.approvals and (void := approvals.void_outdated(run)):
        return Decision(void)
    if run.paused is not None or run.stops:
        return NOTHING
    if run.children and (stop := guiding.stop_next(run, at)).facts:
        return stop
    if run.budgets and (spent := limits.stop_where_spent(run, catalog, at)):
        return Decision(spent, limits.pause_children(run, spent))
    if run.reviews and (reviewed := reviews.go_on(run, catalog)).facts:
        return reviewed
    if run.exit is not None:
        left = controls.leave_by_exit(run, run.exit)
        if run.stuck and not left.facts:
            left = stuck.go_on(run, catalog)
        return left if left.facts else _try_again(run, catalog, at)
    if run.controls and (moved := controls.go_on(run)).facts:
        return moved
    if run.waits and (over := waits.end_next(run, at)).facts:
        return over
    if run.backoff and (again := _try_again(run, catalog, at)).facts:
        return again
    return None


def _leave(run: Run, catalog: Catalog, at: float) -> Decision:
    """Take back what a plan that is left, or was, is not to leave behind, and stop what is to be stopped."""
    if run.strays and (unwanted := undo_unwanted(run, catalog)).facts:
        return unwanted
    if run.owed is not None and run.running and (stop := in_flight.stop_next(run, run.owed)).facts:
        return stop
    return compensation.start_next(run, catalog, at) if run.undos_open else NOTHING


def _go_on(run: Run, catalog: Catalog, at: float) -> Decision:
    """Start the next step of the plan, unless what is known now says that a step to come cannot work."""
    if catalog.observers and (lap := look_again(run, catalog)) is not None:
        return lap
    if run.guarded and run.recheck and (broken := preconditions.first_broken(run, catalog)):
        return Decision(request_replan(run, "precondition", *broken))
    if run.ready:
        return _admit_next(run, catalog, at)
    if run.unmet or run.running or run.backoff or run.unknown or run.parked:
        return NOTHING
    return _complete(run)


def _try_again(run: Run, catalog: Catalog, at: float) -> Decision:
    """Start the next attempt of an operation whose wait is over, if it may have one."""
    waiting = run.backoff.values()
    due = next((each for each in waiting if waits.is_due(run, each, at) and _has_tool(run, each)), None)
    if due is None or run.is_full:
        return NOTHING
    if is_late(due, at):
        message = f"{due.tool} took longer than the timeout_s of step {due.step}"
        return end_without_receipt(due, failure_in(due, f.Failure("timeout", message)), catalog)
    if due.children and run.is_unwanted(due) and not due.in_doubt:
        failure = f.Failure("cancelled", "its plan was left while it waited for its child runs")
        return end_without_receipt(due, failure_in(due, failure), catalog)
    if must_be_known_first(run, due, catalog):
        why = "its plan is being left, and an attempt ended without an answer"
        return unknown(due, why, due.details, catalog)
    if catalog.get(due.tool) is None:
        return Decision((f.PartMissing("tool", due.tool),), (), due.version)
    board = dict(run.board) if run.board else {}
    letter = waits.first_letter(run, due.awaits)
    order = Execute(
        due.key, due.attempt + 1, due.tool, due.input, due.step, due.details, due.deadline, board,
        None if letter is None else Letter(letter.name, letter.payload), due.retry,
    )  # fmt: skip
    if letter is None:
        return Decision((f.AttemptStarted(due.key, due.attempt + 1),), (order,), due.version)
    started = f.AttemptStarted(due.key, due.attempt + 1, letter.name, letter.version)
    return Decision((started,), (order,), letter.version)


def _has_tool(run: Run, operation: Operation) -> bool:
    return ("tool", operation.tool) not in run.missing


def _unwind(run: Run, unwinding: f.UnwindingBegan, catalog: Catalog, at: float) -> Decision:
    """Undo what can be undone, then end the run as what it unwinds to.

    Attempts and probes come first. What only a person can settle holds up the end, but not the undoing of the
    rest.
    """
    if run.running or run.backoff or run.is_probing:
        return NOTHING
    if run.reversible and run.compensates:
        # A planned undo whose outcome is unknown is not issued a second time.
        entries = [each for each in run.reversible.values() if undo_key(each.key) not in run.unknown]
        if entries:
            cause = "cancel" if unwinding.status == "cancelled" else "failure"
            return Decision(compensation.issue(entries, catalog, cause))
    if run.undos_open:
        return compensation.start_next(run, catalog, at)
    if run.unknown or run.parked:
        return NOTHING
    if unwinding.status == "cancelled":
        return Decision((f.RunCancelled(unwinding.failure.message),))
    return Decision((f.RunFailed(unwinding.failure),))


def _after_the_end(run: Run, catalog: Catalog, at: float) -> Decision:
    """Undo an effect whose receipt came after its run was undone."""
    if run.unwinding is not None and run.reversible and run.compensates:
        return Decision(compensation.issue(run.reversible.values(), catalog, "late"))
    return compensation.start_next(run, catalog, at) if run.undos_open else NOTHING


def _ask_anew(run: Run) -> Decision:
    """A step failed, or its tool asks after every call; under a plan by a person the run has failed."""
    failure, asker = run.broken, run.asking
    if failure is not None and run.author != "planner":
        return Decision((f.UnwindingBegan("failed", failure),))
    if asker is None:
        assert failure is not None  # noqa: S101 - one of them is why this is asked
        asker = Asker("failure", failure.message, failure.step, failure.tool, failure.digest)
    elif failure is not None:
        asker = msgspec.structs.replace(asker, reason=f"{asker.reason}: {failure.message}")
    entry = run.ledger.get(run.done.get(asker.step, ""))
    found = entry.receipt.result if entry is not None and asker.cause == "tool" else None
    return Decision(
        request_replan(
            run, asker.cause, asker.reason, asker.step, asker.tool, input_digest=asker.input_digest,
            found=found, error_type=failure.error_type if failure is not None else "",
        )
    )  # fmt: skip


def _ask(run: Run, catalog: Catalog, at: float) -> Decision:
    """Ask the planner, once everything in flight is known; a person's plan that waits comes first."""
    if run.held is not None:
        return NOTHING if run.is_draining else proposals.take_up(run, run.held, catalog)
    if run.under_review is not None:
        return proposals.take_up_reviewed(run, run.under_review, catalog)
    if PLAN in run.approvals:
        return proposals.take_up_approved(run, run.approvals[PLAN], catalog)
    if not run.wants_plan or (run.plan_retry_at is not None and run.plan_retry_at > at):
        return NOTHING
    if run.refused_alike >= MAX_REFUSED_ALIKE or run.refused >= run.limits.proposals:
        return Decision((_stuck_on_refusals(run),))
    if not run.planner:
        return Decision((f.RunStuck("a plan is owed and the run has no planner"),))
    reason = run.owed.reason if run.owed is not None else "start"
    requested = f.PlanRequested(run.epoch, run.planner, reason)
    return Decision((requested,), (MakePlan(run.planner, brief(run, catalog)),))


def _stuck_on_refusals(run: Run) -> f.RunStuck:
    reason = f"{run.refused} answers in a row were stale or refused"
    if run.refused_alike >= MAX_REFUSED_ALIKE:
        reason = f"the same plan was refused {run.refused_alike} times in a row"
    problems = run.last_refusal.problems if run.last_refusal is not None else ()
    return f.RunStuck(reason, f.Failure("refused", "; ".join(problems) or "the run changed meanwhile"))


def _admit_next(run: Run, catalog: Catalog, at: float) -> Decision:
    if run.is_full:
        return NOTHING
    if not (run.missing or run.orphans or run.questions):
        return admit(run, run.steps[next(iter(run.ready))], catalog, at)
    for step_id in run.ready:
        step = run.steps[step_id]
        if ("tool", step.tool_name) not in run.missing and (admitted := admit(run, step, catalog, at)).facts:
            return admitted
    return NOTHING


def _complete(run: Run) -> Decision:
    if run.goal.requirements:
        open_ = check_coverage(run)
        if open_ is not None:
            return open_
    last = next((run.results[step] for step in reversed(run.order) if step in run.results), None)
    reason = run.goal_found.reason if run.goal_found is not None else ""
    if run.output is not None and run.goal_found is None:
        try:
            last = render_in(run, "", run.output)
        except TemplateError as error:
            return Decision((f.UnwindingBegan("failed", template_failure(error)),))
    return delivered(run, last, reason)
