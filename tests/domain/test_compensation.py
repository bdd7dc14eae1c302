"""Undoing forward: new operations, newest first, each with states of its own."""

from __future__ import annotations

import pytest

from midcourse.domain import facts as f
from midcourse.domain.errors import MessageRefused
from midcourse.domain.orders import Execute, Probe
from midcourse.domain.receipt import Receipt, Resource

from .kit import Story, catalog_without, failure, given, like, step
from .tellings import (
    asks_replan,
    cancel,
    fails,
    is_lost,
    later,
    no_plan,
    planned,
    probe_says,
    proposes,
    retries,
    start,
    succeeds,
    taken_up,
    waives,
)


def undoing(*tools: str) -> Story:
    """A run that has done these and is cancelled."""
    steps = [step(tool, input={"n": place, "order": place}) for place, tool in enumerate(tools)]
    story = given(start(*steps, "look"))
    for place in range(len(tools)):
        story.take(succeeds(f"E{place}", {"id": place}))
    return story.when(cancel()).when(is_lost(f"E{len(tools)}", "cancelled"))


def test_effects_are_undone_in_reverse_order_one_at_a_time_and_then_the_run_ends() -> None:
    story = undoing("reserve", "charge")
    first, second = story.key("E0"), story.key("E1")
    story.then(
        like(f.StepFailed),
        like(
            f.CompensationIssued, operation=f"undo/{second}", of=second, tool="user__refund", cause="cancel"
        ),
        like(f.CompensationIssued, operation=f"undo/{first}", of=first, tool="user__release", cause="cancel"),
        f.CompensationStarted(f"undo/{second}", 1),
        Execute(f"undo/{second}", 1, "user__refund", {}),
    )
    story.when(succeeds("undo E1", "refunded")).then(
        f.CompensationCompleted(f"undo/{second}", 1, Receipt("refunded")),
        f.CompensationStarted(f"undo/{first}", 1),
        like(Execute, tool="user__release"),
    )
    story.when(succeeds("undo E0")).then(like(f.CompensationCompleted), f.RunCancelled("enough"))
    assert [entry.state for entry in story.run.ledger.values()] == ["undone", "undone"]


def test_effects_of_superseded_revisions_are_undone_too() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), asks_replan("E1"), proposes("charge", "ship"))
    story.when(succeeds("E2")).when(fails("E3")).when(no_plan(give_up=True))
    assert [fact.of for fact in story.new if isinstance(fact, f.CompensationIssued)] == [
        story.key("E2"),
        story.key("E0"),
    ]


def test_reads_and_irreversible_effects_are_not_undone() -> None:
    story = undoing("look", "ship")
    story.then(like(f.StepFailed), f.RunCancelled("enough"))
    assert [entry.tool for entry in story.run.standing()] == ["user__look", "user__ship"]


# -- its arguments


def test_an_undo_gets_the_fields_its_tool_declares_and_the_receipt() -> None:
    story = undoing("reserve")
    issued = story.new[1]
    assert isinstance(issued, f.CompensationIssued)
    assert issued.input == {"n": 0, "receipt": {"result": {"id": 0}}}


def test_an_undo_gets_the_receipt_as_a_replay_reads_it() -> None:
    resources = (Resource("hold", "h-1"),)
    story = given(start("reserve", "look"), succeeds("E0", resources=resources), cancel())
    story.when(is_lost("E1", "cancelled"))
    receipt = {"result": "ok", "resources": [{"kind": "hold", "id": "h-1"}]}
    assert story.new[1] == like(f.CompensationIssued, input={"receipt": receipt})


def test_an_undo_gets_what_the_receipt_says_where_it_says_so() -> None:
    story = given(start("reserve", "look"), succeeds("E0", undo_input={"all": True}), cancel())
    story.when(is_lost("E1", "cancelled"))
    assert story.new[1] == like(f.CompensationIssued, input={"all": True})


# -- failed, parked


def test_a_failed_undo_is_tried_again_after_its_wait_and_holds_up_no_other() -> None:
    story = undoing("reserve", "reserve").when(fails("undo E1", "busy", retry_after_s=3.0))
    story.then(
        f.CompensationFailed(story.key("undo E1"), 1, f.Failure("tool_error", "busy"), 103.0),
        like(f.CompensationStarted, operation=story.key("undo E0")),
        like(Execute),
    )
    story.when(succeeds("undo E0")).then(like(f.CompensationCompleted))
    story.when(later(3.0)).then(like(f.CompensationStarted, attempt=2), like(Execute, attempt=2))


