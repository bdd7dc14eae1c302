"""A planner was asked while an open step went on: its question is void once that step is in doubt."""

from __future__ import annotations

from typing import Any

from midcourse.domain import facts as f
from midcourse.domain.orders import Execute, MakePlan

from .kit import Story, given, like, step
from .tellings import asks_replan, fails, is_lost, later, planned, proposes, settles, taken_up

OPEN: dict[str, Any] = {"needs": (), "on_replan": "adopt"}


def asked(tool: str) -> Story:
    """A is in flight and goes on; the planner is asked, for B wants another plan."""
    return given(
        *planned(step(tool, "A", **OPEN), step("look", "B", needs=())), asks_replan("B", no_effect=True)
    )


def test_after_a_restart_it_is_not_asked_before_the_outcome_is_settled() -> None:
    story = asked("ship").when(taken_up("p"))
    assert [like(f.OutcomeUnknown)] == story.new
    story.when(taken_up("p")).then_nothing()
    story.when(settles("A", happened=True)).then(
        like(f.OutcomeSettled), like(f.PlanRequested), like(MakePlan)
    )


def test_after_a_restart_it_is_asked_once_the_open_step_goes_on() -> None:
    story = asked("reserve").when(taken_up("p"))
    story.then(
        like(f.AttemptLost), like(f.AttemptStarted), like(f.PlanRequested), like(Execute), like(MakePlan)
    )


def test_while_the_open_step_waits_for_another_attempt_a_plan_is_stale_and_counts_for_nothing() -> None:
    story = asked("reserve").when(is_lost("A"))
    assert [like(f.AttemptFailed)] == story.new
    story.when(proposes("look")).then(like(f.PlanProposed), like(f.ProposalRejected, code="stale"))
    assert story.run.refused == 0
    story.when(later(1.0)).then(like(f.AttemptStarted), like(f.PlanRequested), like(Execute), like(MakePlan))


def test_an_open_step_that_fails_for_good_leaves_no_doubt_and_the_planner_is_asked_anew() -> None:
    story = asked("reserve")
    epoch = story.run.epoch
    story.when(fails("A"))
    assert like(f.StepFailed, step="A") == story.new[0]
    story.when(proposes("look", epoch=epoch))
    assert like(f.ProposalRejected, code="stale") == story.new[1]
    assert like(f.PlanRequested) == story.new[2]
