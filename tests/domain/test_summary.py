"""A run at a glance."""

from __future__ import annotations

import pytest

from midcourse.domain import facts as f
from midcourse.domain.summary import attention, is_dormant, needs_attention, status, wake_at

from .kit import Story, catalog_without, given, has, step
from .tellings import (
    asks_replan,
    cancel,
    fails,
    is_lost,
    later,
    no_plan,
    planned,
    planning_fails,
    proposes,
    replan,
    retries,
    signal,
    start,
    succeeds,
    taken_up,
)

BOTH = (step("look", needs=()), step("ship", needs=()))
LATE = [*planned("reserve"), fails("E0"), no_plan(give_up=True), succeeds("E0")]
PARKED = [start("charge", "look"), succeeds("E0"), cancel(), is_lost("E1", "cancelled"), fails("undo E0")]


@pytest.mark.parametrize(
    ("story", "expected"),
    [
        (given(start()), "planning"),
        (given(start(), planning_fails()), "planning"),
        (given(*planned("look"), fails("E0")), "planning"),
        (given(start("look")), "running"),
        (given(start("reserve"), fails("E0", retry_after_s=1.0)), "waiting"),
        (given(start("charge"), is_lost("E0")), "running"),
        (given(start("ship"), is_lost("E0")), "attention"),
        (given(start(*BOTH), is_lost("E1")), "running"),
        (given(*planned("look"), fails("E0"), no_plan()), "attention"),
        (given(start("look"), cancel()), "compensating"),
        (given(*PARKED[:-1]), "compensating"),
        (given(*PARKED), "attention"),
        (given(start("look"), succeeds("E0")), "completed"),
        (given(start("look"), fails("E0")), "failed"),
        (given(start(), cancel()), "cancelled"),
        (given(*LATE), "compensating"),
        (given(start(), taken_up()), "attention"),
        (given(*planned("look", "ship"), taken_up()), "running"),
    ],
)
def test_status(story: Story, expected: str) -> None:
    assert status(story.run) == expected


def test_everything_that_waits_for_a_person_is_one_list() -> None:
    story = given(start("ship"), is_lost("E0"))
    assert [(each.kind, each.subject) for each in attention(story.run)] == [
        ("unknown_outcome", story.key("E0"))
    ]
    story = given(*PARKED)
    assert [(each.kind, each.subject, each.detail) for each in attention(story.run)] == [
        ("parked_compensation", story.key("undo E0"), "no")
    ]
    story = given(*planned("look"), fails("E0", "closed"), no_plan())
    assert [(each.kind, each.detail) for each in attention(story.run)] == [
        ("stuck", "another plan was asked for: closed")
    ]


def test_a_run_that_is_stuck_on_refused_answers_says_what_was_wrong_and_what_helps() -> None:
    story = given(start(), proposes("shp"), proposes("shp"), proposes("shp"))
    (stuck,) = attention(story.run)
    assert stuck.subject == "the same plan was refused 3 times in a row"
    assert stuck.detail == has("refused because: step E0: unknown tool 'shp' (did you mean 'ship'?)")
    assert stuck.remedy == has("mend the planner and have it replan", "propose", "signal", "cancel")


def test_replanning_is_no_remedy_without_a_planner_or_once_its_budget_is_spent() -> None:
    for story in (
        given(start("ship"), f.ReplanRequested("person", "moved", "d"), succeeds("E0")),
        given(*planned("look", limits=f.Limits(replans=0)), fails("E0")),
    ):
        (stuck,) = attention(story.run)
        assert "replan" not in stuck.remedy


def test_missing_parts_are_named() -> None:
    story = given(start(), taken_up())
    assert [(each.kind, each.subject, each.detail) for each in attention(story.run)] == [
        ("missing_planner", "p", "planner 'p' is not registered")
    ]
    story = given(start("look", "ship")).when(succeeds("E0"), tools=catalog_without("user__ship"))
    assert [(each.kind, each.subject) for each in attention(story.run)] == [("missing_tool", "user__ship")]


def test_each_says_what_a_person_can_do() -> None:
    story = given(start("ship"), is_lost("E0"))
    assert attention(story.run)[0].remedy == has("happened", "receipt", "not happened")


@pytest.mark.parametrize(
    "story",
    [
        given(start("look")),
        given(start("charge"), is_lost("E0")),
        given(start("look"), succeeds("E0")),
        given(start(), taken_up(), cancel()),
        given(*planned("look"), fails("E0"), no_plan(), cancel()),
    ],
)
def test_nothing_waits_for_a_person(story: Story) -> None:
    assert attention(story.run) == []
    assert not needs_attention(story.run)


def test_the_cheap_question_and_the_list_agree() -> None:
    for history in (PARKED, [start(), taken_up()], [start("ship"), is_lost("E0")]):
        assert needs_attention(given(*history).run)


@pytest.mark.parametrize(
    ("story", "expected"),
    [
        (given(start("look")), None),
        (given(start("reserve"), fails("E0", retry_after_s=7.0)), 107.0),
        (given(start(), planning_fails()), 102.0),
        (given(*PARKED[:-1], fails("undo E0", retry_after_s=1.0)), None),
        (
            given(
                start("reserve", "look"),
                succeeds("E0"),
                cancel(),
                is_lost("E1", "cancelled"),
                fails("undo E0", retry_after_s=3.0),
            ),
            103.0,
        ),
    ],
)
def test_when_it_must_be_looked_at_again(story: Story, expected: float | None) -> None:
    assert wake_at(story.run) == expected


def test_of_several_times_the_first() -> None:
    steps = (step("reserve", needs=()), step("look", needs=()))
    story = given(start(*steps), fails("E0", retry_after_s=9.0), fails("E1", retry_after_s=4.0))
    assert wake_at(story.run) == 104.0


def test_what_waits_for_something_else_than_time_has_no_time() -> None:
    undo_runs = given(start("reserve", step("reserve", input={"n": 2}), "look"))
    for place in (0, 1):
        undo_runs.when(succeeds(f"E{place}"))
    undo_runs.when(cancel()).when(is_lost("E2", "cancelled")).when(fails("undo E1", retry_after_s=1.0))
    assert wake_at(undo_runs.run) is None

    tool_missing = given(start("reserve"), fails("E0", retry_after_s=1.0))
    tool_missing.when(later(1.0), tools=catalog_without("user__reserve"))
    assert wake_at(tool_missing.run) is None

    planner_missing = given(start(), planning_fails(), taken_up())
    assert wake_at(planner_missing.run) is None

    for ending in (cancel(), proposes("ship", by="human")):
        assert wake_at(given(start(), planning_fails(), ending).run) is None


@pytest.mark.parametrize(
    ("story", "expected"),
    [
        (given(start()), False),
        (given(start("look")), False),
        (given(start("charge"), is_lost("E0")), False),
        (given(*PARKED, retries("E0")), False),
        (given(start("ship"), is_lost("E0")), True),
        (given(start("reserve"), fails("E0", retry_after_s=1.0)), True),
        (given(start(), planning_fails()), True),
        (given(start(), taken_up()), True),
        (given(*PARKED), True),
        (given(start("look"), succeeds("E0")), True),
        (given(*planned(*BOTH), asks_replan("E0"), succeeds("E1")), False),
        (given(start(), signal(), replan()), False),
    ],
)
def test_a_run_of_which_nothing_is_in_flight_need_not_be_kept_in_memory(story: Story, expected: bool) -> None:
    assert is_dormant(story.run) is expected