def test_a_wait_that_is_over_while_another_undo_runs_starts_after_it() -> None:
    story = undoing("reserve", "reserve").when(fails("undo E1", retry_after_s=3.0))
    story.when(later(5.0)).then_nothing()
    story.when(succeeds("undo E0")).then(
        like(f.CompensationCompleted), like(f.CompensationStarted, attempt=2), like(Execute)
    )


def test_three_undos_and_one_that_fails_three_times_is_parked_and_the_others_are_done() -> None:
    story = undoing("reserve", "charge", "reserve").when(succeeds("undo E2")).when(fails("undo E1", "no"))
    story.then(
        f.CompensationParked(story.key("undo E1"), failure("tool_error", "no")),
        like(f.CompensationStarted, operation=story.key("undo E0")),
        like(Execute),
    )
    story.when(succeeds("undo E0")).then(like(f.CompensationCompleted))
    assert [*story.run.parked] == [story.key("undo E1")]
    assert story.run.final is None


def test_an_undo_that_fails_as_often_as_its_policy_allows_is_parked() -> None:
    story = undoing("reserve")
    for _ in range(4):
        story.when(fails("undo E0", retry_after_s=1.0)).when(later(1.0))
        story.then(like(f.CompensationStarted), like(Execute))
    story.when(fails("undo E0", retry_after_s=1.0)).then(like(f.CompensationParked))


def test_an_undo_whose_failure_is_final_is_parked_at_once() -> None:
    undoing("reserve").when(fails("undo E0")).then(like(f.CompensationParked))


def test_an_undo_without_its_tool_is_parked_and_the_others_go_on() -> None:
    story = undoing("reserve", "charge")
    story.when(succeeds("undo E1"), tools=catalog_without("user__release"))
    story.then(
        like(f.CompensationCompleted), like(f.CompensationParked, failure=failure("undo", "not registered"))
    )


def test_a_retry_takes_the_arguments_that_the_tool_takes_now() -> None:
    story = given(start(step("reserve", input={"n": 7}), "look"), succeeds("E0"), cancel())
    story.when(is_lost("E1", "cancelled"), tools=catalog_without("user__release"))
    assert story.new[1:] == [like(f.CompensationIssued, input={}), like(f.CompensationParked)]
    story.when(retries("E0"), tools=given().catalog)
    assert story.new[0] == like(f.CompensationRetried, input={"n": 7, "receipt": {"result": "ok"}})
    assert story.orders == [like(Execute, tool="user__release", input=story.new[0].input)]  # type: ignore[attr-defined]


# -- people


@pytest.mark.parametrize("name", ["E0", "undo E0"])
def test_a_person_has_a_parked_undo_tried_again_with_fresh_tries(name: str) -> None:
    story = undoing("charge").when(fails("undo E0")).when(retries(name))
    key = story.key("undo E0")
    story.then(f.CompensationRetried(key, "again"), f.CompensationStarted(key, 2), like(Execute, attempt=2))
    story.when(succeeds("undo E0")).then(like(f.CompensationCompleted), like(f.RunCancelled))


def test_a_person_lets_an_effect_stay_and_the_run_can_end() -> None:
    story = undoing("charge").when(fails("undo E0")).when(waives("E0", "it is a gift"))
    story.then(f.CompensationWaived(story.key("undo E0"), "it is a gift"), like(f.RunCancelled))
    entry = story.run.ledger[story.key("E0")]
    assert (entry.state, entry.waived, entry.undone_by) == ("committed", True, "")


def test_letting_an_effect_stay_needs_a_reason() -> None:
    story = undoing("charge").when(fails("undo E0"))
    with pytest.raises(MessageRefused, match="needs a reason"):
        story.when(waives("E0", ""))


@pytest.mark.parametrize("decide", [retries, waives])
def test_only_a_parked_undo_can_be_decided_about(decide: object) -> None:
    with pytest.raises(MessageRefused, match=r"no parked undo '.*' \(parked: none\)"):
        undoing("charge").when(decide("E0"))  # type: ignore[operator]


def test_a_parked_undo_of_a_plan_lets_the_plan_go_on_and_holds_up_only_the_end() -> None:
    story = given(*planned("charge", "look"), succeeds("E0"), fails("E1"), proposes("ship", undo=("E0",)))
    story.when(fails("undo E0")).then(
        like(f.CompensationParked), like(f.StepStarted, tool="user__ship"), like(Execute)
    )
    story.when(succeeds("E2")).then(like(f.StepCompleted))
    story.when(waives("E0")).then(like(f.CompensationWaived), like(f.RunCompleted))


def test_a_plan_waits_for_its_undos() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"), proposes("ship", undo=("E0",)))
    story.when(fails("undo E0", retry_after_s=1.0)).then(like(f.CompensationFailed))
    story.when(later(1.0)).when(succeeds("undo E0")).then(
        like(f.CompensationCompleted), like(f.StepStarted, tool="user__ship"), like(Execute)
    )


