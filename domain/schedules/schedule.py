"""The state of a schedule: what its facts amount to. Only ``evolve`` changes it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from . import facts as f


class Schedule:
    """The fold of a schedule's facts.

    Attributes:
        name: its name.
        version: version of its last fact; 0 if there never was one.
        terms: what it was added with; ``None`` before, and after it was removed.
        handled_until: due times up to this one were decided about.
        pending: due times that were fired and have no run yet, with the version of the fact that fired them.
            Nothing follows from them once the schedule is removed.
        waiting: the due time that waits for the end of the run before.
        run: the last run it started.
        last_due: the due time of that run.
        is_paused: due times come to nothing.
        problem: why the last start was refused; empty if it was not.
    """

    __slots__ = (
        "handled_until", "is_paused", "last_due", "name", "pending", "problem", "run", "terms", "version",
        "waiting",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.version = 0
        self.terms: f.Terms | None = None
        self.handled_until = -math.inf
        self.pending: dict[float, int] = {}
        self.waiting: float | None = None
        self.run = ""
        self.last_due: float | None = None
        self.is_paused = False
        self.problem = ""


def evolve(schedule: Schedule, fact: f.ScheduleFact) -> None:
    """Take one fact up into the state that its fold owns."""
    schedule.version += 1
    _EVOLVE[fact.__class__](schedule, fact)


def _added(schedule: Schedule, fact: f.ScheduleAdded) -> None:
    schedule.terms = fact.terms
    schedule.pending.clear()
    schedule.handled_until = fact.since
    schedule.is_paused = False
    schedule.problem = ""


def _fired(schedule: Schedule, fact: f.ScheduleFired) -> None:
    schedule.pending[fact.due] = schedule.version
    if schedule.waiting == fact.due:
        schedule.waiting = None
    _handled(schedule, fact.due)


def _run_started(schedule: Schedule, fact: f.ScheduledRunStarted) -> None:
    schedule.pending.pop(fact.due, None)
    schedule.run, schedule.last_due, schedule.problem = fact.run, fact.due, ""


def _start_refused(schedule: Schedule, fact: f.ScheduledStartRefused) -> None:
    schedule.pending.pop(fact.due, None)
    schedule.problem = fact.problem


def _queued(schedule: Schedule, fact: f.ScheduleQueued) -> None:
    schedule.waiting = fact.due
    _handled(schedule, fact.due)


def _skipped(schedule: Schedule, fact: f.ScheduleSkipped) -> None:
    if schedule.waiting == fact.due:
        schedule.waiting = None
    _handled(schedule, fact.until)


def _paused(schedule: Schedule, _fact: f.SchedulePaused) -> None:
    schedule.is_paused = True


def _unpaused(schedule: Schedule, fact: f.ScheduleUnpaused) -> None:
    schedule.is_paused = False
    _handled(schedule, fact.since)


def _removed(schedule: Schedule, _fact: f.ScheduleRemoved) -> None:
    schedule.terms = None
    schedule.waiting = None


def _handled(schedule: Schedule, until: float) -> None:
    schedule.handled_until = max(schedule.handled_until, until)


_EVOLVE: dict[type[f.ScheduleFact], Callable[[Schedule, Any], None]] = {
    f.ScheduleAdded: _added,
    f.ScheduleFired: _fired,
    f.ScheduledRunStarted: _run_started,
    f.ScheduledStartRefused: _start_refused,
    f.ScheduleQueued: _queued,
    f.ScheduleSkipped: _skipped,
    f.SchedulePaused: _paused,
    f.ScheduleUnpaused: _unpaused,
    f.ScheduleRemoved: _removed,
}
