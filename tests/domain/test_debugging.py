"""Breakpoints: a run is held, a person looks, and what they put in is a fact of its own."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain import facts as f
from midcourse.domain.breakpoints import Breakpoints
from midcourse.domain.errors import InvalidInputError, MessageRefused
from midcourse.domain.evolve import fold
from midcourse.domain.facts import Limits
from midcourse.domain.orders import Execute
from midcourse.domain.summary import attention, status, wake_at
from midcourse.domain.view import view

from .kit import Story, failure, given, like, step
from .tellings import (
    asks_replan,
    breaks,
    cancel,
    fails,
    injects,
    later,
    planned,
    proposes,
    releases,
    start,
    succeeds,
    taken_up,
)
from .test_controls import begun, call, control, over
from .test_controls_inside import plans, read_back


def held_at(*breakpoints: str, on_error: bool = False, **terms: Any) -> Any:
    return start("look", "reserve", "look", breakpoints=Breakpoints(breakpoints, on_error), **terms)


def states(story: Story) -> dict[str, str]:
    return {each.id: each.state for each in view(story.run).steps}


# -- before a step


def test_a_run_is_held_before_a_step_until_a_person_lets_it_go_on() -> None:
    story = given(held_at("E1")).when(succeeds("E0")).then(like(f.StepCompleted), f.StepHeld("E1"))
    assert (status(story.run), states(story)["E1"], wake_at(story.run)) == ("attention", "held", None)
    assert [(each.kind, each.subject) for each in attention(story.run)] == [("breakpoint", "E1")]
    story.when(later(60.0)).then_nothing()
    story.when(releases("E1")).then(f.StepReleased("E1"), like(f.StepStarted, step="E1"), like(Execute))
    story.when(succeeds("E1"))
    assert begun(story) == ["E2"]


def test_every_step_may_be_held() -> None:
    story = given(held_at("*"))
    for each in ("E0", "E1", "E2"):
        assert [*story.run.stops] == [each]
        story.when(releases(each)).when(succeeds(each))
    assert story.run.final == "completed"


def test_steps_in_flight_end_while_a_run_is_held_and_none_is_begun() -> None:
    steps = (step("look", "A", needs=()), step("look", "B", needs=()), step("look", "C", needs=("A",)))
    story = given(start(*steps, breakpoints=Breakpoints(("B",))))
    assert (begun(story), [*story.run.stops]) == (["A"], ["B"])
    story.when(succeeds("A")).then(like(f.StepCompleted))
    story.when(releases("B"))
    assert begun(story) == ["B", "C"]


@pytest.mark.parametrize("glob", ["C/do.1", "C/*.1", "*/do.1"])
def test_steps_of_bodies_are_held_by_their_paths(glob: str) -> None:
    story = given(start(over("a", "b"), breakpoints=Breakpoints((glob,)))).when(succeeds("C/do.0"))
    assert story.new[-1] == f.StepHeld("C/do.1")
    story.when(injects("C/do.1", "by hand"))
    assert story.run.outcome == {"count": 2, "results": ["ok", "by hand"]}


def test_a_control_step_may_be_held_and_skipped_as_a_whole() -> None:
    story = given(
        start(over("a"), step("look", "L", input={"n": "{{C.count}}"}), breakpoints=Breakpoints(("C",)))
    )
    story.when(injects("C", {"count": 7}))
    assert story.orders == [like(Execute, step="L", input={"n": 7})]


# -- results that a person puts in


def test_a_step_that_is_skipped_with_a_result_is_not_called() -> None:
    story = given(held_at("E1")).when(succeeds("E0")).when(injects("E1", {"id": 1}, "done by phone"))
    assert story.new == [
        f.ResultInjected("E1", {"id": 1}, "os:alice", "done by phone"), like(f.StepStarted, step="E2"),
    ]  # fmt: skip
    assert (states(story)["E1"], story.run.results["E1"]) == ("injected", {"id": 1})


def test_an_injected_result_is_no_receipt_and_is_never_undone() -> None:
    story = given(held_at("E1")).when(succeeds("E0")).when(injects("E1", {"id": 1})).when(fails("E2"))
    assert not any(isinstance(fact, f.CompensationIssued) for fact in story.facts)
    assert [entry.step for entry in story.run.ledger.values()] == ["E0"]
    assert [(each.id, each.operation, each.attempt) for each in view(story.run).steps if each.id == "E1"] == [
        ("E1", "", 0)
    ]
    assert story.run.final == "failed"


def test_a_later_plan_that_asks_for_what_was_skipped_has_it_done() -> None:
    story = given(*planned("reserve", "look", breakpoints=Breakpoints(("E0",)))).when(injects("E0", "x"))
    story.when(asks_replan("E1", no_effect=True)).when(proposes("reserve"))
    assert story.orders == [like(Execute, tool="user__reserve")]


def test_what_is_injected_is_of_the_person_who_did_it_and_can_be_read_again() -> None:
    story = given(held_at("E1")).when(succeeds("E0")).when(injects("E1", None))
    assert story.run.injected == {"E1": "os:alice"}
    read_back(story)


# -- after a failure


def test_a_run_is_held_after_a_step_failed_and_before_anything_follows() -> None:
    story = given(held_at(on_error=True)).when(succeeds("E0")).when(fails("E1", "gone", no_effect=True))
    story.then(like(f.StepFailed, step="E1"))
    [item] = attention(story.run)
    assert (item.kind, item.subject, item.detail) == (
        "breakpoint", "E1", "held after step E1 failed: gone",
    )  # fmt: skip
    story.when(releases("E1")).then(f.StepReleased("E1"), like(f.UnwindingBegan), like(f.RunFailed))


def test_a_failure_may_be_replaced_by_a_result() -> None:
    story = given(held_at(on_error=True)).when(succeeds("E0")).when(fails("E1", "gone", no_effect=True))
    story.when(injects("E1", "mended"))
    assert story.new[0] == f.ResultInjected("E1", "mended", "os:alice", had_failed=True)
    assert begun(story) == ["E2"]
    story.when(succeeds("E2"))
    assert story.run.final == "completed"
    assert [(each.step, each.message) for each in story.run.failures] == [("E1", "gone")]
    read_back(story)


def test_a_failure_in_a_body_may_be_replaced_where_it_happened() -> None:
    story = given(start(over("a", "b"), breakpoints=Breakpoints(on_error=True)))
    story.when(fails("C/do.0", "gone", no_effect=True)).when(injects("C/do.0", "mended"))
    assert begun(story) == ["C/do.1"]
    story.when(succeeds("C/do.1"))
    assert story.run.outcome == {"count": 2, "results": ["mended", "ok"]}


def test_a_failure_in_a_body_that_stands_is_held_again_at_the_step_around_it() -> None:
    story = given(start(over("a", "b"), breakpoints=Breakpoints(on_error=True)))
    story.when(fails("C/do.0", "gone", no_effect=True)).when(releases("C/do.0"))
    assert story.new == [
        f.StepReleased("C/do.0"),
        like(f.StepFailed, step="C", failure=failure("tool_error")),
    ]
    assert [*story.run.stops] == ["C"]
    story.when(injects("C", {"count": 0, "results": []}))
    assert story.run.final == "completed"
    read_back(story)


def test_a_failure_that_is_held_is_followed_by_that_of_another_item() -> None:
    body = [call("look", "A"), call("look", "B")]
    loop = control("map", over=["a", "b"], concurrency=2, do=body)
    story = given(start(loop, breakpoints=Breakpoints(on_error=True)))
    story.when(fails("C/do.1/A", "one")).when(fails("C/do.0/A", "zero"))
    assert [*story.run.stops] == ["C/do.1/A", "C/do.0/A"]
    story.when(releases("C/do.1/A")).then(f.StepReleased("C/do.1/A"))
    story.when(injects("C/do.0/A", "mended"))
    assert begun(story) == ["C/do.0/B"]
    story.when(succeeds("C/do.0/B"))
    assert story.new[-1] == like(f.StepFailed, step="C", failure=failure("tool_error", "item 1: one"))


def test_a_planner_is_asked_only_once_the_failure_stands() -> None:
    story = given(*planned("look", breakpoints=Breakpoints(on_error=True))).when(fails("E0", "gone"))
    story.then(like(f.StepFailed))
    story.when(releases("E0"))
    assert story.new[1] == like(f.ReplanRequested, cause="failure", reason="gone")


def test_a_failed_output_of_a_plan_in_a_plan_may_be_replaced() -> None:
    inner = plans(inner=(step("user__look", "A", input={"x": "{{input.no}}"}),))
    story = given(start(step("plan__inner", "P"), breakpoints=Breakpoints(on_error=True)), tools=inner)
    assert [*story.run.stops] == ["P/A"]
    story.when(injects("P/A", 1))
    assert story.run.final == "completed"


# -- and everything else


def test_a_run_that_is_held_can_be_cancelled_and_is_undone() -> None:
    story = given(held_at("E2")).when(succeeds("E0")).when(succeeds("E1")).when(cancel("seen enough"))
    assert story.orders[-1] == like(Execute, tool="user__release")
    story.when(succeeds("undo E1"))
    assert (story.run.final, story.run.stops) == ("cancelled", {})


def test_a_run_that_is_held_is_still_held_after_a_restart() -> None:
    story = given(held_at("E1")).when(succeeds("E0")).when(taken_up()).then_nothing()
    again = fold("run", story.facts)
    assert (again.stops, again.breakpoints) == ({"E1": None}, Breakpoints(("E1",)))


def test_another_plan_takes_the_place_of_what_was_held() -> None:
    story = given(*planned("look", "look", breakpoints=Breakpoints(("E1",)))).when(succeeds("E0"))
    story.when(proposes("reserve", by="human"))
    assert (story.run.stops, begun(story)) == ({}, ["E2"])


def test_breakpoints_may_be_set_and_cleared_on_the_way() -> None:
    story = given(start("look", "look", "look")).when(breaks("E1")).then(f.BreakpointsSet(("E1",)))
    story.when(succeeds("E0"))
    assert [*story.run.stops] == ["E1"]
    story.when(breaks()).when(releases("E1")).when(succeeds("E1")).when(succeeds("E2"))
    assert story.run.final == "completed"


def test_only_what_is_held_can_be_released_or_given_a_result() -> None:
    story = given(held_at("E1"))
    for message in (releases("E1"), injects("E1", 1)):
        with pytest.raises(MessageRefused, match=r"run run is not held at step 'E1' \(held: none\)"):
            story.when(message)


# -- how much at once


def test_a_run_may_begin_no_more_than_so_many_steps_at_a_time() -> None:
    steps = [step("look", name, needs=()) for name in "ABCD"]
    story = given(start(*steps, limits=Limits(steps_at_once=2)))
    assert begun(story) == ["A", "B"]
    story.when(succeeds("B"))
    assert begun(story) == ["C"]
    story.when(succeeds("A")).when(succeeds("C")).when(succeeds("D"))
    assert story.run.final == "completed"


def test_further_attempts_count_too_and_nothing_is_woken_for_them_before() -> None:
    steps = [step("look", name, needs=()) for name in "AB"]
    story = given(start(*steps, limits=Limits(steps_at_once=1))).when(fails("A", retry_after_s=1.0))
    assert (begun(story), wake_at(story.run)) == (["B"], None)
    story.when(later(5.0)).then_nothing()
    story.when(succeeds("B")).then(like(f.StepCompleted), like(f.AttemptStarted, attempt=2), like(Execute))


def test_calls_in_bodies_count_too() -> None:
    loop = step("map", "M", needs=(), input={"over": [1, 2, 3], "do": call("look"), "concurrency": 3})
    story = given(start(step("look", "A", needs=()), loop, limits=Limits(steps_at_once=2)))
    assert begun(story) == ["A", "M/do.0"]


def test_no_step_at_all_is_no_limit() -> None:
    with pytest.raises(InvalidInputError, match=r"limits\.steps_at_once is 0"):
        given(start("look", limits=Limits(steps_at_once=0)))
