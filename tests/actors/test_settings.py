"""What an engine can be told, and what it cannot."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse import Settings
from midcourse.domain.errors import InvalidInputError


@pytest.mark.parametrize(
    "name", ["max_attempts_at_once", "tool_threads", "max_plannings_at_once", "max_starts_queued"]
)
@pytest.mark.parametrize("value", [0, -1, 1.5, True, "8", None])
def test_without_a_place_nothing_would_ever_begin(name: str, value: Any) -> None:
    with pytest.raises(InvalidInputError, match=f"settings: {name} is .*; it is a whole number of 1 or more"):
        Settings(**{name: value})


@pytest.mark.parametrize("name", ["drain_s", "close_grace_s", "cancel_timeout_s", "probe_timeout_s"])
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), True, "5", None])
def test_seconds_are_a_number_from_0_up(name: str, value: Any) -> None:
    with pytest.raises(
        InvalidInputError, match=f"settings: {name} is .*; it is a number of seconds of 0 or more$"
    ):
        Settings(**{name: value})


@pytest.mark.parametrize("name", ["planning_timeout_s", "review_timeout_s", "stuck_timeout_s"])
@pytest.mark.parametrize("value", [-1, float("nan"), "5"])
def test_a_time_limit_may_be_none_at_all(name: str, value: Any) -> None:
    with pytest.raises(InvalidInputError, match=f"settings: {name} is .*; it is .*, or None$"):
        Settings(**{name: value})
    nothing: dict[str, Any] = {name: None}
    assert getattr(Settings(**nothing), name) is None


def test_what_fits_is_taken_as_it_is() -> None:
    settings = Settings(drain_s=0, stuck_timeout_s=0.01, tool_threads=1)
    assert (settings.drain_s, settings.stuck_timeout_s, settings.tool_threads) == (0, 0.01, 1)


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "8"])
def test_places_for_runs_are_as_many_as_there_are_runs_or_a_whole_number(value: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"max_active_runs is .*; it is a whole number of 1 or more"):
        Settings(max_active_runs=value)
    assert Settings(max_active_runs=None).max_active_runs is None


def test_places_for_runs_need_runs_that_are_let_go_of() -> None:
    with pytest.raises(
        InvalidInputError, match="passivate is False; it is True where max_active_runs is set"
    ):
        Settings(max_active_runs=5, passivate=False)
