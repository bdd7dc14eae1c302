"""Times as people write and read them."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from typing import Any

import click

_AGO = re.compile(r"(\d+(?:\.\d+)?)([smhdw])\Z")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_ALLOWED = (
    "a time such as 2030-01-31, 2030-01-31T14:05 or 2030-01-31T14:05:00Z, or an age such as 90s, 15m, 2h, 3d"
)


def parse_moment(text: str, now: float) -> float:
    """Return seconds since the epoch.

    Args:
        text: an ISO 8601 date or time (local, where it names no zone), or an age before ``now``.
        now: seconds since the epoch.

    Raises:
        ValueError: it is neither.
    """
    ago = _AGO.match(text)
    if ago:
        return now - float(ago[1]) * _SECONDS[ago[2]]
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"{text!r} is not {_ALLOWED}") from None


class Moment(click.ParamType[float]):
    """A point in time."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return seconds since the epoch."""
        if isinstance(value, float):
            return value
        try:
            return parse_moment(value, time.time())
        except ValueError as error:
            self.fail(str(error), param, ctx)


def show_moment(at: float, *, fine: bool = False) -> str:
    """Return local time, with milliseconds if ``fine``; in seconds what no calendar has."""
    try:
        moment = datetime.fromtimestamp(at, UTC).astimezone()
    except (ValueError, OverflowError, OSError):
        return f"{at:g} s after 1970"
    text = moment.isoformat(" ", "milliseconds" if fine else "seconds")
    return text[:23] if fine else text[:19]


def show_age(seconds: float) -> str:
    """Return how long ago something was, in the largest unit that fits."""
    for unit in ("w", "d", "h", "m"):
        if seconds >= _SECONDS[unit]:
            return f"{int(seconds // _SECONDS[unit])}{unit}"
    return f"{max(0, int(seconds))}s"
