"""Messages in the words of a story; those about a step find its operation and its latest attempt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.breakpoints import Breakpoints
from midcourse.domain.budget import Budget
from midcourse.domain.goal import Goal
from midcourse.domain.plan import Author, GoalReached, NoPlan, Plan, Step
from midcourse.domain.receipt import Receipt

from .kit import START_AT, Story, Telling


def start(*steps: str | Step, planner: str = "", **fields: Any) -> Telling:
    """Start with a person's plan of these steps; without any, with the planner ``p`` to ask."""
    plan = plan_of(steps) if steps else None
    goal = Goal("g", {"n": 1})
    return m.StartRun(
        at=START_AT, goal=goal, lineage="run", planner=planner or ("" if steps else "p"), plan=plan, **fields
    )


def planned(*steps: str | Step, **fields: Any) -> list[Telling]:
    """A run whose planner has answered with these steps."""
    return [start(**fields), proposes(*steps)]


def plan_of(steps: Iterable[str | Step], undo: Iterable[str] = (), reason: str = "") -> Plan:
    named = [Step(tool_name=each) if isinstance(each, str) else each for each in steps]
    return Plan(named, tuple(undo), reason)


def proposes(
    *steps: str | Step,
    by: Author = "planner",
    undo: Iterable[str] = (),
    epoch: int | None = None,
    reason: str = "",
) -> Telling:
    """A proposal from the present epoch, or another; ``undo`` names steps."""

    def message(story: Story) -> m.Message:
        keys = [story.key(each) if each in story.run.steps else each for each in undo]
        return m.ProposePlan(
            at=story.at,
            epoch=story.run.epoch if epoch is None else epoch,
            plan=plan_of(steps, keys, reason),
            author=by,
        )

    return message


def no_plan(reason: str = "no way", *, give_up: bool = False, epoch: int | None = None) -> Telling:
    return lambda story: m.AnswerNoPlan(
        at=story.at, epoch=_asked(story) if epoch is None else epoch, answer=NoPlan(reason, give_up)
    )


def goal_reached(reason: str = "all is there", *, epoch: int | None = None) -> Telling:
    return lambda story: m.AnswerGoalReached(
        at=story.at, epoch=_asked(story) if epoch is None else epoch, answer=GoalReached(reason)
    )


def planning_fails(message: str = "the model is down") -> Telling:
    return lambda story: m.ReportPlanningFailure(
        at=story.at, epoch=_asked(story), failure=f.Failure("planner", message), retry_after_s=2.0
    )


def _asked(story: Story) -> int:
    assert story.run.asked is not None
    return story.run.asked.epoch


def succeeds(step: str, result: Any = "ok", *, attempt: int | None = None, **receipt: Any) -> Telling:
    return lambda story: m.ReportSuccess(**_token(story, step, attempt), receipt=Receipt(result, **receipt))


def fails(
    step: str,
    message: str = "no",
    *,
    retry_after_s: float | None = None,
    attempt: int | None = None,
    no_effect: bool = False,
) -> Telling:
    return lambda story: m.ReportFailure(
        **_token(story, step, attempt),
        failure=f.Failure("tool_error", message),
        retry_after_s=retry_after_s,
        no_effect=no_effect,
    )


def is_lost(step: str, why: str = "timeout", *, attempt: int | None = None, details: Any = None) -> Telling:
    return lambda story: m.ReportLost(**_token(story, step, attempt), why=why, details=details)


def asks_replan(
    step: str,
    reason: str = "elsewhere",
    *,
    receipt: Receipt | None = None,
    no_effect: bool = False,
    attempt: int | None = None,
    **updates: Any,
) -> Telling:
    return lambda story: m.ReportReplan(
        **_token(story, step, attempt), reason=reason, updates=updates, receipt=receipt, no_effect=no_effect
    )


