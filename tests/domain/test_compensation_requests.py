"""Compensation on request, and what a person can do about an undo that gave up."""

from __future__ import annotations

import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.decide import record
from midcourse.domain.errors import MessageRefused
from midcourse.domain.evolve import fold
from midcourse.domain.orders import Execute, MakePlan
from midcourse.domain.summary import attention, status
from midcourse.domain.tools import Catalog

from .kit import Story, Telling, failure, given, has, like, step
from .tellings import (
    asks_replan,
    cancel,
    caught_up,
    fails,
    is_lost,
    later,
    planned,
    proposes,
    retries,
    start,
    succeeds,
    waives,
)


def undoes(step_: str, reason: str = "sold out after all") -> Telling:
    return lambda story: m.RequestCompensation(at=story.at, operation=story.key(step_), reason=reason)


def test_a_committed_effect_is_undone_on_request_with_its_reason_before_anything_new_begins() -> None:
    story = given(*planned("reserve", "look", "ship"), succeeds("E0"))
    story.when(undoes("E0")).then(
        f.CompensationRequested(story.key("E0"), "sold out after all"),
        like(f.CompensationIssued, cause="request", reason="sold out after all", of=story.key("E0")),
        like(f.CompensationStarted),
        like(Execute, tool="user__release"),
    )
    story.when(succeeds("E1")).then(like(f.StepCompleted))
    story.when(succeeds("undo E0")).then(
        like(f.CompensationCompleted), like(f.StepStarted, step="E2"), like(Execute)
    )


def test_an_effect_of_a_run_that_has_ended_is_undone_on_request_and_the_run_stays_ended() -> None:
    story = given(*planned("reserve"), succeeds("E0")).when(undoes("E0"))
    assert (story.run.final, status(story.run)) == ("completed", "compensating")
    story.when(succeeds("undo E0")).then(like(f.CompensationCompleted))
    assert status(story.run) == "completed"


def test_what_a_person_let_stay_may_be_undone_on_request_after_all() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"), proposes(undo=("E0",)))
    story.take(fails("undo E0"))
    story.take(waives("E0"))
    story.when(undoes("E0"))
    assert story.new[1] == like(f.CompensationIssued, cause="request")


@pytest.mark.parametrize(
    ("story", "operation", "why"),
    [
        (given(*planned("reserve")), "nothing.0", "which is not committed"),
        (given(*planned("ship", "look"), succeeds("E0")), "E0", "irreversible and cannot be undone"),
        (given(*planned("reserve", "ship"), succeeds("E0"), undoes("E0")), "E0", "which is undoing already"),
    ],
)
def test_what_cannot_be_undone_is_said(story: Story, operation: str, why: str) -> None:
    key = story.key(operation) if operation in story.run.steps else operation
    with pytest.raises(MessageRefused, match=why):
        story.when(m.RequestCompensation(at=story.at, operation=key, reason="so"))


def test_a_request_says_why() -> None:
    with pytest.raises(MessageRefused, match="say why"):
        given(*planned("reserve", "ship"), succeeds("E0")).when(undoes("E0", ""))


def test_a_step_that_undoes_it_already_is_not_joined() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), asks_replan("E1"))
    story.when(proposes(step("release", undoes=story.key("E0"))))
    with pytest.raises(MessageRefused, match="is undoing operation"):
        story.when(undoes("E0"))


def test_a_request_by_another_process_is_issued_by_the_owner_who_knows_the_tools() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"))
    facts = [
        fact for fact, _ in record(fold("run", story.facts), story.message(undoes("E0")), Catalog()).facts
    ]
    assert facts == [like(f.CompensationRequested)]
    story.take(facts[0])
    story.when(caught_up())
    (issued, *_) = story.new
    assert isinstance(issued, f.CompensationIssued)
    assert issued.input.keys() == {"receipt"}


# -- states


