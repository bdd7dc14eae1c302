"""The facts of a schedule: public, and kept for ever, like those of runs (see ``domain.facts``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from ..facts.base import Fact, Limits, Mode
from ..goal import Goal
from ..plan import Plan
from .timing import Timing

Overlap = Literal["skip", "queue", "allow", "cancel_previous"]
CatchUp = Literal["skip", "last", "all"]
SkipReason = Literal["missed", "overlap", "queue_full", "superseded"]


class Start(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What the runs of a schedule are started with; see `Engine.start`."""

    goal: Goal
    plan: Plan | None = None
    planner: str = ""
    mode: Mode = "autonomous"
    tags: Mapping[str, str] = msgspec.field(default_factory=dict)
    limits: Limits = Limits()


class Terms(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a schedule was added with.

    Args:
        timing: when it falls due.
        start: what it starts.
        overlap: what becomes of a due time while the run before has not ended: ``skip`` it; ``queue`` one and
            start it after the end; ``allow`` both; ``cancel_previous``, and start once that has ended.
        catch_up: which of the due times are made up for that passed while nothing could start: none
            (``skip``), the ``last``, or ``all``.
        catch_up_limit: how many ``all`` are at most; the newest.
    """

    timing: Timing
    start: Start
    overlap: Overlap = "skip"
    catch_up: CatchUp = "last"
    catch_up_limit: int = 100


class ScheduleFact(Fact):
    """The base of the facts of schedules."""


class ScheduleAdded(ScheduleFact):
    """A schedule exists, for the first time or again. ``since`` is where its due times begin."""

    name: str
    terms: Terms
    since: float


class ScheduleFired(ScheduleFact):
    """A due time is to become a run, started with this key: whoever starts it twice starts it once."""

    due: float
    key: str


class ScheduledRunStarted(ScheduleFact):
    """The run of a due time exists."""

    due: float
    run: str


class ScheduledStartRefused(ScheduleFact):
    """The run of a due time could not be started."""

    due: float
    problem: str


class ScheduleQueued(ScheduleFact):
    """A due time waits for the end of the run before."""

    due: float


class ScheduleSkipped(ScheduleFact):
    """The due times from ``due`` until ``until`` come to nothing.

    ``run`` is the run that was in the way, where one was.
    """

    due: float
    until: float
    reason: SkipReason
    run: str = ""


class SchedulePaused(ScheduleFact):
    """Due times come to nothing from here on."""

    reason: str = ""


class ScheduleUnpaused(ScheduleFact):
    """Due times count again, those after ``since``."""

    since: float


class ScheduleRemoved(ScheduleFact):
    """The schedule is no more. The runs it has started go on."""

    reason: str = ""


FACTS: tuple[type[ScheduleFact], ...] = tuple(ScheduleFact.__subclasses__())
"""Every fact of schedules there is."""

BY_TOPIC: dict[str, type[Fact]] = {fact.topic: fact for fact in FACTS}
