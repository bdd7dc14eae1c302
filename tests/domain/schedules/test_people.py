"""Adding, removing, pausing; the facts; what a schedule looks like."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.actors.calendar import CALENDAR
from midcourse.domain.errors import InvalidInputError, MessageRefused
from midcourse.domain.facts import BY_TOPIC
from midcourse.domain.plan import Plan, Step
from midcourse.domain.schedules import facts as f
from midcourse.domain.schedules import messages as m
from midcourse.domain.schedules.decide import _RULES, next_due
from midcourse.domain.schedules.schedule import _EVOLVE
from midcourse.domain.schedules.terms import add_schedule, start_message
from midcourse.domain.schedules.timing import Cron, Every
from midcourse.domain.schedules.view import view
from midcourse.store import GENESIS
from midcourse.store.codec import decode, encode

from .kit import BEGINNING, Story, at, fired, given, queued, start, started, terms


def add(hours: float = 0.0, timing: Any = None, **policies: Any) -> m.AddSchedule:
    return m.AddSchedule(at=at(hours), name="hourly", terms=terms(timing, **policies))


def test_a_schedule_begins_when_it_is_added() -> None:
    Story(()).told(add()).then(f.ScheduleAdded("hourly", terms(), BEGINNING)).when(1).then(fired(1))


def test_an_interval_is_counted_from_when_it_is_added() -> None:
    story = Story(()).told(add(0.25, Every(3600)))
    assert next_due(story.schedule, CALENDAR) == at(1.25)
    story.told(add(0.75, Every(3600))).then()


def test_the_same_once_more_changes_nothing() -> None:
    given().told(add(5.0)).then()


def test_the_name_of_another_is_taken() -> None:
    with pytest.raises(
        InvalidInputError, match="'hourly' is there already, with another timing, overlap: no"
    ):
        given().told(add(timing=Cron("0 * * * *"), overlap="queue"))


def test_removed_it_falls_due_no_more_and_may_be_added_anew() -> None:
    story = given(fired(1), started(1, "run-1")).told(m.RemoveSchedule(at=at(1.5), reason="over"))
    story.then(f.ScheduleRemoved("over")).when(3).then().ordered()
    story.told(add(3.5, overlap="queue")).then(
        f.ScheduleAdded("hourly", terms(overlap="queue"), at(3.5))
    ).when(4, running=True).then(queued(4))


def test_what_was_fired_before_it_was_removed_is_not_started_any_more() -> None:
    story = given(fired(1)).ordered(start(1)).told(m.RemoveSchedule(at=at(1))).ordered()
    story.told(add(1.5)).ordered()


@pytest.mark.parametrize("kind", [m.RemoveSchedule, m.PauseSchedule, m.UnpauseSchedule])
def test_what_is_not_there_is_refused(kind: type[m.ScheduleMessage]) -> None:
    with pytest.raises(MessageRefused, match="there is no schedule 'hourly'"):
        Story(()).told(kind(at=at(0)))


def test_due_times_of_a_pause_come_to_nothing() -> None:
    story = given().told(m.PauseSchedule(at=at(0.5), reason="fair")).then(f.SchedulePaused("fair"))
    story.told(m.PauseSchedule(at=at(0.6))).then()
    story.when(3.5).then()
    assert next_due(story.schedule, CALENDAR) is None
    story.told(m.UnpauseSchedule(at=at(3.5))).then(f.ScheduleUnpaused(at(3.5)))
    story.told(m.UnpauseSchedule(at=at(3.6))).then()
    story.when(3.9).then().when(4).then(fired(4))


def test_a_start_that_is_refused_is_not_tried_again_and_shown() -> None:
    story = given(fired(1)).told(m.ReportStartRefused(at=at(1), due=at(1), problem="no such tool"))
    story.then(f.ScheduledStartRefused(at(1), "no such tool")).ordered()
    state = view(story.schedule, CALENDAR, at(1))
    assert state is not None
    assert (state.problem, state.next) == ("no such tool", (at(2),))
    story.told(m.ReportStartRefused(at=at(1), due=at(1), problem="again")).then()


def test_a_run_is_reported_once() -> None:
    report = m.ReportRunStarted(at=at(1), due=at(1), run="run-1")
    given(fired(1)).told(report).then(started(1, "run-1")).told(report).then()


def test_what_is_seen_of_a_schedule() -> None:
    story = given(fired(1), started(1, "run-1"), queued(2), overlap="queue")
    state = view(story.schedule, CALENDAR, at(4.5), count=3)
    assert state is not None
    assert (at(3), (at(5), at(6), at(7))) == (state.overdue_since, state.next)
    assert (at(1), "run-1", at(2)) == (state.last_due, state.last_run, state.waiting)
    assert view(Story(()).schedule, CALENDAR, at(0)) is None


def test_the_run_of_a_due_time_says_where_it_comes_from() -> None:
    message = start_message("hourly", terms().start, at(1), at(1.001))
    assert (message.key, message.actor) == ("schedule/hourly/2030-03-17T18:46:40Z", "schedule:hourly")
    assert message.tags == {"schedule": "hourly", "due": "2030-03-17T18:46:40Z"}


# ----------------------------------------------------------------------------------------------- facts

PLAN = Plan((Step("a", "work"),))
SAMPLES = (
    f.ScheduleAdded("n", f.Terms(Cron("0 2 * * *", "Europe/Berlin"), f.Start(terms().start.goal, PLAN)), 1.0),
    f.ScheduleAdded("n", terms(overlap="queue", catch_up="all", catch_up_limit=7), 1.5),
    fired(1), started(1, "run"), f.ScheduledStartRefused(at(1), "why"), queued(1),
    f.ScheduleSkipped(at(1), at(2), "missed", "run"), f.SchedulePaused("why"), f.ScheduleUnpaused(at(1)),
    f.ScheduleRemoved("why"),
)  # fmt: skip


@pytest.mark.parametrize("fact", SAMPLES, ids=lambda fact: fact.topic)
def test_every_fact_comes_back_as_it_was(fact: f.ScheduleFact) -> None:
    encoded = encode("schedule/n", 0, GENESIS, [(1.0, "engine", 0, fact)])
    assert fact == decode(*encoded.parameters).fact


def test_every_fact_has_a_sample_a_rule_and_a_topic_that_no_fact_of_a_run_has() -> None:
    assert set(f.FACTS) == {type(sample) for sample in SAMPLES} == set(_EVOLVE)
    assert not set(f.BY_TOPIC) & set(BY_TOPIC)
    assert len(f.FACTS) == len(f.BY_TOPIC)


def test_every_message_is_answered_by_a_rule() -> None:
    assert set(m.ScheduleMessage.__subclasses__()) == set(_RULES)


# ---------------------------------------------------------------------------------------- what is wrong

WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({}, r"takes one of a cron expression .* and an interval .*, not neither"),
    ({"cron": "0 2 * * *", "every_s": 60}, "not both"),
    ({"cron": "61 2 * * *"}, r"'61 2 \* \* \*': the minute is '61'; write 0-59, or"),
    ({"cron": "0 2 * *"}, r"has 4 fields; write five: minute hour"),
    ({"cron": "0 0 2 * * *"}, r"has 6 fields; .* For seconds, use an interval"),
    ({"cron": "@dayly"}, r"write one of @hourly, .* Did you mean '@daily'\?"),
    ({"cron": "0 0 31 2 *"}, r"never falls due: no month it names has a day 31"),
    ({"cron": 5}, "cron is 5; write a text"),
    ({"cron": "0 2 * * *", "zone": "Europe/Berln"}, r"'Europe/Berln'; .* you mean 'Europe/Berlin'\?"),
    ({"cron": "0 2 * * *", "zone": "../../etc"}, "zone is '../../etc'; write the IANA name"),
    ({"every_s": 60, "zone": "UTC"}, "zone is for cron expressions"),
    ({"cron": "0 2 * * *", "anchor": 5}, "anchor is for intervals"),
    ({"every_s": 0}, "every_s is 0; write a whole number of seconds from 1 to"),
    ({"every_s": 0.5}, "every_s is 0.5; write a whole number"),
    ({"every_s": 60, "anchor": -1}, "anchor is -1; write a whole number of seconds since the epoch"),
    ({"every_s": 60, "overlap": "quue"}, r"overlap is 'quue'; write one of skip, queue, .* mean 'queue'\?"),
    ({"every_s": 60, "catch_up": "none"}, r"catch_up is 'none'; write one of skip, last, all\."),
    ({"every_s": 60, "catch_up_limit": 5000}, "catch_up_limit is 5000; write a whole number from 1 to 1000"),
    ({"every_s": 60, "mode": "auto"}, "mode is 'auto'; write one of autonomous, interactive"),
    ({"every_s": 60, "planner": ""}, "starts nothing: give it a plan or name a planner"),
    ({"every_s": 60, "name": "a/b"}, "name is 'a/b'; write up to 100 letters"),
    ({"every_s": 60, "name": ""}, "name is ''"),
    ({"every_s": 60, "tags": {"schedule": "x"}}, "tag 'schedule' is set by the schedule itself"),
    ({"every_s": 60, "tags": {"a": 1}}, "tags"),
    ({"every_s": 60, "goal": 7}, "goal is 7"),
)  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), WRONG)
def test_what_is_wrong_is_said(changes: dict[str, Any], message: str) -> None:
    asked: dict[str, Any] = {"name": "nightly", "goal": "sum up", "planner": "reports", **changes}
    with pytest.raises(InvalidInputError, match=message):
        add_schedule(**asked, calendar=CALENDAR, at=BEGINNING, actor="host")
