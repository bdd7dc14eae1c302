"""What becomes of a proposal: stale, invalid, in conflict, or the next revision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from .. import facts as f
from .. import messages as m
from ..approvals import Approval
from ..briefing import next_id
from ..diff import stability
from ..errors import MessageRefused
from ..held import Held
from ..ids import digest
from ..orders import CancelPlanning, Order
from ..plan import Author, Plan
from ..run import Run
from ..tools import Catalog
from . import approvals, compensation, reviews
from .authority import plan_needs_approval, problems_of_planned
from .decision import NOTHING, Decision
from .delivery import unserved
from .in_flight import adopted
from .laps import is_lap, is_unchanged
from .operations import literal_conflicts
from .preconditions import guarded
from .relisting import leave_out_done
from .replan import request_replan
from .validation import normalize, problems_of


class Draft(NamedTuple):
    """A proposal as it is judged and recorded.

    Args:
        plan: the new tail.
        mark: the digest it is recognised by.
        relisted: done steps that it listed again as they are.
    """

    plan: Plan
    mark: str
    relisted: tuple[str, ...]

    def proposed(self, author: Author, epoch: int) -> f.PlanProposed:
        """Return the fact that it arrived."""
        return f.PlanProposed(epoch, author, self.mark, self.plan, self.relisted)


def propose(run: Run, message: m.ProposePlan, catalog: Catalog) -> Decision:
    """Judge a proposal: is its epoch current, is it valid, does it contradict the ledger?

    One by a person, made while steps are in flight, waits until they are known; no other begins meanwhile.
    """
    if message.author == "human":
        _check_person_may_propose(run)
    elif run.final is not None or run.unwinding is not None or _is_repeated(run, message.epoch):
        return NOTHING
    draft = prepare(run, message.plan, catalog)
    proposed = draft.proposed(message.author, message.epoch)
    if message.author == "planner" and is_lap(run):
        return _propose_lap(run, message, draft, catalog)
    return _propose(run, message, draft, proposed, catalog)


def _propose_lap(run: Run, message: m.ProposePlan, draft: Draft, catalog: Catalog) -> Decision:
    """A planner that was asked after a step: its plan stands, or it asks for another, and has it."""
    if message.epoch == run.epoch and is_unchanged(run, draft.plan):
        return Decision((f.PlanConfirmed(message.epoch),))
    proposed = draft.proposed(message.author, message.epoch)
    rest = _propose(run, message, draft, proposed, catalog)
    if any(isinstance(fact, f.ProposalRejected) for fact in rest.facts):
        return rest
    reason = draft.plan.reason or "what was observed calls for another plan"
    asked = request_replan(run, "observation", reason)
    is_accepted = any(isinstance(fact, f.PlanAccepted) for fact in rest.facts)
    if not is_accepted or any(isinstance(fact, f.RunStuck) for fact in asked):
        return Decision(asked)  # reviewers and people look at a plan that was made knowing that one is owed
    return Decision((*asked, *rest.facts), rest.orders)


def _propose(
    run: Run, message: m.ProposePlan, draft: Draft, proposed: f.PlanProposed, catalog: Catalog
) -> Decision:
    code, problems = _stale(run, message)
    if not problems:
        code, problems = _judge(run, proposed, catalog, _awaited(run, message.author))
    if problems:
        return Decision((proposed, f.ProposalRejected(draft.mark, message.epoch, code, tuple(problems))))
    if message.author == "planner" and catalog.plan_reviewers:
        return Decision((proposed, reviews.ask_about_plan(proposed, catalog)))
    why = plan_needs_approval(run, draft.plan, message.author, catalog)
    if why:
        return Decision((proposed, approvals.ask_for_plan(run, draft.mark, message.epoch, why, catalog)))
    orders: tuple[Order, ...] = ()
    if message.author == "human" and run.asked is not None:
        orders = (CancelPlanning(run.asked.epoch),)
    if message.author == "human" and run.is_draining:
        held = f.ProposalHeld(draft.mark, message.epoch)
        return Decision((*_replaced(run), *_hold(run, draft.plan), proposed, held), orders)
    return Decision((*_replaced(run), proposed, *revise(run, proposed, catalog)), orders)


def _hold(run: Run, plan: Plan) -> list[f.Fact]:
    """Have no step of the present plan begin while a person's proposal waits for those in flight."""
    reason = plan.reason or "a person proposes another plan"
    if run.owed is not None:
        return [f.ReplanJoined("person", reason)]
    return request_replan(run, "person", reason, is_answered=True)


def _replaced(run: Run) -> list[f.Fact]:
    """Reject a person's proposal that waits, for a later one that was made knowing of it."""
    if run.held is None:
        return []
    problem = "a later proposal took its place while it waited for steps in flight"
    return [f.ProposalRejected(run.held.proposal.digest, run.held.proposal.epoch, "replaced", (problem,))]


def take_up(run: Run, held: Held, catalog: Catalog) -> Decision:
    """Judge a person's proposal again, now that what was in flight when it was made is known.

    A step in flight that it lists to have it kept may be done by now: it is left out, and keeps its place.
    """
    proposed = held.proposal
    rest, done = leave_out_done(run, proposed.plan)
    if done:
        proposed = msgspec.structs.replace(proposed, plan=rest, relisted=(*proposed.relisted, *done))
    if run.foreseen_from > held.version:
        code: f.RejectionCode = "stale"
        problems: Sequence[str] = (
            "more has happened than the outcomes of what was in flight when it was made: look again",
        )
    else:
        code, problems = _judge(run, proposed, catalog)
    if problems:
        return Decision((f.ProposalRejected(proposed.digest, proposed.epoch, code, tuple(problems)),))
    return Decision(revise(run, proposed, catalog))