def test_an_effect_that_a_person_lets_stay_is_not_undone_at_the_end() -> None:
    story = given(*planned("charge", "look"), succeeds("E0"), fails("E1"), proposes("ship", undo=("E0",)))
    story.when(fails("undo E0")).when(waives("E0")).when(fails("E2")).when(no_plan(give_up=True))
    story.then(like(f.NoPlanFound), like(f.UnwindingBegan), like(f.RunFailed))


# -- lost attempts


def test_a_lost_attempt_to_undo_is_repeated_where_that_has_no_second_effect() -> None:
    story = undoing("reserve").when(is_lost("undo E0"))
    story.then(like(f.CompensationFailed, retry_at=101.0, failure=failure("timeout", "without an answer")))


def test_an_undo_lost_too_often_is_parked() -> None:
    story = undoing("reserve")
    for _ in range(4):
        story.when(is_lost("undo E0")).when(later(100.0))
    story.when(is_lost("undo E0")).then(like(f.CompensationParked))


def test_about_a_lost_attempt_to_undo_that_may_not_be_repeated_the_probe_is_asked() -> None:
    story = undoing("charge").when(is_lost("undo E0"))
    story.then(Probe(story.key("undo E0"), 1, "user__refund", {}))
    story.when(probe_says("undo E0", True, receipt=Receipt("r"))).then(
        like(f.CompensationCompleted, receipt=Receipt("r")), like(f.RunCancelled)
    )


def test_an_undo_that_did_not_happen_is_tried_again_and_the_lost_try_does_not_count() -> None:
    story = undoing("charge").when(is_lost("undo E0")).when(probe_says("undo E0", False))
    story.then(like(f.CompensationLost), like(f.CompensationStarted, attempt=2), like(Execute))
    story.when(is_lost("undo E0")).when(probe_says("undo E0", False)).then(
        like(f.CompensationLost), like(f.CompensationStarted, attempt=3), like(Execute)
    )


def test_an_undo_the_probe_cannot_tell_about_is_parked() -> None:
    undoing("charge").when(is_lost("undo E0")).when(probe_says("undo E0", None)).then(
        like(f.CompensationParked, failure=failure("undo", "could not tell", "saw it"))
    )


def test_an_undo_that_lost_its_probe_is_parked_and_not_repeated() -> None:
    story = undoing("charge").when(is_lost("undo E0"), tools=catalog_without("user__refund"))
    story.then(like(f.CompensationParked, failure=failure("undo", "nobody knows")))


def test_a_process_that_ends_during_an_undo_costs_no_try_and_the_newest_is_still_first() -> None:
    story = undoing("reserve", "reserve").when(taken_up())
    story.then(
        f.CompensationLost(story.key("undo E1"), 1, "the process that ran it ended"),
        f.CompensationStarted(story.key("undo E1"), 2),
        like(Execute, operation=story.key("undo E1"), attempt=2),
    )


def test_an_undo_that_ends_its_process_again_and_again_is_parked() -> None:
    story = undoing("reserve")
    for _ in range(10):
        story.when(taken_up()).then(like(f.CompensationLost), like(f.CompensationStarted), like(Execute))
    story.when(taken_up()).then(like(f.CompensationParked, failure=failure("undo", "11 attempts")))


def test_a_process_that_ends_during_an_undo_that_may_not_be_repeated_has_the_probe_asked_each_time() -> None:
    story = undoing("charge")
    for _ in range(2):
        story.when(taken_up()).then(like(Probe, operation=story.key("undo E0"), attempt=1))


@pytest.mark.parametrize("report", [fails("undo E0", attempt=1), is_lost("undo E0", attempt=1)])
def test_an_old_attempt_to_undo_leaves_its_replacement_alone(report: object) -> None:
    story = undoing("reserve").when(fails("undo E0", retry_after_s=1.0)).when(later(1.0))
    story.when(report).then_nothing()  # type: ignore[arg-type]


@pytest.mark.parametrize("state", ["running", "backoff", "parked", "waived"])
def test_a_late_success_of_an_undo_counts_in_every_state(state: str) -> None:
    story = undoing("charge", "ship")
    if state == "running":
        story.when(fails("undo E0")).when(retries("E0"))
    elif state == "backoff":
        story = undoing("reserve").when(fails("undo E0", retry_after_s=9.0))
    else:
        story.when(fails("undo E0"))
    if state == "waived":
        story.when(waives("E0"))
    story.when(succeeds("undo E0", attempt=1))
    assert story.new[0] == like(f.CompensationCompleted, attempt=1)
    assert story.run.ledger[story.key("E0")].state == "undone"
    story.when(succeeds("undo E0", attempt=1)).then_nothing()
