"""Plans that people propose to a run that goes on."""

from __future__ import annotations

import pytest

from midcourse.domain import facts as f
from midcourse.domain.errors import MessageRefused
from midcourse.domain.orders import CancelPlanning, Execute

from .kit import given, like
from .tellings import (
    cancel,
    fails,
    no_plan,
    planned,
    proposes,
    signal,
    start,
    succeeds,
)


def test_a_person_may_propose_while_the_planner_works_and_its_answer_is_not_wanted_any_more() -> None:
    given(start()).when(proposes("ship", by="human")).then(
        like(f.PlanProposed, author="human"),
        like(f.PlanAccepted, author="human"),
        like(f.StepStarted, tool="user__ship"),
        CancelPlanning(1),
        like(Execute, tool="user__ship"),
    )


def test_a_stale_proposal_of_a_person_is_rejected_and_the_planner_works_on() -> None:
    story = given(start(), signal()).when(proposes("ship", by="human", epoch=1))
    story.then(like(f.PlanProposed, author="human"), like(f.ProposalRejected, code="stale"))
    assert story.run.asked == f.PlanRequested(1, "p", "start")


def test_an_invalid_proposal_of_a_person_does_not_count_against_the_planner() -> None:
    story = given(start()).when(proposes("shp", by="human"))
    assert story.run.refused == 0
    assert story.run.asked is not None


def test_a_person_cannot_propose_to_a_run_that_ends() -> None:
    for history in ([cancel()], [succeeds("E0")]):
        story = given(*planned("reserve"), *history)
        with pytest.raises(MessageRefused, match="has ended or is being undone"):
            story.when(proposes("look", by="human"))


def test_a_planner_is_too_late_for_a_run_that_ends() -> None:
    given(start(), cancel()).when(proposes("look", epoch=1)).then_nothing()


def test_a_person_gets_a_stuck_run_going() -> None:
    story = given(*planned("look"), fails("E0"), no_plan())
    assert story.run.stuck == "no way"
    story.when(proposes("ship", by="human"))
    assert story.run.stuck == ""
    assert story.new[-1] == like(f.StepStarted, tool="user__ship")


def test_a_proposal_while_an_undo_waits_for_its_next_try_is_carried_out_after_it() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"))
    story.when(proposes("ship", undo=("E0",))).when(fails("undo E0", retry_after_s=9.0))
    story.when(proposes("notify", by="human")).then(
        like(f.PlanProposed), like(f.PlanAccepted, superseded=("E2",))
    )