def take_up_reviewed(run: Run, held: Held, catalog: Catalog) -> Decision:
    """Go on with a proposal that waits for its reviewers, if its epoch is still current."""
    proposed = held.proposal
    if run.epoch > held.version or run.is_draining:
        problem = "more has happened while it was being reviewed: plan anew"
        return Decision((f.ProposalRejected(proposed.digest, proposed.epoch, "stale", (problem,)),))
    following = reviews.next_of_plan(run, held, catalog)
    if following is not None:
        return following
    why = plan_needs_approval(run, proposed.plan, proposed.author, catalog)
    if why:
        asked = approvals.ask_for_plan(run, proposed.digest, proposed.epoch, why, catalog)
        return Decision((asked,), (), held.version)
    return Decision(revise(run, proposed, catalog), (), held.version)


def take_up_approved(run: Run, approval: Approval, catalog: Catalog) -> Decision:
    """Accept a proposal that a person approved, once nothing is in flight; its epoch is still current."""
    if not approval.by or approval.proposal is None or run.is_draining:
        return NOTHING
    return Decision(revise(run, approval.proposal, catalog), (), approval.version)


def _is_repeated(run: Run, epoch: int) -> bool:
    """Whether an answer comes again, or answers a question that a person has answered.

    What answers a question that is void, since something in flight became unknown, is told that it is stale.
    """
    if run.owed is not None and run.is_draining:
        return False
    return epoch == run.epoch and (run.asked is None or run.asked.epoch != epoch)


def _check_person_may_propose(run: Run) -> None:
    if run.final is not None or run.unwinding is not None:
        raise MessageRefused(f"run {run.id} has ended or is being undone and takes no other plan")


def prepare(run: Run, plan: Plan, catalog: Catalog) -> Draft:
    """Return a proposal as it is judged and recorded.

    Its steps are numbered, its tools have their full names, and what is done and listed again is left out.
    """
    tail, relisted = leave_out_done(run, normalize(plan, catalog, next_id(run)))
    return Draft(tail, digest([tail, relisted] if relisted else tail), relisted)


def _stale(run: Run, message: m.ProposePlan) -> tuple[f.RejectionCode, Sequence[str]]:
    """Return why a proposal does not know the run as it is, or nothing where it does.

    A planner is asked when nothing is in flight, so it knows all there is. A person looks at a run that goes
    on: what they can know of a step in flight is that it will end, one way or the other. So outcomes of what
    was in flight make their proposal no older; a step begun since, or news from outside, does.
    """
    if message.author == "planner" and run.is_draining:
        return "stale", (
            "what was in flight when it was asked for is not known any more: wait, and plan anew",
        )
    oldest = run.foreseen_from if message.author == "human" else run.epoch
    if oldest <= message.epoch <= run.epoch:
        return "stale", ()
    problem = f"planned from epoch {message.epoch}, the run is at {run.epoch}: look again and plan anew"
    return "stale", (problem,)


def _awaited(run: Run, author: Author) -> frozenset[str]:
    """Return the steps in flight whose results a person's proposal may refer to: it waits for them."""
    if author != "human" or not run.is_draining:
        return frozenset()
    in_flight = (*run.running.values(), *run.backoff.values(), *run.unknown.values())
    return frozenset(operation.step for operation in in_flight)


def _judge(
    run: Run, proposed: f.PlanProposed, catalog: Catalog, awaited: frozenset[str] = frozenset()
) -> tuple[f.RejectionCode, Sequence[str]]:
    plan = proposed.plan
    problems = problems_of(run, plan, catalog, relisted=proposed.relisted, awaited=awaited)
    if problems:
        return "invalid", problems
    problems = tuple(unserved(run, plan, catalog))
    if problems:
        return "invalid", problems
    problems = literal_conflicts(run, plan, catalog, proposed.relisted)
    if problems:
        return "conflict", problems
    return "authority", problems_of_planned(run, plan, proposed.author, catalog)


def accept(run: Run, draft: Draft, author: Author, epoch: int, catalog: Catalog) -> list[f.Fact]:
    """Return the facts of a proposal that is the next revision at once."""
    proposed = draft.proposed(author, epoch)
    return [proposed, *revise(run, proposed, catalog)]


def revise(run: Run, proposed: f.PlanProposed, catalog: Catalog) -> list[f.Fact]:
    """Return the facts that make a proposal the next revision and take back what it says."""
    plan = proposed.plan
    open_steps = adopted(run, plan)
    moot = [reviews.left_by(run, each) for each in run.reviews.values()]
    counting = {fact.step for fact in moot if fact.verdict == "ok"}
    kept = tuple(step for step in run.order if step in run.done or step in counting)
    superseded = tuple(step for step in run.order if step not in kept and step not in open_steps)
    accepted = f.PlanAccepted(
        revision=run.revision + 1,
        author=proposed.author,
        digest=proposed.digest,
        kept=kept,
        added=tuple(step.id for step in plan.steps),
        superseded=superseded,
        undone=tuple(plan.undo),
        reason=plan.reason,
        stability=stability(
            [run.steps[step] for step in superseded],
            [each for each in plan.steps if each.id not in open_steps],
        ),
        adopted=tuple(open_steps),
        guarded=guarded(run, plan, catalog, open_steps),
    )
    undos = compensation.issue([run.ledger[key] for key in plan.undo], catalog, "plan")
    before, after = approvals.carry_over(run, plan, proposed.digest)
    return [*moot, *before, accepted, *after, *undos]
