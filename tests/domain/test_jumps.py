"""A jump: another plan is asked for from outside, at any time, and every such request has its answer."""

from __future__ import annotations

import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.errors import MessageRefused, ReplanNotTaken
from midcourse.domain.evolve import fold
from midcourse.domain.orders import MakePlan
from midcourse.domain.view import view

from .kit import Story, Telling, given, like
from .tellings import cancel, fails, planned, proposes, start, succeeds


def jump(reason: str = "the harbour froze", *, token: str | None = None, id: str = "") -> Telling:
    """A request that shows the present token, or another."""
    return lambda story: m.RequestReplan(
        at=story.at, reason=reason, revision_token=story.run.revision_token if token is None else token, id=id
    )


def answer(story: Story, telling: Telling) -> str:
    with pytest.raises(ReplanNotTaken) as refusal:
        story.when(telling)
    return refusal.value.answer


def test_a_request_with_the_present_token_is_accepted_and_the_plan_is_owed() -> None:
    story = given(*planned("look", "ship")).when(jump(id="j1"))
    story.then(
        like(f.ReplanRequested, cause="person", reason="the harbour froze"),
        like(f.ReplanAnswered, id="j1", answer="ACCEPTED"),
    )
    story.when(succeeds("E0")).then(like(f.StepCompleted), like(f.PlanRequested), like(MakePlan))


def test_the_same_content_twice_returns_the_recorded_answer() -> None:
    for id in ("j1", ""):
        story = given(*planned("look", "ship"))
        told = story.message(jump(id=id))
        assert answer(story.when(told), told) == "ACCEPTED"
        story.when(succeeds("E0")).when(proposes("notify"))
        assert answer(story, told) == "ACCEPTED"
        assert story.run.replans == 1


def test_the_same_id_with_other_content_is_a_conflict_and_the_first_stands() -> None:
    story = given(*planned("look", "ship"), jump("it froze", id="j1"))
    assert answer(story, jump("it thawed", id="j1")) == "CONFLICT"
    assert answer(story, jump("it froze", token="other", id="j1")) == "CONFLICT"
    assert story.run.replans == 1


def test_a_token_of_an_earlier_revision_is_stale_and_stays_so() -> None:
    story = given(*planned("look", "ship"))
    told = story.message(jump())
    story.when(fails("E0")).when(proposes("look", "ship"))
    story.when(told).then(like(f.ReplanAnswered, answer="STALE"))
    assert answer(story, told) == "STALE"
    assert story.run.owed is None


def test_a_plan_that_is_owed_already_is_processing_and_the_request_may_be_made_again() -> None:
    story = given(*planned("look", "ship"), jump("it froze", id="j1"))
    assert answer(story, jump("it froze more", id="j2")) == "PROCESSING"
    story.when(succeeds("E0")).when(proposes("notify"))
    story.when(jump("it froze more", id="j2"))
    assert story.new == [like(f.ReplanRequested), like(f.ReplanAnswered, id="j2", answer="ACCEPTED")]


def test_a_run_that_has_no_plan_yet_is_processing() -> None:
    assert answer(given(start()), jump()) == "PROCESSING"


def test_a_stuck_run_takes_a_request() -> None:
    story = given(*planned("ship"), fails("E0"), proposes("ship"), fails("E1"))
    assert story.run.stuck
    story.when(jump("a ship came in"))
    assert story.new == [
        like(f.ReplanRequested),
        like(f.ReplanAnswered, answer="ACCEPTED"),
        like(f.PlanRequested),
    ]


def test_the_token_is_issued_with_the_revision_and_shown() -> None:
    story = given(*planned("look", "look", "ship"))
    token = view(story.run).revision_token
    story.when(succeeds("E0"))
    assert view(story.run).revision_token == token
    assert fold("run", story.facts).revision_token == token
    assert fold("other", story.facts).revision_token != token
    story.when(fails("E1")).when(proposes("ship"))
    assert view(story.run).revision_token != token


def test_without_a_token_and_an_id_a_request_is_about_the_present_plan_every_time() -> None:
    story = given(*planned("look", "ship"))
    story.when(jump(token="")).then(like(f.ReplanRequested))
    story.when(jump(token="")).then_nothing()


def test_a_request_carries_a_reason_and_no_data_and_leaves_cursor_ledger_and_board_as_they_are() -> None:
    story = given(*planned("reserve", "look", "ship"), succeeds("E0"), f.BoardUpdated({"hub": "Oslo"}))
    before = (dict(story.run.ledger), dict(story.run.board), dict(story.run.done))
    story.when(jump())
    assert (story.run.ledger, story.run.board, story.run.done) == before


@pytest.mark.parametrize(
    ("story", "why"),
    [
        (given(start("ship")), "has no planner to ask"),
        (given(*planned("ship"), cancel()), "is being undone"),
        (given(*planned("look"), succeeds("E0")), "has ended"),
    ],
)
def test_a_request_that_nobody_can_serve_is_refused_and_not_recorded(story: Story, why: str) -> None:
    with pytest.raises(MessageRefused, match=why):
        story.when(jump())


def test_a_request_without_a_reason_is_refused() -> None:
    with pytest.raises(MessageRefused, match="say why"):
        given(*planned("ship")).when(jump(""))
