"""A planner that looks again after every step: the same plan is no new revision."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain import facts as f
from midcourse.domain.evolve import fold
from midcourse.domain.orders import Execute, MakePlan
from midcourse.domain.tools import Catalog

from .kit import TOOLS, Story, given, has, like, step
from .tellings import (
    cancel,
    finds,
    goal_reached,
    no_plan,
    planning_fails,
    proposes,
    reviews,
    signal,
    start,
    succeeds,
    taken_up,
)

WATCHED = Catalog(TOOLS.values(), observers=frozenset("p"))


def watched(*tail: Any, **fields: Any) -> Story:
    return given(start(**fields), proposes(*(tail or ("look", "ship", "notify"))), tools=WATCHED)


def test_after_every_step_the_planner_is_asked_and_nothing_begins_before_it_answers() -> None:
    story = watched().when(succeeds("E0"))
    story.then(like(f.StepCompleted), like(f.PlanRequested, reason="a step was done"), like(MakePlan))
    assert story.orders[0].context.is_replanning  # type: ignore[attr-defined]


def test_the_same_plan_is_no_new_revision_and_counts_nowhere() -> None:
    story = watched().when(succeeds("E0"))
    story.when(proposes(step("ship", "S7"), step("notify", "S8"))).then(
        like(f.PlanConfirmed), like(f.StepStarted, step="E1"), like(Execute)
    )
    run = story.run
    assert (run.revision, run.replans, run.refused, run.planning_failures) == (1, 0, 0, 0)


def test_the_same_plan_may_call_its_steps_something_else_where_it_refers_to_them() -> None:
    tail = [
        step("reserve", "B", input={"n": 1}, needs=("A",)),
        step("ship", "C", input={"n": "{{B.id}}"}, needs=("A",)),
    ]
    again = [
        step("reserve", "E1", input={"n": 1}, needs=()),
        step("ship", "E2", input={"n": "{{E1.id}}"}, reasoning="because"),
    ]
    story = watched(step("look", "A", needs=()), *tail).when(succeeds("A")).when(proposes(*again))
    assert story.new[0] == like(f.PlanConfirmed)


@pytest.mark.parametrize(
    "change",
    [
        {"operation": "the second"},
        {"again": True},
        {"review": "person"},
        {"on_replan": "adopt"},
        {"timeout_s": 3.0},
        {"when_unapproved": "skip"},
    ],
    ids=str,
)
def test_a_plan_whose_steps_say_something_else_is_another_plan(change: dict[str, Any]) -> None:
    story = watched("look", "ship").when(succeeds("E0")).when(proposes(step("ship", "E1", **change)))
    assert like(f.PlanAccepted, revision=2) in story.new


def test_a_plan_whose_steps_wait_for_something_else_is_another_plan() -> None:
    tail = (step("ship", "E1", needs=()), step("notify", "E2", needs=()))
    story = watched().when(succeeds("E0")).when(proposes(*tail))
    assert like(f.PlanAccepted, revision=2) in story.new


def test_a_planner_looks_again_only_when_a_reviewed_step_is_known_to_be_good() -> None:
    steps = [step("look", "A", needs=(), review="person"), step("look", "B", needs=(), input={"n": 1})]
    story = watched(*steps, step("ship", "C", needs=("A", "B"))).when(succeeds("A")).when(succeeds("B"))
    assert not story.orders
    story.when(reviews("A", "ok")).then(
        like(f.OpinionGiven), like(f.StepReviewed), like(f.PlanRequested), like(MakePlan)
    )
    story.when(proposes(step("ship", "C", needs=("A", "B")))).then(
        like(f.PlanConfirmed), like(f.StepStarted), like(Execute)
    )


def test_another_plan_is_reviewed_only_once_it_was_made_knowing_that_one_is_owed() -> None:
    tools = Catalog(TOOLS.values(), observers=frozenset("p"), reviewers=frozenset("r"), plan_reviewers=("r",))
    story = given(start(), proposes("look", "ship"), finds("ok"), succeeds("E0"), tools=tools)
    story.when(proposes("notify")).then(
        like(f.ReplanRequested, cause="observation"), like(f.PlanRequested), like(MakePlan)
    )
    story.when(proposes("notify")).when(finds("ok"))
    assert (story.run.revision, story.run.refused) == (2, 0)


def test_another_plan_is_asked_for_through_the_one_path_and_is_the_next_revision() -> None:
    story = watched().when(succeeds("E0")).when(proposes("notify", reason="the goods are there"))
    story.then(
        like(f.ReplanRequested, cause="observation", reason="the goods are there"),
        like(f.PlanProposed),
        like(f.PlanAccepted, revision=2, kept=("E0",), superseded=("E1", "E2")),
        like(f.StepStarted),
        like(Execute),
    )
    assert story.run.replans == 1


def test_a_lap_that_undoes_something_is_another_plan() -> None:
    story = watched("reserve", "ship").when(succeeds("E0")).when(proposes("ship", undo=["E0"]))
    assert like(f.PlanAccepted, revision=2) in story.new


def test_an_invalid_answer_goes_back_to_the_planner() -> None:
    story = watched().when(succeeds("E0")).when(proposes("shp"))
    assert story.new[:2] == [like(f.PlanProposed), like(f.ProposalRejected, code="invalid")]
    assert story.orders == [like(MakePlan)]


def test_a_planner_that_cannot_be_asked_leaves_its_plan_standing() -> None:
    story = watched().when(succeeds("E0")).when(planning_fails("no light"))
    story.then(like(f.PlanConfirmed, reason=has("no light")), like(f.StepStarted, step="E1"), like(Execute))


def test_a_planner_that_finds_the_goal_reached_ends_the_run() -> None:
    story = watched().when(succeeds("E0")).when(goal_reached())
    assert story.new[-1] == like(f.RunCompleted)


def test_a_planner_that_finds_no_way_any_more_is_asked_for_another_plan() -> None:
    story = watched().when(succeeds("E0")).when(no_plan("the bridge is gone"))
    story.then(
        like(f.NoPlanFound),
        like(f.ReplanRequested, cause="observation", reason="the bridge is gone"),
        like(f.PlanRequested),
        like(MakePlan),
    )


def test_news_are_looked_at_before_the_next_step() -> None:
    story = watched().when(signal())
    story.when(succeeds("E0"))
    assert [type(fact) for fact in story.new].count(f.PlanRequested) == 1


def test_the_last_step_is_followed_by_no_lap() -> None:
    story = watched("look").when(succeeds("E0"))
    story.then(like(f.StepCompleted), like(f.RunCompleted))


def test_a_plan_by_a_person_is_not_looked_at_again() -> None:
    story = given(start("look", "ship", planner="p"), tools=WATCHED).when(succeeds("E0"))
    story.then(like(f.StepCompleted), like(f.StepStarted), like(Execute))


def test_what_is_in_flight_ends_before_the_planner_looks_again() -> None:
    steps = [step("look", name, needs=(), input={"n": name}) for name in "AB"]
    story = watched(*steps, step("ship", "C", needs=("A", "B"))).when(succeeds("A"))
    story.then(like(f.StepCompleted))
    story.when(succeeds("B")).then(like(f.StepCompleted), like(f.PlanRequested), like(MakePlan))


def test_a_lap_survives_the_process_and_a_cancel_reaches_it() -> None:
    story = watched().when(succeeds("E0")).when(taken_up("p"))
    assert story.orders == [like(MakePlan)]
    assert fold("run", story.facts).asked == story.run.asked
    story.when(cancel())
    assert story.new[-1] == like(f.RunCancelled)
