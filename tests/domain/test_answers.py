"""What becomes of a planner's answer that is no plan."""

from __future__ import annotations

from midcourse.domain import facts as f
from midcourse.domain.orders import MakePlan

from .kit import failure, given, has, like
from .tellings import (
    fails,
    goal_reached,
    later,
    no_plan,
    planned,
    planning_fails,
    proposes,
    replan,
    signal,
    start,
    succeeds,
)


def test_no_plan_at_the_start_fails_the_run_with_the_reason() -> None:
    given(start()).when(no_plan("the goal cannot be reached")).then(
        f.NoPlanFound(1, "the goal cannot be reached"),
        f.UnwindingBegan("failed", f.Failure("no_plan", "the goal cannot be reached")),
        f.RunFailed(f.Failure("no_plan", "the goal cannot be reached")),
    )


def test_no_plan_later_on_is_stuck_and_waits_for_a_person() -> None:
    given(*planned("reserve", "look"), succeeds("E0"), fails("E1")).when(no_plan()).then(
        like(f.NoPlanFound), f.RunStuck("no way", f.Failure("no_plan", "no way"))
    )


def test_no_plan_after_news_is_stuck_though_nothing_was_done() -> None:
    given(start(), signal(), no_plan(epoch=1)).when(no_plan()).then(like(f.NoPlanFound), like(f.RunStuck))


def test_a_planner_that_gives_up_ends_the_run_and_what_was_done_is_undone() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1")).when(no_plan(give_up=True))
    assert story.new[:3] == [
        like(f.NoPlanFound, give_up=True),
        f.UnwindingBegan("failed", f.Failure("no_plan", "no way")),
        like(f.CompensationIssued, of=story.key("E0"), cause="failure"),
    ]


def test_the_goal_is_reached() -> None:
    story = given(*planned("reserve", "look", "ship"), succeeds("E0"), fails("E1"))
    story.when(goal_reached("it is there")).then(
        like(f.GoalFound, reason="it is there"), f.RunCompleted("ok", "it is there")
    )
    assert story.run.order == ["E0"]
    assert [*story.run.steps] == ["E0"]


def test_the_goal_is_reached_before_anything_was_planned() -> None:
    given(start()).when(goal_reached()).then(like(f.GoalFound), f.RunCompleted(None, "all is there"))


def test_a_stale_no_plan_is_recorded_as_it_was_and_the_planner_is_asked_again() -> None:
    story = given(start(), signal()).when(no_plan("no way", epoch=1))
    story.then(f.NoPlanFound(1, "no way", stale=True), f.PlanRequested(3, "p", "start"), like(MakePlan))
    assert story.run.refused == 1


def test_a_stale_goal_reached_ends_nothing() -> None:
    story = given(start(), signal()).when(goal_reached(epoch=1))
    story.then(f.GoalFound(1, "all is there", stale=True), like(f.PlanRequested, epoch=3), like(MakePlan))
    assert story.run.goal_found is None


def test_stale_answers_of_any_kind_count_as_refused() -> None:
    story = given(start(limits=f.Limits(proposals=2)), signal(), no_plan(epoch=1), signal())
    story.when(goal_reached(epoch=3)).then(
        like(f.GoalFound, stale=True),
        like(f.RunStuck, reason=has("2 answers", "stale"), failure=failure("refused", "changed meanwhile")),
    )


def test_an_answer_to_a_question_that_is_not_open_is_nothing() -> None:
    for answer in (no_plan(epoch=7), goal_reached(epoch=7)):
        given(start()).when(answer).then_nothing()
        given(*planned("look")).when(answer).then_nothing()


def test_a_planner_that_fails_is_asked_again_after_a_while() -> None:
    story = given(start()).when(planning_fails())
    story.then(f.PlanningFailed(1, f.Failure("planner", "the model is down"), 102.0))
    story.when(later(1.9)).then_nothing()
    story.when(later(0.1)).then(f.PlanRequested(1, "p", "start"), like(MakePlan))


def test_a_planner_that_fails_too_often_at_the_start_fails_the_run() -> None:
    story = given(start(limits=f.Limits(planning_attempts=2)), planning_fails(), later(2.0))
    story.when(planning_fails("still down")).then(
        f.PlanningFailed(1, f.Failure("planner", "still down")),
        f.UnwindingBegan("failed", f.Failure("planner", "still down")),
        like(f.RunFailed),
    )


def test_a_planner_that_fails_too_often_later_on_is_stuck_and_news_reset_the_count() -> None:
    story = given(*planned("look", limits=f.Limits(planning_attempts=1)), fails("E0"))
    story.when(planning_fails()).then(
        like(f.PlanningFailed, retry_at=None), f.RunStuck("the model is down", failure("planner"))
    )
    story.when(signal()).then(like(f.SignalReceived), like(f.PlanRequested), like(MakePlan))
    assert story.run.planning_failures == 0


def test_failures_in_a_row_are_counted_until_a_plan_is_accepted() -> None:
    story = given(start(), planning_fails(), later(2.0))
    assert story.run.planning_failures == 1
    story.when(proposes("look"))
    assert story.run.planning_failures == 0


def test_a_failure_of_a_question_that_is_not_open_is_nothing() -> None:
    story = given(start())
    failed = story.message(planning_fails())
    story.when(proposes("look")).when(failed).then_nothing()


def test_no_time_is_waited_for_once_the_plan_came_from_a_person() -> None:
    story = given(start(), planning_fails(), proposes("look", by="human"))
    assert story.run.plan_retry_at is None


def test_a_person_asking_again_gets_a_stuck_run_going_with_fresh_counts() -> None:
    story = given(*planned("look", limits=f.Limits(planning_attempts=1)), fails("E0"), planning_fails())
    story.when(replan("try the other model")).then(
        like(f.ReplanRequested, cause="person", reason="try the other model"),
        like(f.PlanRequested, reason="try the other model"),
        like(MakePlan),
    )
    assert (story.run.stuck, story.run.planning_failures) == ("", 0)
