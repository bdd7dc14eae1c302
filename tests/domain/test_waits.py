"""Steps and tools that wait for times and signals."""

from __future__ import annotations

import re
from typing import Any

import pytest

from midcourse.domain import facts as f
from midcourse.domain.errors import InvalidInputError, PlanInvalid
from midcourse.domain.evolve import fold
from midcourse.domain.orders import CancelPlanning, Execute, Letter, MakePlan, Probe
from midcourse.domain.summary import is_dormant, status, wake_at
from midcourse.domain.view import view
from midcourse.domain.waits import Wait, read

from .kit import START_AT, Story, failure, given, has, like, step
from .tellings import (
    asks_replan,
    cancel,
    later,
    pauses,
    planned,
    probe_says,
    proposes,
    replan,
    signal,
    start,
    succeeds,
    taken_up,
    unpauses,
    waits,
)

DAY_S = 86_400.0


def wait(id: str = "W", **input: Any) -> Any:
    return step("wait", id, input=input)


def waiting(**input: Any) -> Story:
    return given(*planned(wait(**input), step("look", "B")))


# -- steps


def test_a_run_that_waits_is_dormant_and_has_a_time() -> None:
    story = given(start()).when(proposes(wait(for_s=100 * DAY_S), step("look", "B")))
    assert story.new[-1] == f.WaitStarted("W", START_AT + 100 * DAY_S)
    assert story.orders == []
    assert (status(story.run), is_dormant(story.run)) == ("waiting", True)
    assert wake_at(story.run) == START_AT + 100 * DAY_S
    assert [(each.state, each.retry_at) for each in view(story.run).steps] == [
        ("waiting", START_AT + 100 * DAY_S), ("pending", None),
    ]  # fmt: skip


def test_a_wait_ends_once_at_its_time_and_not_before() -> None:
    story = waiting(for_s=10)
    story.when(later(9.9)).then_nothing()
    story.when(later(0.1)).then(
        f.WaitEnded("W", {"timed_out": False}), like(f.StepStarted, step="B"), like(Execute)
    )
    story.when(later(100.0)).then_nothing()


def test_a_wait_until_a_time_that_has_passed_ends_at_once() -> None:
    story = given(start()).when(proposes(wait(until="1970-01-01T00:01:35Z")))
    assert story.new[-2:] == [f.WaitEnded("W", {"timed_out": False}), like(f.RunCompleted)]


def test_a_wait_until_a_time_with_its_zone() -> None:
    assert read({"until": "1970-01-01T01:00:10+01:00"}, 0.0) == Wait(10.0)


def test_a_signal_that_comes_during_its_wait_ends_it() -> None:
    waiting(signal="paid").when(signal("paid", {"amount": 3}, id="s1")).then(
        like(f.SignalReceived),
        like(f.WaitEnded, result={"signal": "paid", "payload": {"amount": 3}, "timed_out": False}),
        like(f.StepStarted, step="B"),
        like(Execute),
    )


def test_a_signal_that_came_before_its_wait_ends_it_at_once() -> None:
    early = (signal("paid", n, relevant=False) for n in (1, 2))
    story = given(start(), *early).when(proposes(wait(signal="paid")))
    assert story.new[-2] == like(f.WaitEnded, result={"signal": "paid", "payload": 1, "timed_out": False})
    assert [letter.payload for letter in story.run.mail["paid"]] == [2]


def test_a_signal_that_comes_after_its_wait_is_kept_for_the_next_one() -> None:
    plan = (wait("W", signal="paid", timeout_s=5), step("look", "L"), wait("V", signal="paid"))
    story = given(*planned(*plan), later(5.0), signal("paid", "late"))
    story.when(succeeds("L")).then(
        like(f.StepCompleted),
        like(f.WaitStarted, step="V"),
        like(f.WaitEnded, step="V", result={"signal": "paid", "payload": "late", "timed_out": False}),
        like(f.RunCompleted),
    )


def test_each_signal_ends_one_wait_in_order() -> None:
    both = [step("wait", name, needs=(), input={"signal": "go"}) for name in ("A", "B")]
    story = given(*planned(*both)).when(signal("go", 1))
    assert [fact.step for fact in story.new if isinstance(fact, f.WaitEnded)] == ["A"]
    story.when(signal("go", 1, id="again")).when(signal("go", 1, id="again"))
    assert story.run.results["B"]["payload"] == 1
    assert story.run.mail == {}


def test_another_signal_ends_no_wait() -> None:
    story = waiting(signal="paid").when(signal("shipped")).then(like(f.SignalReceived))
    assert status(story.run) == "waiting"


