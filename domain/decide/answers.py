"""What becomes of a planner's answer that is no plan."""

from __future__ import annotations

from .. import facts as f
from .. import messages as m
from ..run import Run
from ..tools import Catalog
from .decision import NOTHING, Decision
from .laps import is_lap
from .replan import request_replan


def no_plan(run: Run, message: m.AnswerNoPlan, _catalog: Catalog) -> Decision:
    """The planner found nothing: end what has nothing at stake, leave the rest to a person."""
    if not _is_awaited(run, message.epoch):
        return NOTHING
    answer = message.answer
    stale = message.epoch != run.epoch
    found = f.NoPlanFound(message.epoch, answer.reason, answer.give_up, stale)
    if stale:
        return Decision((found,))
    if is_lap(run):
        return Decision((found, *request_replan(run, "observation", answer.reason)))
    failure = f.Failure("no_plan", answer.reason)
    return Decision((found, _give_up_or_wait(run, failure, give_up=answer.give_up)))


def goal_reached(run: Run, message: m.AnswerGoalReached, _catalog: Catalog) -> Decision:
    """The planner finds nothing left to do."""
    if not _is_awaited(run, message.epoch):
        return NOTHING
    return Decision((f.GoalFound(message.epoch, message.answer.reason, message.epoch != run.epoch),))


def planning_failed(run: Run, message: m.ReportPlanningFailure, _catalog: Catalog) -> Decision:
    """The planner raised or answered nonsense: ask again, a limited number of times."""
    if not _is_awaited(run, message.epoch):
        return NOTHING
    if is_lap(run):
        return Decision(
            (f.PlanConfirmed(message.epoch, f"it could not be asked: {message.failure.message}"),)
        )
    if run.planning_failures + 1 < run.limits.planning_attempts:
        retry_at = message.at + message.retry_after_s
        return Decision((f.PlanningFailed(message.epoch, message.failure, retry_at),))
    ended = _give_up_or_wait(run, message.failure, give_up=False)
    return Decision((f.PlanningFailed(message.epoch, message.failure), ended))


def _is_awaited(run: Run, epoch: int) -> bool:
    return run.asked is not None and run.asked.epoch == epoch


def _give_up_or_wait(run: Run, failure: f.Failure, *, give_up: bool) -> f.Fact:
    nothing_at_stake = run.revision == 0 and not run.news
    if give_up or nothing_at_stake:
        return f.UnwindingBegan("failed", failure)
    return f.RunStuck(failure.message, failure)
