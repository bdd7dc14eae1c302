"""What the reports of attempts become: receipts, and attempts that are not current any more."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.orders import CancelAttempt, Execute, MakePlan
from midcourse.domain.receipt import Receipt

from .kit import Happening, Story, given, like, step
from .tellings import (
    asks_replan,
    cancel,
    fails,
    goal_reached,
    is_lost,
    later,
    no_plan,
    planned,
    proposes,
    settles,
    start,
    succeeds,
)


def test_a_receipt_commits_the_operation_and_the_next_step_begins_in_the_same_append() -> None:
    story = given(start("reserve", "ship")).when(succeeds("E0", {"id": 7}))
    story.then(
        f.StepCompleted("E0", story.key("E0"), 1, Receipt({"id": 7})),
        like(f.StepStarted, step="E1"),
        like(Execute, step="E1"),
    )
    entry = story.run.ledger[story.key("E0")]
    assert (entry.state, entry.attempt, entry.receipt.result) == ("committed", 1, {"id": 7})


def test_the_last_receipt_completes_the_run() -> None:
    given(start("look")).when(succeeds("E0", 5)).then(like(f.StepCompleted), f.RunCompleted(5))


def test_a_repeated_report_is_nothing() -> None:
    story = given(start("reserve", "ship"))
    again = story.message(succeeds("E0"))
    story.when(again).when(again).then_nothing()


def test_a_report_about_an_operation_nobody_started_is_nothing() -> None:
    report = m.ReportSuccess(at=1.0, operation="user__x:1.0", attempt=1, receipt=Receipt())
    given(start("reserve")).when(report).then_nothing()


@pytest.mark.parametrize("report", [fails, is_lost, asks_replan])
def test_the_old_attempt_of_a_restarted_step_leaves_its_replacement_alone(
    report: Callable[..., Happening],
) -> None:
    story = given(start("reserve", "ship"), is_lost("E0"), later(1.0))
    assert story.run.running[story.key("E0")].attempt == 2
    story.when(report("E0", attempt=1)).then_nothing()
    story.when(succeeds("E0")).then(like(f.StepCompleted, attempt=2), like(f.StepStarted), like(Execute))


# -- a receipt that comes late is still a fact


def late(*history: Happening) -> Story:
    return given(*planned("reserve", "ship"), *history).when(succeeds("E0", "late", attempt=1))


def test_while_a_newer_attempt_runs_it_commits_the_operation_and_the_newer_one_is_asked_to_stop() -> None:
    story = late(is_lost("E0"), later(1.0))
    key = story.key("E0")
    story.then(
        f.ReceiptArrivedLate(key, 1, Receipt("late")),
        like(f.StepStarted, step="E1"),
        CancelAttempt(key, 2, "an earlier attempt reported its receipt"),
        like(Execute, step="E1"),
    )
    story.when(succeeds("E0", "late", attempt=2)).then_nothing()
    story.when(is_lost("E0", "cancelled", attempt=2)).then_nothing()


def test_during_back_off_it_commits_the_operation() -> None:
    late(is_lost("E0")).then(like(f.ReceiptArrivedLate), like(f.StepStarted, step="E1"), like(Execute))


def test_with_an_unknown_outcome_it_settles_it() -> None:
    story = given(*planned("ship", "look"), is_lost("E0")).when(succeeds("E0"))
    story.then(like(f.ReceiptArrivedLate), like(f.StepStarted, step="E1"), like(Execute))
    assert story.run.unknown == {}


def test_with_a_closed_operation_it_commits_it_and_the_planner_is_asked_anew() -> None:
    story = given(*planned("reserve", "ship"), fails("E0"))
    assert story.run.asked is not None
    story.when(succeeds("E0")).then(like(f.ReceiptArrivedLate))
    story.when(proposes("look", epoch=story.run.asked.epoch)).then(
        like(f.PlanProposed), like(f.ProposalRejected, code="stale"), like(f.PlanRequested), like(MakePlan)
    )


def test_while_a_plan_is_owed_it_keeps_its_place_and_no_step_begins() -> None:
    story = given(*planned(step("reserve", needs=()), step("look", needs=()), step("ship", needs=("E0",))))
    story.when(is_lost("E0")).when(later(1.0)).when(asks_replan("E1")).when(succeeds("E0", attempt=1))
    assert story.new[0] == like(f.ReceiptArrivedLate)
    assert story.new[1] == like(f.PlanRequested)
    assert story.run.done == {"E0": story.key("E0")}
    assert story.run.running == {}


def test_while_the_run_is_undone_it_is_undone_too() -> None:
    story = given(*planned("charge", "ship"), is_lost("E0"), cancel()).when(succeeds("E0"))
    story.then(
        like(f.ReceiptArrivedLate),
        like(f.CompensationIssued, of=story.key("E0"), cause="cancel"),
        like(f.CompensationStarted),
        like(Execute, tool="user__refund"),
    )


@pytest.mark.parametrize("end", ["failed", "cancelled"])
def test_after_the_end_of_a_run_that_was_undone_it_is_undone(end: str) -> None:
    story = given(*planned("reserve"), fails("E0"), no_plan(give_up=True) if end == "failed" else cancel())
    assert story.run.final == end
    story.when(succeeds("E0")).then(
        like(f.ReceiptArrivedLate),
        like(f.CompensationIssued, of=only_key(story), cause="late"),
        like(f.CompensationStarted),
        like(Execute, tool="user__release"),
    )
    assert story.run.final == end


def only_key(story: Story) -> str:
    return next(iter(story.run.ledger))


def test_after_the_end_of_a_completed_run_nobody_would_look_at_it_so_it_is_undone() -> None:
    story = given(*planned("reserve"), fails("E0"), goal_reached())
    assert story.run.final == "completed"
    story.when(succeeds("E0")).then(
        like(f.ReceiptArrivedLate),
        like(f.CompensationIssued, of=only_key(story), cause="late", tool="user__release"),
        like(f.CompensationStarted),
        like(Execute, tool="user__release"),
    )
    story.when(undone(story))
    assert story.run.ledger[only_key(story)].state == "undone"


def undone(story: Story) -> m.Message:
    key = story.run.undo_running
    return m.ReportSuccess(at=story.at, operation=key, attempt=1, receipt=Receipt())


def test_an_irreversible_one_after_the_end_is_kept_as_a_fact() -> None:
    story = given(*planned("ship"), fails("E0"), goal_reached()).when(succeeds("E0"))
    story.then(like(f.ReceiptArrivedLate))
    assert [entry.step for entry in story.run.standing()] == ["E0"]


def test_a_second_receipt_of_a_committed_operation_is_recorded_once_and_the_first_stands() -> None:
    story = given(*planned("ship", "look"), is_lost("E0"), settles("E0", happened=False), succeeds("E0", 2))
    story.when(succeeds("E0", 1, attempt=1)).then(like(f.ReceiptArrivedLate, attempt=1))
    story.when(succeeds("E0", 1, attempt=1)).then_nothing()
    assert story.run.ledger[story.key("E0")].receipt == Receipt(2)
    assert story.run.results["E0"] == 2


def test_the_same_receipt_by_another_attempt_is_no_news() -> None:
    story = given(*planned("reserve", "look"), is_lost("E0"), later(1.0), succeeds("E0"))
    story.when(succeeds("E0", attempt=1)).then_nothing()


def test_a_receipt_replaces_the_one_that_the_person_who_settled_it_did_not_have() -> None:
    story = given(*planned("ship", "look"), is_lost("E0"), settles("E0", happened=True))
    assert story.run.results == {"E0": None}
    story.when(succeeds("E0", {"parcel": 3}))
    assert story.run.ledger[story.key("E0")].receipt == Receipt({"parcel": 3})
    assert story.run.results == {"E0": {"parcel": 3}}
    story.when(succeeds("E0", {"parcel": 3})).then_nothing()


def test_a_receipt_with_a_token_nobody_was_given_is_nothing() -> None:
    given(*planned("reserve")).when(succeeds("E0", attempt=2)).then_nothing()


def test_a_late_receipt_that_comes_with_a_request_for_a_plan_keeps_all_of_it() -> None:
    story = given(*planned("reserve", "ship"), is_lost("E0"))
    story.when(asks_replan("E0", "elsewhere", receipt=Receipt("late"), attempt=1, hub="Oslo")).then(
        like(f.ReceiptArrivedLate, receipt=Receipt("late")),
        f.BoardUpdated({"hub": "Oslo"}, "E0"),
        like(f.ReplanRequested, cause="tool", reason="elsewhere", step="E0"),
        like(f.PlanRequested),
        like(MakePlan),
    )


def test_a_late_request_for_a_plan_of_a_run_that_ended_leaves_only_its_receipt() -> None:
    story = given(*planned("ship"), fails("E0"), goal_reached())
    story.when(asks_replan("E0", receipt=Receipt("late"), x=1)).then(like(f.ReceiptArrivedLate))


def test_a_step_of_a_dag_waits_for_all_it_needs() -> None:
    steps = (step("look", "A", needs=()), step("look", "B", needs=()), step("ship", "C", needs=("A", "B")))
    story = given(start(*steps)).when(succeeds("A"))
    story.then(like(f.StepCompleted, step="A"))
    story.when(succeeds("B")).then(like(f.StepCompleted), like(f.StepStarted, step="C"), like(Execute))