def test_a_wait_for_a_signal_times_out() -> None:
    waiting(signal="paid", timeout_s=60).when(later(60.0)).then(
        f.WaitEnded("W", {"signal": "paid", "timed_out": True}),
        like(f.StepStarted, step="B"),
        like(Execute),
    )


def test_a_signal_written_by_another_process_is_taken_up_by_the_owner() -> None:
    story = waiting(signal="paid")
    story.take(f.SignalReceived("paid", 7))
    assert status(story.run) == "running"
    story.when(taken_up("p"))
    assert story.new[0] == like(f.WaitEnded, received=6)


def test_a_revision_that_changes_what_is_awaited_ends_the_old_timer_and_sets_the_new_one() -> None:
    story = waiting(for_s=100 * DAY_S)
    story.when(replan("sooner")).then(like(f.ReplanRequested), like(f.PlanRequested), like(MakePlan))
    assert wake_at(story.run) is None
    story.when(proposes(wait("V", for_s=DAY_S)))
    assert wake_at(story.run) == START_AT + DAY_S
    story.when(later(DAY_S))
    assert [fact.step for fact in story.facts if isinstance(fact, f.WaitEnded)] == ["V"]


def test_a_person_replaces_a_wait() -> None:
    story = waiting(for_s=100 * DAY_S).when(proposes(step("look", "N"), by="human"))
    story.then(
        like(f.PlanProposed),
        like(f.PlanAccepted, superseded=("W", "B")),
        like(f.StepStarted, step="N"),
        like(CancelPlanning) if story.run.asked else like(Execute),
    )
    assert (story.run.waits, wake_at(story.run)) == ({}, None)


def test_a_cancel_ends_a_wait() -> None:
    story = waiting(signal="paid").when(cancel())
    assert story.new[-1] == like(f.RunCancelled)
    assert wake_at(story.run) is None


def test_a_wait_under_a_pause_ends_after_it() -> None:
    story = waiting(for_s=10).when(pauses())
    assert wake_at(story.run) is None
    story.when(later(20.0)).then_nothing()
    story.when(unpauses())
    assert story.new[1] == like(f.WaitEnded)


def test_waits_survive_the_process_and_their_results_are_read_by_templates() -> None:
    plan = (wait(signal="paid"), step("ship", "S", input={"to": "{{W.payload.to}}"}))
    story = given(*planned(*plan)).when(taken_up("p")).then_nothing()
    story.when(signal("paid", {"to": "Oslo"}))
    assert story.orders == [like(Execute, input={"to": "Oslo"})]
    again = fold("run", story.facts)
    assert (again.results, again.mail) == (story.run.results, story.run.mail)


