"""A step in flight takes an effect back: nothing else does, whatever is asked for meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.errors import MessageRefused

from .kit import Story, given, has, like, step
from .tellings import asks_replan, fails, is_lost, later, planned, proposes, succeeds


def undoing(**fields: Any) -> Story:
    """A plan has its step B take back what A reserved, while C can ask for another plan."""
    story = given(
        *planned(step("reserve", "A"), step("look", "X")), succeeds("A"), asks_replan("X", no_effect=True)
    )
    takes_back = step("release", "B", needs=(), undoes=story.key("A"), **fields)
    return story.when(proposes(takes_back, step("look", "C", needs=())))


def test_a_request_to_undo_it_is_refused_while_the_step_waits_for_another_attempt() -> None:
    story = undoing().when(is_lost("B"))
    assert [like(f.AttemptFailed)] == story.new
    with pytest.raises(MessageRefused, match="a step of the plan is undoing operation"):
        story.when(m.RequestCompensation(at=story.at, operation=story.key("A"), reason="not wanted"))
    story.when(later(1.0)).when(succeeds("B"))
    assert story.run.ledger[story.run.done["A"]].state == "undone"


def test_a_plan_that_lists_it_or_has_another_step_undo_it_is_refused() -> None:
    story = undoing(on_replan="adopt").when(asks_replan("C", "once more", no_effect=True))
    key = story.run.done["A"]
    refused = like(f.ProposalRejected, code="invalid", problems=(has(key, "which step 'B' is undoing"),))
    story.when(proposes("look", undo=("A",)))
    assert refused == story.new[1]
    story.when(proposes(step("release", "D", undoes=key)))
    assert refused == story.new[1]


def test_the_step_itself_may_be_kept() -> None:
    story = undoing(on_replan="adopt").when(asks_replan("C", "once more", no_effect=True))
    kept = story.run.steps["B"]
    story.when(proposes(kept, step("notify", "D", needs=("B",))))
    assert story.new[1] == like(f.PlanAccepted, adopted=("B",))
    story.when(succeeds("B"))
    assert [like(f.StepCompleted, step="B"), like(f.StepStarted, step="D")] == story.new


def test_it_is_undone_by_the_next_plan_once_the_step_has_failed() -> None:
    story = undoing().when(fails("B", no_effect=True)).when(succeeds("C"))
    story.when(proposes("notify", undo=("A",)))
    assert like(f.CompensationIssued, of=story.run.done["A"], cause="plan") in story.new
