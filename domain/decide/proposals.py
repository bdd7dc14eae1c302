"""What becomes of a planner's answer: stale, invalid, in conflict, or the next revision."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from .. import facts as f
from .. import messages as m
from ..briefing import next_id
from ..errors import MessageRefused, PlanInvalid
from ..ids import digest
from ..orders import CancelPlanning, Order
from ..plan import Author, Plan
from ..run import Run
from ..tools import Catalog
from . import compensation
from .decision import NOTHING, Decision
from .validation import literal_conflicts, normalize, problems_of


def start_run(run: Run, message: m.StartRun, catalog: Catalog) -> Decision:
    """Begin a run; a plan that cannot be used is refused before anything is recorded."""
    if run.version:
        raise MessageRefused(f"run {run.id} was started already")
    if message.plan is None and not message.planner:
        raise MessageRefused(f"run {run.id}: give it a plan or name a planner")
    started = f.RunStarted(
        message.goal, message.planner, message.mode, message.key, message.lineage, message.tags, message.limits,
        catalog.digest,
    )  # fmt: skip
    if message.plan is None:
        return Decision((started,))
    plan, problems = _checked(run, message.plan, catalog)
    if problems:
        raise PlanInvalid(problems)
    epoch = run.version + 1
    return Decision((started, *_accepted(run, plan, "human", epoch, catalog)))


def propose(run: Run, message: m.ProposePlan, catalog: Catalog) -> Decision:
    """Judge a proposal: is its epoch current, is it valid, does it contradict the ledger?"""
    if message.author == "human":
        _check_person_may_propose(run)
    elif run.final is not None or run.unwinding is not None or _unasked(run, message.epoch):
        return NOTHING
    plan = normalize(message.plan, catalog, next_id(run))
    if message.epoch != run.epoch:
        stale = f"planned from epoch {message.epoch}, the run is at {run.epoch}: look again and plan anew"
        return Decision(_rejected(message, plan, "stale", (stale,)))
    problems = problems_of(run, plan, catalog)
    if problems:
        return Decision(_rejected(message, plan, "invalid", problems))
    conflicts = literal_conflicts(run, plan, catalog)
    if conflicts:
        return Decision(_rejected(message, plan, "conflict", conflicts))
    orders: tuple[Order, ...] = ()
    if message.author == "human" and run.asked is not None:
        orders = (CancelPlanning(run.asked.epoch),)
    return Decision(_accepted(run, plan, message.author, message.epoch, catalog), orders)


def _unasked(run: Run, epoch: int) -> bool:
    """A repeated answer, or one to a question that is not open any more and was not overtaken."""
    return epoch == run.epoch and (run.asked is None or run.asked.epoch != epoch)


def _check_person_may_propose(run: Run) -> None:
    if run.final is not None or run.unwinding is not None:
        raise MessageRefused(f"run {run.id} has ended or is being undone and takes no other plan")
    in_flight = [*run.running, *run.backoff, *run.unknown]
    if in_flight:
        raise MessageRefused(
            f"run {run.id} has operations in flight ({', '.join(in_flight)}); propose again when they are settled"
        )


def _checked(run: Run, plan: Plan, catalog: Catalog) -> tuple[Plan, Sequence[str]]:
    normal = normalize(plan, catalog, next_id(run))
    return normal, problems_of(run, normal, catalog)


def plan_digest(plan: Plan) -> str:
    """Return what a proposal is recognised by."""
    return digest(msgspec.to_builtins(plan))


def _rejected(message: m.ProposePlan, plan: Plan, code: str, problems: Sequence[str]) -> tuple[f.Fact, ...]:
    mark = plan_digest(plan)
    return (
        f.PlanProposed(message.epoch, message.author, mark, plan),
        f.ProposalRejected(mark, message.epoch, code, tuple(problems)),  # type: ignore[arg-type]
    )


def _accepted(run: Run, plan: Plan, author: Author, epoch: int, catalog: Catalog) -> list[f.Fact]:
    mark = plan_digest(plan)
    kept = tuple(step for step in run.order if step in run.done)
    superseded = tuple(step for step in run.order if step not in run.done)
    added = tuple(step.id for step in plan.steps)
    return [
        f.PlanProposed(epoch, author, mark, plan),
        f.PlanAccepted(
            run.revision + 1, author, mark, kept, added, superseded, plan.undo, plan.reason,
            _stability(run, plan, superseded),
        ),
        *compensation.issue(run, (run.ledger[key] for key in plan.undo), catalog, "plan"),
    ]  # fmt: skip


def _stability(run: Run, plan: Plan, superseded: Sequence[str]) -> int:
    """Count the steps that differ, |π∖π′|+|π′∖π|, after Fox, Gerevini, Long and Serina, ICAPS 2006."""
    old = [(run.steps[step].tool_name, run.steps[step].input) for step in superseded]
    new = [(step.tool_name, step.input) for step in plan.steps]
    remaining = list(new)
    gone = 0
    for step in old:
        if step in remaining:
            remaining.remove(step)
        else:
            gone += 1
    return gone + len(remaining)


def no_plan(run: Run, message: m.AnswerNoPlan, _catalog: Catalog) -> Decision:
    """The planner found nothing: end what has nothing at stake, leave the rest to a person."""
    if _not_awaited(run, message.epoch):
        return NOTHING
    answer = message.answer
    found = f.NoPlanFound(message.epoch, answer.reason, answer.give_up)
    if message.epoch != run.epoch:
        return Decision((found,))
    failure = f.Failure("no_plan", answer.reason)
    return Decision((found, *_give_up_or_wait(run, failure, give_up=answer.give_up)))


def goal_reached(run: Run, message: m.AnswerGoalReached, _catalog: Catalog) -> Decision:
    """The planner finds nothing left to do."""
    if _not_awaited(run, message.epoch):
        return NOTHING
    if message.epoch != run.epoch:
        return Decision(
            (f.NoPlanFound(message.epoch, "found the goal reached, from a state that has changed since"),)
        )
    return Decision((f.GoalFound(message.epoch, message.answer.reason),))


def planning_failed(run: Run, message: m.ReportPlanningFailure, _catalog: Catalog) -> Decision:
    """The planner raised or answered nonsense: ask again, a limited number of times."""
    if _not_awaited(run, message.epoch):
        return NOTHING
    failed = run.planning_failures + 1
    if failed < run.limits.planning_attempts:
        retry_at = message.at + message.retry_after_s
        return Decision((f.PlanningFailed(message.epoch, message.failure, retry_at),))
    facts = _give_up_or_wait(run, message.failure, give_up=False)
    return Decision((f.PlanningFailed(message.epoch, message.failure), *facts))


def _not_awaited(run: Run, epoch: int) -> bool:
    return run.asked is None or run.asked.epoch != epoch


def _give_up_or_wait(run: Run, failure: f.Failure, *, give_up: bool) -> list[f.Fact]:
    nothing_at_stake = run.revision == 0 and not run.signal_count
    if give_up or nothing_at_stake:
        return [f.UnwindingBegan("failed", failure)]
    return [f.RunStuck(f"stuck: {failure.message}", failure)]