@pytest.mark.parametrize(
    ("input", "problem"),
    [
        ({}, "one of 'until', 'for_s' and 'signal', not none of them"),
        ({"for_s": 1, "signal": "a"}, "not 'for_s' and 'signal'"),
        ({"for_s": -1}, "'for_s' of a wait is a number of seconds from 0 up, not -1"),
        ({"for_s": True}, "not True"),
        ({"until": "tomorrow"}, "a time with its zone such as .*not 'tomorrow'"),
        ({"until": "2030-01-31T09:00:00"}, "a time with its zone"),
        ({"for_s": 1, "timeout_s": 1}, "'timeout_s' of a wait belongs to 'signal'"),
        ({"signal": ""}, "the name of a signal, not ''"),
        ({"seconds": 1}, "wait takes no 'seconds'"),
    ],
)
def test_what_cannot_be_waited_for_is_refused_at_the_start_or_fails_the_step(
    input: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        read(input, 0.0)
    with pytest.raises(PlanInvalid, match="step W: "):
        given(start(wait(**input)))


@pytest.mark.parametrize(
    ("input", "problem"),
    [
        ({"for_s": 1e300}, "'for_s' of a wait ends after the year 9999, being 1e\\+300 seconds"),
        ({"signal": "a", "timeout_s": 253402300799}, "'timeout_s' of a wait ends after the year 9999"),
        ({"until": "9999-12-31T23:59:59-23:00"}, "'until' of a wait is in the years 1970 to 9999"),
        ({"until": 1796128609440512}, "'until' of a wait is in the years 1970 to 9999"),
        ({"until": -1e300}, "'until' of a wait is in the years 1970 to 9999"),
    ],
)
def test_a_wait_ends_at_a_time_that_calendars_have(input: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        read(input, 0.0)
    [(name, value)] = [each for each in input.items() if each[0] != "signal"]
    rendered = {**input, name: "{{A}}"}
    story = given(*planned(step("look", "A"), wait(**rendered))).when(succeeds("A", value))
    failed = story.new[1]
    assert isinstance(failed, f.StepFailed)
    assert re.search(problem, failed.failure.message)


def test_the_last_moment_of_calendars_can_be_waited_for() -> None:
    assert read({"until": "9999-12-31T00:00:00Z"}, 0.0).due == 253402214400.0
    assert read({"for_s": 253402214300.0}, 100.0).due == 253402214400.0


def test_an_input_that_only_shows_wrong_when_rendered_fails_the_step() -> None:
    story = given(*planned(step("look", "A"), wait(for_s="{{A}}"))).when(succeeds("A", "soon"))
    assert story.new[1] == like(f.StepFailed, failure=failure("arguments", "not 'soon'"))


# -- tools


def test_a_tool_that_waits_is_called_again_with_the_signal_under_the_same_operation() -> None:
    story = given(*planned("ship")).when(waits("E0", signal="arrived", details={"asked": True}))
    story.then(like(f.AttemptSuspended, attempt=1, signal="arrived", details={"asked": True}))
    assert (status(story.run), is_dormant(story.run), wake_at(story.run)) == ("waiting", True, None)
    key = story.key("E0")
    story.when(signal("arrived", "quay 3")).then(
        like(f.SignalReceived),
        like(f.AttemptStarted, operation=key, attempt=2, signal="arrived"),
        like(Execute, operation=key, attempt=2, letter=Letter("arrived", "quay 3"), details={"asked": True}),
    )
    assert story.run.mail == {}
    story.when(succeeds("E0"))
    assert story.new[-1] == like(f.RunCompleted)


def test_a_tool_that_waits_for_a_time_is_called_again_then() -> None:
    story = given(*planned("ship")).when(waits("E0", due=START_AT + 30, signal="arrived"))
    story.when(later(29.0)).then_nothing()
    story.when(later(1.0)).then(like(f.AttemptStarted, attempt=2, received=0), like(Execute, letter=None))


def test_waiting_counts_against_no_retry_policy() -> None:
    story = given(*planned("ship"))
    for n in range(5):
        story.when(waits("E0", due=story.at + 1)).when(later(1.0))
        assert story.new == [like(f.AttemptStarted, attempt=n + 2)]


def test_the_time_of_the_step_goes_on_while_its_tool_waits() -> None:
    story = given(*planned(step("look", timeout_s=10))).when(waits("E0", due=START_AT + 100))
    assert wake_at(story.run) == START_AT + 10
    story.when(later(10.0))
    assert story.new[0] == like(f.StepFailed, failure=failure("timeout"))


def test_what_a_waiting_tool_did_is_asked_before_there_is_another_plan() -> None:
    story = given(*planned("charge")).when(waits("E0", due=START_AT + 100 * DAY_S))
    story.when(replan("sooner")).then(
        like(f.ReplanRequested), like(f.OutcomeUnknown, probing=True), like(Probe)
    )
    story.when(probe_says("E0", False))
    assert story.new[-1] == like(f.PlanRequested)


def test_a_waiting_tool_that_vouches_for_no_effect_is_left_at_once() -> None:
    story = given(*planned("ship")).when(waits("E0", signal="arrived", no_effect=True))
    story.when(replan("sooner")).then(like(f.ReplanRequested), like(f.PlanRequested), like(MakePlan))
    story.when(signal("arrived"))
    assert all(not isinstance(fact, f.AttemptStarted) for fact in story.new)


def test_a_tool_that_wants_to_wait_while_its_plan_is_left_is_not_waited_for() -> None:
    steps = (step("ship", "A", needs=()), step("look", "B", needs=()), step("look", "C", needs=()))
    story = given(*planned(*steps), asks_replan("B"))
    story.when(waits("C", due=START_AT + DAY_S)).then(like(f.StepFailed, failure=failure("waiting")))
    story.when(waits("A", due=START_AT + DAY_S)).then(like(f.OutcomeUnknown, why=has("is being left")))


def test_a_cancel_asks_what_a_waiting_tool_did() -> None:
    story = given(*planned("ship"), waits("E0", due=START_AT + DAY_S)).when(cancel())
    assert like(f.OutcomeUnknown) in story.new


def test_an_undo_does_not_wait() -> None:
    story = given(start("reserve", "ship"), succeeds("E0"), cancel(), succeeds("E1"))
    story.when(waits("undo E0", due=START_AT + DAY_S))
    assert story.new[0] == like(f.CompensationFailed, failure=failure("tool_error", "cannot wait"))
