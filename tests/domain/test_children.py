"""Child runs: what their parents decide about them, and what they decide about themselves."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.budget import Spent
from midcourse.domain.children import Parent
from midcourse.domain.decide.descent import report_of
from midcourse.domain.errors import MessageRefused
from midcourse.domain.goal import Goal
from midcourse.domain.orders import Execute, GuideChild, StartChild, TakeBackChild
from midcourse.domain.receipt import Receipt
from midcourse.domain.tools import Catalog

from .kit import TOOLS, Story, failure, given, has, like, step
from .tellings import (
    cancel,
    fails,
    is_lost,
    later,
    no_plan,
    pauses,
    planned,
    start,
    succeeds,
    taken_up,
    unpauses,
)

TOOLS_AND_PLANNER = Catalog(TOOLS.values(), planners=frozenset(("p",)))
TRIP = step("plan_and_execute", "trip", input={"query": "book", "inputs": {"n": 1}})
ABOVE = Parent("above", "op", 3, "trip", 1)


def parent_of(*steps: Any, **fields: Any) -> Story:
    return given(start(*(steps or (TRIP,)), **fields), tools=TOOLS_AND_PLANNER)


def child(story: Story, name: str = "") -> Any:
    """The only child run there is, or the one that a tool has named so."""
    return next(each for each in story.run.family.values() if each.operation.endswith(name))


def ends(status: Any = "completed", result: Any = None, **fields: Any) -> Any:
    """The child run ends, and says so to its parent."""

    def report(story: Story) -> m.ReportChild:
        known = child(story)
        return m.ReportChild(
            at=story.at, operation=known.operation, attempt=known.attempt, child=known.run, status=status,
            result=result, **fields,
        )  # fmt: skip

    return report


def begins(goal: str = "book", *, name: str = "one", **fields: Any) -> Any:
    """The tool that looks starts a child run."""

    def message(story: Story) -> m.BeginChild:
        operation = next(each for each in story.run.running.values() if each.tool == "user__look")
        return m.BeginChild(
            at=story.at,
            operation=operation.key,
            attempt=operation.attempt,
            name=name,
            goal=Goal(goal),
            **fields,
        )

    return message


# -- on the side of the parent


def test_a_step_that_plans_and_executes_starts_a_child_run_of_the_same_lineage() -> None:
    story = parent_of(mode="interactive", priority="high", actor="host:ada")
    assert story.new[-2:] == [
        like(f.StepStarted, step="trip"),
        like(f.ChildStarted, step="trip", planner="p"),
    ]
    assert story.orders == [
        like(
            StartChild, child=child(story).run, lineage="run", goal=Goal("book", {"n": 1}), planner="p",
            parent=Parent("run", story.key("trip"), 1, "trip", 1), mode="interactive", priority="high",
            by="host:ada", pause="",
        )
    ]  # fmt: skip


def test_its_end_is_that_of_the_attempt_and_its_undo_is_that_the_child_takes_back() -> None:
    story = parent_of(TRIP, "look").when(ends(result="b1"))
    story.then(
        f.ChildEnded(child(story).run, story.key("trip"), 1, "completed"),
        like(f.StepCompleted, step="trip", receipt=Receipt("b1", undo_input={"run": child(story).run})),
        like(f.StepStarted, step="E0"),
        like(Execute),
    )
    assert story.run.ledger[story.key("trip")].undo == "builtin__take_back"


def test_a_child_that_fails_fails_its_step_and_is_named() -> None:
    story = parent_of().when(ends("failed", failure="no seats"))
    story.then(
        like(f.ChildEnded, status="failed", failure=f"child run {child(story).run} failed: no seats"),
        like(f.StepFailed, step="trip", failure=failure("child", "failed: no seats")),
        like(f.UnwindingBegan, status="failed"),
        like(f.RunFailed),
    )


def test_a_report_that_comes_again_or_from_another_child_changes_nothing() -> None:
    story = parent_of(TRIP, "look").when(ends())
    story.when(lambda _: ends()(story)).then_nothing()
    other = parent_of().when(lambda s: m.ReportChild(
        at=s.at, operation=s.key("trip"), attempt=1, child="another", status="completed"
    ))  # fmt: skip
    other.then_nothing()


def test_what_a_child_has_used_up_counts_for_its_parent() -> None:
    story = parent_of().when(ends(spent=Spent(70, 0.5)))
    assert (story.run.tokens, story.run.cost) == (70, 0.5)


def test_a_cancel_stops_the_child_and_the_run_ends_after_it() -> None:
    story = parent_of("reserve", TRIP).when(succeeds("E0")).when(cancel("enough"))
    assert story.orders[-1] == like(GuideChild, child=child(story).run, stop="enough")
    assert [type(fact) for fact in story.new][-1] is f.AttemptStopRequested
    story.when(ends("cancelled", failure="enough"))
    assert story.new[:2] == [like(f.ChildEnded, status="cancelled"), like(f.StepFailed, step="trip")]
    assert story.orders == [like(Execute, tool="user__release")]


def test_a_child_that_was_complete_before_it_could_stop_is_taken_back() -> None:
    story = parent_of().when(cancel()).when(ends(result=1))
    assert story.orders == [
        TakeBackChild(child(story).run, f"undo/{story.key('trip')}", 1, has("its parent takes it back"))
    ]


def test_a_parent_that_fails_takes_back_a_child_in_its_place_among_the_effects() -> None:
    story = parent_of("reserve", TRIP, "charge", "ship").when(succeeds("E0")).when(ends())
    story.when(succeeds("E1")).when(fails("E2"))
    assert story.orders == [like(Execute, tool="user__refund")]
    story.when(succeeds("undo E1"))
    assert story.orders == [like(TakeBackChild, child=child(story).run)]
    story.when(takes_back_report("cancelled"))
    assert story.new[0] == like(f.CompensationCompleted, operation=f"undo/{story.key('trip')}")
    assert story.orders == [like(Execute, tool="user__release")]


def takes_back_report(status: Any, **fields: Any) -> Any:
    def report(story: Story) -> m.ReportChild:
        undo = story.run.undos[f"undo/{story.key('trip')}"]
        return m.ReportChild(
            at=story.at,
            operation=undo.key,
            attempt=undo.attempt,
            child=child(story).run,
            status=status,
            **fields,
        )

    return report


def test_a_child_that_cannot_undo_all_parks_the_undo_of_its_parent_and_holds_up_no_other() -> None:
    story = parent_of("reserve", TRIP, "ship").when(succeeds("E0")).when(ends()).when(fails("E1"))
    story.when(takes_back_report("parked", failure="b1: gone"))
    assert story.new[0] == like(
        f.CompensationParked, failure=failure("undo", child(story).run, "could not undo all it did: b1: gone")
    )
    assert story.orders == [like(Execute, tool="user__release")]


def test_the_next_process_starts_a_child_that_is_owed_under_the_same_id() -> None:
    story = parent_of()
    before = story.orders
    story.when(taken_up("p"))
    assert (story.new, story.orders) == ([], before)


def test_the_next_process_tells_a_child_again_that_it_is_to_stop_or_to_take_back() -> None:
    stopped = parent_of().when(cancel("enough")).when(taken_up("p"))
    assert stopped.orders == [like(GuideChild, stop="enough")]
    taken_back = parent_of(TRIP, "ship").when(ends()).when(fails("E0")).when(taken_up("p"))
    assert taken_back.orders == [like(TakeBackChild, attempt=1)]


def test_a_pause_and_its_end_reach_the_child() -> None:
    story = parent_of().when(pauses("lunch"))
    assert story.orders == [like(GuideChild, pause="lunch", stop="")]
    story.when(unpauses())
    assert story.orders == [like(GuideChild, pause="", stop="")]


def test_the_time_of_a_step_stops_its_child() -> None:
    late = step("plan_and_execute", "trip", input={"query": "book"}, timeout_s=60.0)
    story = parent_of(late).when(later(61.0))
    assert story.orders == [like(GuideChild, stop=has("longer than the timeout_s of step trip"))]
    story.when(ends("cancelled", failure="late"))
    assert story.new[1] == like(f.StepFailed, failure=failure("timeout"))


def test_a_plan_that_is_left_stops_a_child_that_says_cancel_and_waits_for_another() -> None:
    leaving = step("plan_and_execute", "trip", input={"query": "book"}, on_replan="cancel")
    story = given(*planned(leaving), tools=TOOLS_AND_PLANNER)
    story.when(lambda s: m.RequestReplan(at=s.at, reason="the flight is gone"))
    assert story.orders == [like(GuideChild, stop="the flight is gone")]
    waiting = given(*planned(TRIP), tools=TOOLS_AND_PLANNER)
    waiting.when(lambda s: m.RequestReplan(at=s.at, reason="the flight is gone"))
    assert waiting.orders == []


def test_terms_that_turn_out_wrong_when_they_are_rendered_fail_the_step() -> None:
    late = step("plan_and_execute", "trip", input={"query": "book", "inputs": "{{E0}}"})
    story = parent_of("look", late).when(succeeds("E0", 7))
    assert story.new[1] == like(
        f.StepFailed,
        step="trip",
        failure=failure("arguments", "Expected `object`, got `int`", "it takes: query"),
    )


# -- started by a tool


def test_a_tool_starts_a_child_run_and_asked_again_it_is_the_same() -> None:
    story = parent_of("look").when(begins("book", name="one"))
    story.then(
        like(f.ChildStarted, step="E0", goal=Goal("book"), planner="p"),
        like(StartChild, goal=Goal("book"), planner="p"),
    )
    story.when(begins("book", name="one")).then_nothing()


def test_under_one_name_a_tool_starts_one_thing() -> None:
    story = parent_of("look").when(begins("book", name="one"))
    with pytest.raises(MessageRefused, match="has started a child run 'one' for something else"):
        story.when(begins("fly", name="one"))
    story.when(begins("fly", name="two"))
    assert [each.goal.text for each in story.run.family.values()] == ["book", "fly"]


def test_the_child_of_a_tool_commits_by_itself_and_finishes_no_step() -> None:
    story = parent_of("look", "reserve").when(begins()).when(ends(result="b1"))
    story.then(like(f.ChildEnded, status="completed", result="b1"))
    assert story.run.ledger[child(story).operation].state == "committed"


def test_an_attempt_that_replaces_another_finds_the_same_child() -> None:
    story = parent_of("look").when(begins()).when(is_lost("E0"))
    story.when(later(10.0)).when(begins()).then_nothing()


def test_an_attempt_that_is_not_in_flight_starts_nothing() -> None:
    story = parent_of("look", "ship")
    stale = begins()(story)
    story.when(succeeds("E0"))
    with pytest.raises(
        MessageRefused, match="is not in flight as the step of a plan, and starts no child run"
    ):
        story.when(stale)


def test_a_run_that_is_cancelled_starts_no_child() -> None:
    story = parent_of("look").when(cancel())
    with pytest.raises(MessageRefused, match="is being left; it starts no child run"):
        story.when(begins())


# -- on the side of the child


def child_run(*steps: Any, **fields: Any) -> Story:
    return given(start(*steps, parent=ABOVE, **fields))


def test_a_child_that_is_told_to_stop_cancels_and_undoes_once() -> None:
    story = child_run("reserve", "ship").when(succeeds("E0"))
    guide = m.GuideRun(at=story.at, stop="the trip is off")
    story.when(guide)
    assert story.new[:2] == [
        f.CancelRequested("the trip is off"),
        like(f.UnwindingBegan, status="cancelled", failure=failure("cancelled", "the trip is off")),
    ]
    story.when(guide).then_nothing()


def test_a_child_pauses_with_its_parent_and_what_a_person_paused_stays_so() -> None:
    story = child_run("look").when(m.GuideRun(at=1.0, pause="lunch"))
    story.then(f.RunPaused("lunch", "parent"))
    story.when(m.GuideRun(at=1.0)).then(like(f.RunUnpaused))
    story.when(pauses("mine")).when(m.GuideRun(at=1.0)).then_nothing()


def test_a_complete_child_takes_back_what_it_did_once_for_each_attempt() -> None:
    story = child_run("reserve").when(succeeds("E0"))
    story.then(like(f.StepCompleted), like(f.RunCompleted))
    story.when(m.TakeBackRun(at=1.0, operation="undo/op", attempt=1, reason="off"))
    assert story.new[:2] == [
        f.TakeBackRequested("undo/op", 1, "off"),
        like(f.UnwindingBegan, failure=failure("taken_back", "off")),
    ]
    assert story.orders[-1] == like(Execute, tool="user__release")
    story.when(m.TakeBackRun(at=1.0, operation="undo/op", attempt=1, reason="off")).then_nothing()
    story.when(succeeds("undo E0")).then(like(f.CompensationCompleted), like(f.RunCancelled))


def test_a_run_without_a_parent_takes_nothing_back() -> None:
    with pytest.raises(MessageRefused, match="is no child run"):
        given(start("look")).when(m.TakeBackRun(at=1.0, operation="undo/op", attempt=1))


def test_what_a_child_tells_its_parent() -> None:
    story = child_run("ship")
    assert report_of(story.run, 1.0) is None
    story.when(succeeds("E0", "sent"))
    report = report_of(story.run, 1.0)
    assert report == like(
        m.ReportChild, operation="op", attempt=3, child="run", status="completed", result="sent", failure=""
    )
    assert report is not None
    assert [each.tool for each in report.kept] == ["user__ship"]


def test_a_child_that_fails_says_why() -> None:
    story = given(start(parent=ABOVE)).when(no_plan("no seats"))
    assert report_of(story.run, 1.0) == like(
        m.ReportChild, status="failed", failure=has("no seats"), result=None
    )
