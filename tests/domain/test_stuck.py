"""Handlers of stuck runs: whom to ask, what follows, and that it comes to an end."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.orders import Consult, MakePlan
from midcourse.domain.summary import attention, is_dormant, status
from midcourse.domain.tools import Catalog

from .kit import CATALOG, TOOLS, Story, given, has, like
from .tellings import cancel, fails, no_plan, planned, proposes, signal, start, succeeds, taken_up

HELPED = Catalog(TOOLS.values(), on_stuck=("depot", "desk"))


def stuck(*, tools: Catalog = HELPED, **fields: Any) -> Story:
    return given(*planned("reserve", "look", **fields), succeeds("E0"), fails("E1"), no_plan(), tools=tools)


def handler_says(verdict: str, reason: str = "", **said: Any) -> Any:
    def message(story: Story) -> m.Message:
        (key,) = (key for key, asked in story.run.consulting.items() if asked.kind == "stuck")
        return m.ReportOpinion(at=story.at, key=key, verdict=verdict, reason=reason, **said)

    return message


def test_the_first_handler_is_asked_and_the_run_is_not_on_the_attention_list() -> None:
    story = stuck()
    story.then(
        like(f.NoPlanFound),
        like(f.RunStuck),
        like(f.ConsultationRequested, kind="stuck", who="depot", subject="no way"),
        like(Consult, who="depot"),
    )
    about = next(order.about for order in story.orders if isinstance(order, Consult))
    assert about.context is not None
    assert (
        about.stuck, about.failure.kind if about.failure else "", about.context.executed[0].tool_name[6:]
    ) == ("no way", "no_plan", "reserve")  # fmt: skip
    assert status(story.run) == "planning"
    assert not attention(story.run)
    assert not is_dormant(story.run)


def test_an_engine_without_handlers_leaves_it_to_a_person() -> None:
    story = stuck(tools=CATALOG)
    story.then(like(f.NoPlanFound), like(f.RunStuck))
    assert status(story.run) == "attention"


def test_a_handler_adds_facts_and_has_it_planned_again() -> None:
    story = stuck().when(handler_says("plan", "it has moved", updates={"depot": "Oslo"}))
    story.then(
        like(f.OpinionGiven, verdict="plan", by="depot", updates={"depot": "Oslo"}),
        f.BoardUpdated({"depot": "Oslo"}),
        like(f.ReplanRequested, cause="stuck", reason="depot: it has moved"),
        like(f.PlanRequested, reason="depot: it has moved"),
        like(MakePlan),
    )
    assert story.run.stuck == ""
    assert story.run.replans == 2


def test_one_that_passes_is_followed_by_the_next_and_then_by_a_person() -> None:
    story = stuck().when(handler_says("pass"))
    story.then(
        like(f.OpinionGiven, verdict="pass", by="depot"),
        like(f.ConsultationRequested, who="desk"),
        like(Consult, who="desk"),
    )
    story.when(handler_says("pass")).then(like(f.OpinionGiven, verdict="pass", by="desk"))
    assert status(story.run) == "attention"


def test_the_same_handler_is_not_asked_twice_for_the_same_reason_on_the_same_state() -> None:
    story = stuck().when(handler_says("plan", "try again")).when(no_plan("no way, in other words"))
    story.then(
        like(f.NoPlanFound), like(f.RunStuck), like(f.ConsultationRequested, who="desk"), like(Consult)
    )
    story.when(handler_says("plan", "try again")).when(no_plan())
    story.then(like(f.NoPlanFound), like(f.RunStuck))
    assert status(story.run) == "attention"


def test_handlers_that_undo_what_the_other_set_do_not_keep_a_run_alive() -> None:
    story = stuck()
    asked = 0
    while story.run.is_helped:
        asked += 1
        story.when(handler_says("plan", "x", updates={"x": asked % 2}))
        if story.run.asked is not None:
            story.when(no_plan())
    assert status(story.run) == "attention"
    assert story.run.replans < story.run.limits.replans
    keys = [fact.key for fact in story.facts if isinstance(fact, f.ConsultationRequested)]
    assert sorted(keys) == sorted(set(keys))


def test_the_budget_of_replans_counts_whatever_a_handler_makes_up() -> None:
    story = stuck(limits=f.Limits(replans=4))
    asked = 0
    while story.run.is_helped:
        asked += 1
        story.when(handler_says("plan", updates={"n": asked}))
        if story.run.asked is not None:
            story.when(no_plan())
    assert asked == 3
    assert story.run.replans == 4
    assert status(story.run) == "attention"


@pytest.mark.parametrize(
    ("verdict", "reason", "said", "named"),
    [
        ("failed", "it raised KeyError", {}, "KeyError"),
        ("ok", "", {}, "it is one of plan, pass, fail, cancel"),
        ("pass", "", {"updates": {"x": 1}}, "only go with 'plan'"),
        ("cancel", "", {}, "without a reason"),
    ],
)
def test_one_that_cannot_be_asked_or_answers_nonsense_is_named_to_a_person(
    verdict: str, reason: str, said: dict[str, Any], named: str
) -> None:
    story = stuck().when(handler_says(verdict, reason, **said))
    story.then(like(f.OpinionGiven, verdict="failed", by="depot", reason=has(named)))
    (item,) = attention(story.run)
    assert (item.kind, item.subject) == ("stuck", "no way")
    assert item.detail.endswith(f"no help from depot: {story.new[0].reason}")  # type: ignore[attr-defined]


def test_a_handler_fails_the_run_and_what_was_done_is_undone() -> None:
    story = stuck().when(handler_says("fail", "sold out"))
    assert story.new[1] == f.UnwindingBegan("failed", f.Failure("stuck", "depot: sold out"))
    assert status(story.run) == "compensating"


def test_a_handler_cancels_the_run() -> None:
    story = stuck().when(handler_says("cancel", "not wanted any more"))
    assert story.new[1:3] == [
        f.CancelRequested("depot: not wanted any more"),
        f.UnwindingBegan("cancelled", f.Failure("cancelled", "depot: not wanted any more")),
    ]


def test_the_next_engine_asks_again_what_was_not_answered() -> None:
    story = stuck().when(taken_up("p"))
    story.then(like(Consult, who="depot"))


def test_a_run_that_was_stuck_before_there_were_handlers_is_asked_about_when_it_is_taken_up() -> None:
    story = stuck(tools=CATALOG).when(taken_up("p"), tools=HELPED)
    story.then(like(f.ConsultationRequested, who="depot"), like(Consult, who="depot"))


def test_news_make_the_question_void_and_a_late_answer_changes_nothing() -> None:
    story = stuck()
    late = story.message(handler_says("plan", "late", updates={"x": 1}))
    story.when(signal()).then(like(f.SignalReceived), like(f.PlanRequested), like(MakePlan))
    assert not story.run.is_helped
    story.when(late).then(like(f.OpinionGiven, verdict="plan", by=""))
    assert story.run.board == {}


def test_a_cancelled_run_waits_for_no_handler() -> None:
    story = stuck().when(cancel())
    assert not story.run.is_helped


def test_a_plan_by_a_person_is_never_replaced_by_a_handler() -> None:
    story = stuck(tools=CATALOG)
    story.when(proposes("look", by="human"))
    story.when(f.RunStuck("it could not be judged", f.Failure("judge", "no judge")))
    story.when(taken_up("p"), tools=HELPED).when(handler_says("plan", "again"))
    story.then(like(f.OpinionGiven, verdict="failed", reason=has("never replans by itself")))


def test_a_run_that_never_was_stuck_asks_nobody() -> None:
    story = given(start("reserve"), succeeds("E0"), tools=HELPED)
    assert not any(isinstance(fact, f.ConsultationRequested) for fact in story.facts)
