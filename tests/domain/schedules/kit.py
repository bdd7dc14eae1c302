"""*Given* a schedule and its facts, *when* it is told something, *then* these facts follow, and orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from midcourse.actors.calendar import CALENDAR
from midcourse.domain.goal import Goal
from midcourse.domain.schedules import facts as f
from midcourse.domain.schedules import messages as m
from midcourse.domain.schedules.decide import CancelRunOf, StartRunOf, decide, orders
from midcourse.domain.schedules.schedule import Schedule, evolve
from midcourse.domain.schedules.timing import Every, Timing, key_of

BEGINNING = 1_900_000_000.0
HOUR = 3600.0


def at(hours: float) -> float:
    """The time so many hours after the schedule was added; it is due at every full one."""
    return BEGINNING + hours * HOUR


def terms(timing: Timing | None = None, **policies: Any) -> f.Terms:
    every_hour = Every(int(HOUR), int(BEGINNING))
    return f.Terms(timing or every_hour, f.Start(Goal("sum up"), planner="reports"), **policies)


def fired(hours: float) -> f.ScheduleFired:
    return f.ScheduleFired(at(hours), key_of("hourly", at(hours)))


def skipped(hours: float, reason: f.SkipReason, *, until: float | None = None, run: str = "") -> Any:
    return f.ScheduleSkipped(at(hours), at(hours if until is None else until), reason, run)


def queued(hours: float) -> f.ScheduleQueued:
    return f.ScheduleQueued(at(hours))


def started(hours: float, run: str) -> f.ScheduledRunStarted:
    return f.ScheduledRunStarted(at(hours), run)


def start(hours: float) -> StartRunOf:
    return StartRunOf(at(hours), key_of("hourly", at(hours)))


def cancel(run: str, hours: float) -> CancelRunOf:
    return CancelRunOf(run, at(hours))


class Story:
    """A schedule by the name of ``hourly``."""

    def __init__(self, facts: Sequence[f.ScheduleFact]) -> None:
        self.schedule = Schedule("hourly")
        for fact in facts:
            evolve(self.schedule, fact)
        self.new: list[f.ScheduleFact] = []

    def told(self, message: m.ScheduleMessage) -> Story:
        self.new = list(decide(self.schedule, message, CALENDAR))
        for fact in self.new:
            evolve(self.schedule, fact)
        return self

    def when(self, hours: float, *, running: bool = False) -> Story:
        """It is seen that so many hours have passed."""
        return self.told(m.Tick(at=at(hours), is_running=running))

    def then(self, *facts: f.ScheduleFact) -> Story:
        assert list(facts) == self.new
        return self

    def ordered(self, *given: Any) -> Story:
        assert list(given) == orders(self.schedule)
        return self


def given(*facts: f.ScheduleFact, timing: Timing | None = None, **policies: Any) -> Story:
    """A schedule that was added at the beginning, and what happened since."""
    return Story((f.ScheduleAdded("hourly", terms(timing, **policies), BEGINNING), *facts))
