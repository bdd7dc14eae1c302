"""Due times, also on the nights when clocks change."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.actors.calendar import CALENDAR
from midcourse.domain.errors import InvalidInputError
from midcourse.domain.schedules.timing import Cron, Every, Timing
from midcourse.domain.schedules.view import upcoming

BERLIN, NEW_YORK = "Europe/Berlin", "America/New_York"

# the day before, then what falls due from noon of that day, local times with their offsets
NIGHTS = (
    # the clock goes forward from 2:00 to 3:00: what is due in the gap is due at its end
    (BERLIN, "30 2 * * *", (2027, 3, 27), ("28T03:00+02:00", "29T02:30+02:00")),
    (BERLIN, "0,30 2 * * *", (2027, 3, 27), ("28T03:00+02:00", "29T02:00+02:00", "29T02:30+02:00")),
    (BERLIN, "30 1,3 * * *", (2027, 3, 27), ("28T01:30+01:00", "28T03:30+02:00", "29T01:30+02:00")),
    (NEW_YORK, "30 2 * * *", (2027, 3, 13), ("14T03:00-04:00", "15T02:30-04:00")),
    # the clock goes back, in Berlin from 3:00 to 2:00, in New York from 2:00 to 1:00: due once
    (BERLIN, "30 2 * * *", (2027, 10, 30), ("31T02:30+02:00", "01T02:30+01:00")),
    (NEW_YORK, "30 2 * * *", (2027, 11, 6), ("07T02:30-05:00", "08T02:30-05:00")),
    (NEW_YORK, "30 1 * * *", (2027, 11, 6), ("07T01:30-04:00", "08T01:30-05:00")),
)  # fmt: skip


@pytest.mark.parametrize(("zone", "expression", "day", "expected"), NIGHTS)
def test_nights_when_clocks_change(
    zone: str, expression: str, day: tuple[int, int, int], expected: tuple[str, ...]
) -> None:
    noon = datetime(*day, 12, tzinfo=ZoneInfo(zone))
    times = upcoming(Cron(expression, zone), CALENDAR, noon.timestamp(), len(expected))
    shown = [datetime.fromtimestamp(due, ZoneInfo(zone)).isoformat(timespec="minutes")[8:] for due in times]
    assert list(expected) == shown


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [(BERLIN, (2027, 3, 28), 23), (BERLIN, (2027, 10, 31), 25), (NEW_YORK, (2027, 3, 14), 23),
     (NEW_YORK, (2027, 11, 7), 25)],
)  # fmt: skip
def test_what_is_due_every_hour_follows_real_time(zone: str, day: tuple[int, int, int], hours: int) -> None:
    midnight = datetime(*day, tzinfo=ZoneInfo(zone)).timestamp()
    times = upcoming(Cron("30 * * * *", zone), CALENDAR, midnight, hours)
    assert [midnight + 1800 + 3600 * hour for hour in range(hours)] == list(times)
    assert datetime.fromtimestamp(times[-1], ZoneInfo(zone)).hour == 23


def test_an_interval_does_not_know_of_clocks_on_walls() -> None:
    midnight = int(datetime(2027, 3, 28, tzinfo=ZoneInfo(BERLIN)).timestamp())
    times = upcoming(Every(6 * 3600, midnight), CALENDAR, midnight, 3)
    assert [midnight + 6 * 3600 * n for n in (1, 2, 3)] == list(times)


def test_names_instead_of_five_fields() -> None:
    assert CALENDAR.after(Cron("@daily"), 0.0) == CALENDAR.after(Cron("0 0 * * *"), 0.0) == 86400.0


def test_the_first_due_time_of_an_interval_lies_behind_its_anchor() -> None:
    assert CALENDAR.after(Every(60, 1000), 0.0) == 1060.0
    assert CALENDAR.after(Every(60, 1000), 1059.9) == 1060.0
    assert CALENDAR.after(Every(60, 1000), 1060.0) == 1120.0
    assert CALENDAR.latest(Every(60, 1000), 1060.0, 1119.0) is None


def test_a_due_time_that_comes_once_in_many_years() -> None:
    leap = Cron("0 0 29 2 *")
    assert upcoming(leap, CALENDAR, 1_900_000_000.0, 2) == (1961625600.0, 2087856000.0)
    assert CALENDAR.latest(leap, 0.0, 1_900_000_000.0) == 1835395200.0


# -------------------------------------------------------------------------------------------- properties

CRONS = (
    "30 2 * * *",
    "0,30 1-3 * * *",
    "*/7 * * * *",
    "15 */2 * * *",
    "0 0 * * 0",
    "59 23 L * *",
    "* 2 * * *",
)
timings = st.one_of(
    st.builds(Cron, st.sampled_from(CRONS), st.sampled_from((BERLIN, NEW_YORK, "UTC", "America/Santiago"))),
    st.builds(Every, st.integers(1, 10**6), st.integers(0, 10**9)),
)
BEGIN = int(datetime(2027, 1, 1, tzinfo=ZoneInfo("UTC")).timestamp())
times = st.integers(BEGIN, BEGIN + 366 * 86400)


@given(timings, times, st.data())
def test_due_times_are_the_same_wherever_one_begins_to_look(
    timing: Timing, at: int, data: st.DataObject
) -> None:
    times = upcoming(timing, CALENDAR, at, 8)
    assert all(earlier < later for earlier, later in pairwise((at, *times)))
    begin = data.draw(st.integers(at, int(times[-1]) - 1))
    expected = next(due for due in times if due > begin)
    assert expected == CALENDAR.after(timing, begin)


@given(timings, times, st.integers(0, 40 * 86400))
def test_the_latest_due_time_is_the_last_that_is_followed_to(timing: Timing, at: int, length: int) -> None:
    until = at + length
    latest = CALENDAR.latest(timing, at, until)
    following = CALENDAR.after(timing, at if latest is None else latest)
    assert following is not None
    assert following > until
    if latest is not None:
        assert at < latest <= until
        assert CALENDAR.after(timing, latest - 1) == latest


@given(st.text("0123456789*/,-LW#@ADNOMSU ", max_size=24))
def test_any_text_falls_due_or_is_refused(expression: str) -> None:
    timing = Cron(expression, BERLIN)
    try:
        CALENDAR.check(timing)
    except InvalidInputError:
        return
    due = CALENDAR.after(timing, float(BEGIN))
    assert due is not None
    assert due > BEGIN
