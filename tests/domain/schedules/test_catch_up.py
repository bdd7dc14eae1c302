"""Due times that passed while nothing could start, and clocks that jump."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.actors.calendar import CALENDAR
from midcourse.domain.schedules.decide import next_due

from .kit import at, fired, given, skipped, started

SECOND = 1 / 3600
ALL: dict[str, Any] = {"catch_up": "all", "overlap": "allow"}


@pytest.mark.parametrize("catch_up", ["skip", "last", "all"])
def test_a_due_time_seen_within_a_minute_is_on_time(catch_up: str) -> None:
    given(catch_up=catch_up).when(1 + 59 * SECOND).then(fired(1))


def test_skip_starts_nothing_that_was_missed() -> None:
    given(catch_up="skip").when(1 + 60 * SECOND).then(skipped(1, "missed"))
    given(catch_up="skip").when(5.5).then(skipped(1, "missed", until=5)).ordered()


def test_skip_starts_what_is_due_now_all_the_same() -> None:
    given(catch_up="skip").when(5).then(skipped(1, "missed", until=4), fired(5))


def test_last_starts_one_however_many_were_missed() -> None:
    given(catch_up="last").when(1.5).then(fired(1))
    given(catch_up="last").when(5.5).then(skipped(1, "missed", until=4), fired(5))


def test_all_starts_all() -> None:
    given(**ALL).when(3.5).then(fired(1), fired(2), fired(3))


def test_all_has_a_bound_and_starts_the_newest() -> None:
    given(**ALL, catch_up_limit=2).when(5.5).then(skipped(1, "missed", until=3), fired(4), fired(5))
    given(**ALL, catch_up_limit=5).when(5.5).then(*map(fired, (1, 2, 3, 4, 5)))


def test_what_is_caught_up_on_overlaps_as_anything_else() -> None:
    given(catch_up="all", overlap="skip").when(3.5).then(
        fired(1), skipped(2, "overlap"), skipped(3, "overlap")
    )


def test_a_clock_that_is_set_back_fires_no_due_time_twice() -> None:
    story = given(fired(1), started(1, "run-1"), fired(2), started(2, "run-2"))
    story.when(0.5).then()
    story.when(1.0).then()
    story.when(2.9).then()
    story.when(3.0).then(fired(3))


def test_a_clock_that_is_set_forward_is_caught_up_with() -> None:
    given(catch_up="last").when(24 * 365).then(skipped(1, "missed", until=24 * 365 - 1), fired(24 * 365))


@pytest.mark.parametrize("catch_up", ["skip", "last", "all"])
def test_what_was_decided_about_is_not_decided_about_again(catch_up: str) -> None:
    story = given(catch_up=catch_up).when(7.5)
    story.when(7.5).then()
    assert next_due(story.schedule, CALENDAR) == at(8)
