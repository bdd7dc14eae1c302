"""Handlers of stuck runs: asked in order, once for the same reason on the same state, before a person is.

They are asked as reviewers are. One that asks for another plan goes the one way in which that is asked for,
and what it adds to the board goes there first. One that cannot be asked, or answers nonsense, is named, and
the run is left to a person: nobody knows what it would have said.
"""

from __future__ import annotations

from .. import facts as f
from ..briefing import brief, goal
from ..ids import digest
from ..opinions import FAILED, Consultation
from ..orders import Consult
from ..run import Run
from ..tools import Catalog
from .decision import NOTHING, Decision
from .replan import request_replan, state_of


def go_on(run: Run, catalog: Catalog) -> Decision:
    """Ask the next handler that was not asked for this reason on this state, if there is one.

    What is owed is read from the state: a run that was stuck before its engine had handlers is asked about,
    too. One without replans left is for a person, since no handler can ask for another plan there.
    """
    if not catalog.on_stuck or run.unhelped or run.is_helped or run.replans >= run.limits.replans:
        return NOTHING
    mark = _mark(run)
    for who in catalog.on_stuck:
        key = f"stuck/{who}/{mark}"
        said = run.opinions.get(key)
        if said is None or not said.by:  # it answered when the run was not stuck any more
            asked = f.ConsultationRequested(key, "stuck", who, run.stuck)
            return Decision((asked,), (order_of(run, asked, catalog),))
    return NOTHING


def order_of(run: Run, asked: f.ConsultationRequested, catalog: Catalog) -> Consult:
    """Return the order that asks a handler."""
    context = brief(run, catalog)
    about = Consultation(
        run.id, "stuck", goal(run), context.ledger, stuck=run.stuck, failure=run.stuck_on, context=context
    )
    return Consult(asked.key, asked.who, about)


def _mark(run: Run) -> str:
    """Return what two times of being stuck share, if nothing has changed between them.

    A failure counts by its kind: planners word the same one differently each time.
    """
    if run.stuck_on is not None:
        why = [run.stuck_on.kind]
    elif run.owed is not None:
        why = [run.owed.cause, run.owed.reason, run.owed.tool]
    else:
        why = [run.stuck]
    return digest([why, *state_of(run)])


def problem_of(run: Run, given: f.OpinionGiven) -> str:
    """Return why an answer of a handler cannot be taken up; nothing where it can."""
    if given.updates and given.verdict != "plan":
        return f"it answered {given.verdict!r} with updates, which only go with 'plan'"
    if given.verdict in ("fail", "cancel") and not given.reason:
        return f"it answered {given.verdict!r} without a reason; say why"
    if given.verdict == "plan" and run.author == "human":
        return "it asked for another plan, and a plan by a person never replans by itself; propose one"
    if given.verdict == "plan" and not run.planner:
        return "it asked for another plan, and the run has no planner"
    return ""


def act(run: Run, given: f.OpinionGiven) -> list[f.Fact]:
    """Return what follows from the answer of a handler, in the append that records it."""
    told = f"{given.by}: {given.reason}" if given.reason else f"{given.by} has it planned again"
    match given.verdict:
        case "plan":
            board = [f.BoardUpdated(given.updates)] if given.updates else []
            return [*board, *request_replan(run, "stuck", told, updates=given.updates)]
        case "fail":
            return [f.UnwindingBegan("failed", f.Failure("stuck", told))]
        case "cancel":
            return [f.CancelRequested(told), f.UnwindingBegan("cancelled", f.Failure("cancelled", told))]
    assert given.verdict in ("pass", FAILED)  # noqa: S101 - whoever takes an answer has looked at it
    return []