def test_of_three_undos_one_that_fails_three_times_is_parked_and_the_others_are_done() -> None:
    story = given(*planned("reserve", step("reserve", input={"n": 2}), "charge", "look"))
    for place in range(3):
        story.take(succeeds(f"E{place}"))
    story.when(asks_replan("E3")).when(proposes(undo=("E0", "E1", "E2")))
    story.when(succeeds("undo E2"))
    for wait in (1.0, 2.0):
        story.when(fails("undo E1", retry_after_s=wait)).when(
            succeeds("undo E0") if wait == 1.0 else later(wait)
        )
        story.when(later(wait))
    story.when(fails("undo E1")).then(like(f.CompensationParked))
    assert [undo.state for undo in story.run.undos.values()] == ["done", "parked", "done"]
    assert [item.kind for item in attention(story.run)] == ["parked_compensation"]


def test_one_that_gives_up_again_after_a_person_had_it_retried_is_escalated() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"), proposes(undo=("E0",)))
    story.when(fails("undo E0", "locked")).when(retries("E0"))
    story.when(fails("undo E0", "still locked")).then(like(f.CompensationParked))
    assert story.run.undos[story.key("undo E0")].state == "escalated"
    assert attention(story.run)[0].detail == has("escalated", "still locked")
    story.when(retries("E0")).when(succeeds("undo E0"))
    assert story.run.undos[story.key("undo E0")].state == "done"


# -- cancel


def test_a_cancel_during_the_back_off_of_an_undo_is_recorded_and_the_undo_is_shielded() -> None:
    story = given(
        *planned("reserve", step("reserve", input={"n": 2}), "look"), succeeds("E0"), succeeds("E1")
    )
    story.when(asks_replan("E2")).when(proposes("ship", undo=("E1",)))
    story.take(fails("undo E1", retry_after_s=60.0))
    story.when(cancel("closing time")).then(
        f.CancelRequested("closing time"),
        f.UnwindingBegan("cancelled", failure("cancelled", "closing time")),
        like(f.CompensationIssued, of=story.key("E0"), cause="cancel"),
        like(f.CompensationStarted, operation=story.key("undo E0")),
        *story.orders,
    )
    story.when(succeeds("undo E0")).then(like(f.CompensationCompleted))
    story.when(later(60.0)).then(like(f.CompensationStarted, attempt=2), like(Execute))
    story.when(succeeds("undo E1")).then(like(f.CompensationCompleted), f.RunCancelled("closing time"))


def test_a_cancel_reaches_the_back_off_of_a_step_and_ends_it_at_once() -> None:
    story = given(*planned("notify"), fails("E0", retry_after_s=60.0)).when(cancel("enough"))
    story.then(f.CancelRequested("enough"), like(f.UnwindingBegan), f.RunCancelled("enough"), *story.orders)


def test_a_cancel_while_planning_ends_the_run_and_the_planner_is_told() -> None:
    story = given(start()).when(cancel("enough"))
    assert story.new == [
        f.CancelRequested("enough"),
        like(f.UnwindingBegan, status="cancelled"),
        f.RunCancelled("enough"),
    ]
    assert [type(order).__name__ for order in story.orders] == ["CancelPlanning"]
    story.when(proposes("ship", epoch=1)).then_nothing()


def test_a_cancel_of_a_run_that_fails_already_is_recorded_and_changes_no_ending() -> None:
    story = given(start("reserve", "ship"), succeeds("E0"), fails("E1"))
    story.when(cancel("too late")).then(f.CancelRequested("too late"), *story.orders)
    story.when(succeeds("undo E0"))
    assert story.run.final == "failed"


def test_an_attempt_that_a_cancel_stops_is_unknown_and_not_failed() -> None:
    story = given(*planned("ship")).when(cancel("enough")).when(is_lost("E0", "cancelled"))
    story.then(like(f.OutcomeUnknown))
    assert not any(isinstance(order, MakePlan) for order in story.orders)
