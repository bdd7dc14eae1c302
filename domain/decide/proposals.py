"""What becomes of a proposal: stale, invalid, in conflict, or the next revision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from .. import facts as f
from .. import messages as m
from ..briefing import next_id
from ..errors import MessageRefused
from ..ids import canonical, digest
from ..orders import CancelPlanning, Order
from ..plan import Author, Plan, Step
from ..run import Run
from ..tools import Catalog
from . import compensation
from .decision import NOTHING, Decision
from .operations import literal_conflicts
from .relisting import leave_out_done
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
    """Judge a proposal: is its epoch current, is it valid, does it contradict the ledger?"""
    if message.author == "human":
        _check_person_may_propose(run)
    elif run.final is not None or run.unwinding is not None or _is_repeated(run, message.epoch):
        return NOTHING
    draft = prepare(run, message.plan, catalog)
    code, problems = _judge(run, message, draft, catalog)
    if problems:
        proposed = draft.proposed(message.author, message.epoch)
        return Decision((proposed, f.ProposalRejected(draft.mark, message.epoch, code, tuple(problems))))
    orders: tuple[Order, ...] = ()
    if message.author == "human" and run.asked is not None:
        orders = (CancelPlanning(run.asked.epoch),)
    return Decision(accept(run, draft, message.author, message.epoch, catalog), orders)


def _is_repeated(run: Run, epoch: int) -> bool:
    """Whether an answer comes again, or answers a question that a person has answered."""
    return epoch == run.epoch and (run.asked is None or run.asked.epoch != epoch)


def _check_person_may_propose(run: Run) -> None:
    if run.final is not None or run.unwinding is not None:
        raise MessageRefused(f"run {run.id} has ended or is being undone and takes no other plan")
    in_flight = [*run.running, *run.backoff, *run.unknown]
    if in_flight:
        raise MessageRefused(
            f"run {run.id} has operations in flight ({', '.join(in_flight)}); "
            "propose again when they are settled"
        )


def prepare(run: Run, plan: Plan, catalog: Catalog) -> Draft:
    """Return a proposal as it is judged and recorded.

    Its steps are numbered, its tools have their full names, and what is done and listed again is left out.
    """
    tail, relisted = leave_out_done(run, normalize(plan, catalog, next_id(run)))
    return Draft(tail, digest([tail, relisted] if relisted else tail), relisted)


def _judge(
    run: Run, message: m.ProposePlan, draft: Draft, catalog: Catalog
) -> tuple[f.RejectionCode, Sequence[str]]:
    if message.epoch != run.epoch:
        return "stale", (
            f"planned from epoch {message.epoch}, the run is at {run.epoch}: look again and plan anew",
        )
    problems = problems_of(run, draft.plan, catalog, draft.relisted)
    if problems:
        return "invalid", problems
    return "conflict", literal_conflicts(run, draft.plan, catalog, draft.relisted)


def accept(run: Run, draft: Draft, author: Author, epoch: int, catalog: Catalog) -> list[f.Fact]:
    """Return the facts that make a proposal the next revision and take back what it says."""
    plan = draft.plan
    kept = tuple(step for step in run.order if step in run.done)
    superseded = tuple(step for step in run.order if step not in run.done)
    accepted = f.PlanAccepted(
        revision=run.revision + 1,
        author=author,
        digest=draft.mark,
        kept=kept,
        added=tuple(step.id for step in plan.steps),
        superseded=superseded,
        undone=tuple(plan.undo),
        reason=plan.reason,
        stability=stability([run.steps[step] for step in superseded], plan.steps),
    )
    undos = compensation.issue([run.ledger[key] for key in plan.undo], catalog, "plan")
    return [draft.proposed(author, epoch), accepted, *undos]


def stability(old: Sequence[Step], new: Sequence[Step]) -> int:
    """Return how many steps differ, |π∖π′|+|π′∖π|: M. Fox, A. Gerevini, D. Long, I. Serina, ICAPS 2006.

    Steps are the same if they call the same tool with the same input, whatever their ids.
    """
    if not old:
        return len(new)
    before = Counter(canonical([step.tool_name, step.input]) for step in old)
    after = Counter(canonical([step.tool_name, step.input]) for step in new)
    return (before - after).total() + (after - before).total()
