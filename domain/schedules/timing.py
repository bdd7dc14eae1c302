"""When a schedule falls due: what people write down, and what has to be known of a calendar to read it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol, TypeAlias

import msgspec


class Cron(msgspec.Struct, frozen=True, tag="cron", omit_defaults=True, gc=False):
    """At the times that a cron expression names.

    Args:
        expression: minute, hour, day of month, month, day of week.
        zone: IANA name of the time zone it is read in.
    """

    expression: str
    zone: str = "UTC"


class Every(msgspec.Struct, frozen=True, tag="every", omit_defaults=True, gc=False):
    """In even steps of real time, whatever clocks on walls are set to.

    Args:
        seconds: the length of a step.
        anchor: the time the steps are counted from, in seconds since the epoch; the first due time is one
            step later. ``None`` for the time the schedule is added.
    """

    seconds: int
    anchor: int | None = None


Timing: TypeAlias = Cron | Every


class Calendar(Protocol):
    """Reads timings. It is handed in: rules of time zones change, and are no business of the core."""

    def check(self, timing: Timing) -> None:
        """Raise an `InvalidInputError` that says what is wrong with a timing, if it cannot be read."""

    def after(self, timing: Timing, at: float) -> float | None:
        """Return the first due time after a time; ``None`` if there is none. Due times are whole seconds."""

    def latest(self, timing: Timing, after: float, until: float) -> float | None:
        """Return the last due time that is after a time and not after another."""


def key_of(name: str, due: float) -> str:
    """Return the idempotency key of the run that a schedule starts for a due time."""
    return f"schedule/{name}/{moment(due)}"


def moment(at: float) -> str:
    """Return a time as text, in UTC and to the second."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