def probe_says(
    step: str, happened: bool | None, *, receipt: Receipt | None = None, attempt: int | None = None
) -> Telling:
    return lambda story: m.ReportProbe(
        **_token(story, step, attempt), happened=happened, receipt=receipt, why="saw it"
    )


def _token(story: Story, step: str, attempt: int | None) -> dict[str, Any]:
    key = story.key(step)
    latest = story.run.attempts.get(key, 0)
    return {"at": story.at, "operation": key, "attempt": latest if attempt is None else attempt}


def later(seconds: float) -> Telling:
    def message(story: Story) -> m.Message:
        story.at += seconds
        return m.Advance(at=story.at)

    return message


def signal(name: str = "news", payload: Any = None, *, id: str = "", relevant: bool = True) -> Telling:
    return lambda story: m.ReceiveSignal(at=story.at, name=name, payload=payload, id=id, relevant=relevant)


def cancel(reason: str = "enough") -> Telling:
    return lambda story: m.RequestCancel(at=story.at, reason=reason)


def replan(reason: str = "look again") -> Telling:
    return lambda story: m.RequestReplan(at=story.at, reason=reason)


def settles(
    step: str, *, happened: bool, receipt: Receipt | None = None, reason: str = "I looked"
) -> Telling:
    return lambda story: m.SettleOutcome(
        at=story.at, operation=story.key(step), happened=happened, receipt=receipt, reason=reason
    )


def retries(step: str) -> Telling:
    return lambda story: m.RetryCompensation(at=story.at, operation=story.key(step), reason="again")


def waives(step: str, reason: str = "let it be") -> Telling:
    return lambda story: m.WaiveCompensation(at=story.at, operation=story.key(step), reason=reason)


def taken_up(*planners: str) -> Telling:
    return lambda story: m.Activate(at=story.at, planners=frozenset(planners))


def takes_back(step: str) -> Telling:
    """A person wants what a step committed undone."""
    return lambda story: m.RequestCompensation(
        at=story.at, operation=story.key(step), reason="it is too much"
    )


def caught_up() -> Telling:
    return lambda story: m.CatchUp(at=story.at)


def pauses(reason: str = "lunch") -> Telling:
    return lambda story: m.PauseRun(at=story.at, reason=reason)


def unpauses(reason: str = "") -> Telling:
    return lambda story: m.UnpauseRun(at=story.at, reason=reason)


def allows(**budget: Any) -> Telling:
    """Other limits hold from here on."""
    return lambda story: m.ChangeBudget(at=story.at, budget=Budget(**budget), reason="go on")


def waits(step: str, **wait: Any) -> Telling:
    """The tool of a step is to be called again later."""
    return lambda story: m.ReportSuspended(**_token(story, step, None), **wait)


def answers(step: str, value: Any = None, *, decline: bool = False) -> Telling:
    return lambda story: m.AnswerQuestion(
        at=story.at, actor="os:alice", step=step, value=value, decline=decline
    )


def finds(verdict: str, reason: str = "", **said: Any) -> Telling:
    """Whoever is asked first has an opinion."""

    def message(story: Story) -> m.Message:
        key = next(iter(story.run.consulting))
        return m.ReportOpinion(at=story.at, key=key, verdict=verdict, reason=reason, **said)

    return message


def reviews(step: str, verdict: str, reason: str = "") -> Telling:
    return lambda story: m.DecideReview(
        at=story.at, actor="os:alice", step=step, verdict=verdict, reason=reason
    )


def breaks(*steps: str, on_error: bool = False) -> Telling:
    """The run is held at these places from here on."""
    return lambda story: m.SetBreakpoints(
        at=story.at, actor="os:alice", breakpoints=Breakpoints(steps, on_error)
    )


def releases(step: str) -> Telling:
    return lambda story: m.ReleaseStep(at=story.at, actor="os:alice", step=step)


def injects(step: str, result: Any, reason: str = "") -> Telling:
    return lambda story: m.InjectResult(
        at=story.at, actor="os:alice", step=step, result=result, reason=reason
    )
