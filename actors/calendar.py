"""Due times of cron expressions and intervals; the only module that knows the cron library and time zones.

A cron expression means what it means to Debian's cron, on the nights that clocks change, too. A time that
does not exist because clocks go forward falls due at once after the gap; one that exists twice falls due the
first time only. Expressions whose minute or hour begins with ``*`` follow real time instead.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from ..domain.errors import InvalidInputError
from ..domain.schedules.spelling import did_you_mean
from ..domain.schedules.timing import Every, Timing

_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_FIELDS = {
    "minute": "0-59",
    "hour": "0-23",
    "day-of-month": "1-31, L for the last day, LW for the last weekday",
    "month": "1-12 or JAN-DEC",
    "day-of-week": "0-7 or SUN-SAT (0 and 7 are Sunday), MON#2 for the second, 5L for the last Friday",
}
_LONGEST_MONTH = 31
_FORM = "minute hour day-of-month month day-of-week, such as '30 2 * * *' for 2:30 at night"


class CronCalendar:
    """Reads timings; see `Calendar` for its methods."""

    def check(self, timing: Timing) -> None:
        """Raise an `InvalidInputError` that says what is wrong with a timing, if it cannot be read."""
        if isinstance(timing, Every):
            return
        zone = _zone(timing.zone)
        expression = _expand(timing.expression)
        try:
            next(CronSim(expression, datetime.fromtimestamp(0, zone)), None)
        except CronSimError as error:
            raise InvalidInputError(_explain(timing.expression, str(error))) from error
        if self.after(timing, 0.0) is None:
            raise InvalidInputError(
                f"cron expression {timing.expression!r} never falls due: no year has such a day"
            )

    def after(self, timing: Timing, at: float) -> float | None:
        """Return the first due time after a time; ``None`` if there is none."""
        if isinstance(timing, Every):
            anchor = timing.anchor or 0
            return float(anchor + max(int((at - anchor) // timing.seconds) + 1, 1) * timing.seconds)
        for due in CronSim(_expand(timing.expression), datetime.fromtimestamp(at, _zone(timing.zone))):
            # In the second pass of an hour that exists twice, the library names times of the first.
            if due.timestamp() > at:
                return due.timestamp()
        return None

    def latest(self, timing: Timing, after: float, until: float) -> float | None:
        """Return the last due time that is after a time and not after another."""
        found = self.after(timing, after)
        if found is None or found > until:
            return None
        if isinstance(timing, Every):
            return found + (until - found) // timing.seconds * timing.seconds
        following = self.after(timing, found)
        if following is None or following > until:
            return found
        # What was missed may be very much: halve the time in which the last one must lie.
        low, high = following, until
        while high - low > 1:
            middle = (low + high) // 2
            due = self.after(timing, middle)
            if due is not None and due <= until:
                low = due
            else:
                high = middle
        return low


CALENDAR = CronCalendar()
"""The calendar of engines and of the command line; it holds nothing."""


def _expand(expression: Any) -> str:
    if not isinstance(expression, str):
        raise InvalidInputError(f"cron is {expression!r}; write a text: {_FORM}")
    words = expression.split()
    if len(words) == 1 and words[0].startswith("@"):
        alias = _ALIASES.get(words[0].lower())
        if alias is None:
            raise InvalidInputError(
                f"cron expression {expression!r} is no name that is known; write one of "
                f"{', '.join(_ALIASES)}, or five fields: {_FORM}.{did_you_mean(words[0], _ALIASES)}"
            )
        return alias
    if len(words) != len(_FIELDS):
        seconds = ". For seconds, use an interval" if len(words) == len(_FIELDS) + 1 else ""
        raise InvalidInputError(
            f"cron expression {expression!r} has {len(words)} fields; write five: {_FORM}{seconds}"
        )
    return expression


def _explain(expression: str, said: str) -> str:
    field = said.removeprefix("Bad ")
    if field not in _FIELDS:
        return f"cron expression {expression!r} cannot be read ({said}); write five fields: {_FORM}"
    found = expression.split()[list(_FIELDS).index(field)]
    if field == "day-of-month" and found.isdecimal() and 1 <= int(found) <= _LONGEST_MONTH:
        return f"cron expression {expression!r} never falls due: no month it names has a day {found}"
    return (
        f"cron expression {expression!r}: the {field} is {found!r}; write {_FIELDS[field]}, or *, lists "
        "(1,2), ranges (1-5) and steps (*/2) of these"
    )


def _zone(name: Any) -> ZoneInfo:
    if isinstance(name, str):
        try:
            return ZoneInfo(name)
        except (LookupError, ValueError, OSError):
            pass
    raise InvalidInputError(
        f"zone is {name!r}; write the IANA name of a time zone, such as 'Europe/Berlin' or 'UTC'."
        f"{did_you_mean(name, available_timezones())}"
    )
