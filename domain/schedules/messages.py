"""What a schedule can be told."""

from __future__ import annotations

import msgspec

from .facts import Terms


class ScheduleMessage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The base of all messages.

    Args:
        at: when it was taken up, in seconds since the epoch.
        actor: who sent it.
    """

    at: float
    actor: str = "engine"


class AddSchedule(ScheduleMessage, frozen=True, kw_only=True):
    """Begin to fall due, from now on."""

    name: str
    terms: Terms


class RemoveSchedule(ScheduleMessage, frozen=True, kw_only=True):
    """Fall due no more."""

    reason: str = ""


class PauseSchedule(ScheduleMessage, frozen=True, kw_only=True):
    """Let due times come to nothing until further notice."""

    reason: str = ""


class UnpauseSchedule(ScheduleMessage, frozen=True, kw_only=True):
    """Let due times count again, those from now on."""


class Tick(ScheduleMessage, frozen=True, kw_only=True):
    """See what time it is.

    Args:
        is_running: the last run of the schedule has not ended.
    """

    is_running: bool = False


class ReportRunStarted(ScheduleMessage, frozen=True, kw_only=True):
    """The run of a due time exists."""

    due: float
    run: str


class ReportStartRefused(ScheduleMessage, frozen=True, kw_only=True):
    """The run of a due time cannot be started."""

    due: float
    problem: str
