"""Schedules out of the journal and into it: folded, decided about, appended to by whoever may."""

from __future__ import annotations

import asyncio
from typing import NamedTuple, cast

from ..domain.schedules.decide import ScheduleFacts, decide
from ..domain.schedules.facts import ScheduleFact
from ..domain.schedules.messages import AddSchedule, ReportRunStarted, ReportStartRefused, ScheduleMessage
from ..domain.schedules.schedule import Schedule, evolve
from ..domain.schedules.timing import Calendar
from ..domain.schedules.view import ScheduleState, view
from ..store import GENESIS, SCHEDULES, Append, Journal, VersionConflictError
from .calendar import CALENDAR
from .errors import ScheduleNotFoundError

MOST_CONFLICTS = 50
"""Appends that may meet another one before a writer gives up."""

_SLICE = 128


class ScheduleStream(NamedTuple):
    """A schedule as its facts have it.

    Attributes:
        schedule: the state.
        hash: hash of the last record.
    """

    schedule: Schedule
    hash: str


async def load_schedule(journal: Journal, name: str) -> ScheduleStream:
    """Fold a schedule; one that never was has version 0.

    Raises:
        JournalError: a record cannot be read.
    """
    schedule, hash_ = Schedule(name), GENESIS
    async for batch in journal.batches(SCHEDULES + name, size=_SLICE):
        for record in batch:
            evolve(schedule, cast(ScheduleFact, record.fact))
        hash_ = batch[-1].hash
    return ScheduleStream(schedule, hash_)


def append_of(stream: ScheduleStream, message: ScheduleMessage, facts: ScheduleFacts) -> Append:
    """Return the append of what was decided about a message."""
    schedule = stream.schedule
    cause = 0
    if isinstance(message, (ReportRunStarted, ReportStartRefused)):
        cause = schedule.pending.get(message.due, 0)
    entries = [(message.at, message.actor, cause, fact) for fact in facts]
    return Append(SCHEDULES + schedule.name, schedule.version, stream.hash, entries)


async def read_schedules(
    journal: Journal, at: float, *, count: int = 1, calendar: Calendar = CALENDAR
) -> list[ScheduleState]:
    """Return the schedules of a store by name, each with its next ``count`` due times after ``at``."""
    states: list[ScheduleState] = []
    for stream in await journal.streams(SCHEDULES):
        schedule = (await load_schedule(journal, stream.removeprefix(SCHEDULES))).schedule
        if (state := view(schedule, calendar, at, count=count)) is not None:
            states.append(state)
    return states


async def require_schedule(journal: Journal, name: str, schedule: Schedule) -> None:
    """Raise a `ScheduleNotFoundError` that says which there are, unless a schedule is there."""
    if schedule.terms is None:
        raise ScheduleNotFoundError(
            name, [state.name for state in await read_schedules(journal, 0.0, count=0)]
        )


async def write_schedule(
    journal: Journal, name: str, message: ScheduleMessage, calendar: Calendar = CALENDAR
) -> ScheduleFacts:
    """Record what a message amounts to, from outside the engine, which notices and acts on it.

    Args:
        journal: the store.
        name: the schedule.
        message: what it is told.
        calendar: reads the timing.

    Returns:
        the facts that were recorded; none, where all was so already.

    Raises:
        ScheduleNotFoundError: there is no such schedule.
        InvalidInputError: the name is taken.
        JournalError: it could not be recorded.
    """
    conflicts = 0
    while True:
        stream = await load_schedule(journal, name)
        if not isinstance(message, AddSchedule):
            await require_schedule(journal, name, stream.schedule)
        facts = decide(stream.schedule, message, calendar)
        try:
            if facts:
                await journal.append(append_of(stream, message, facts))
            return facts
        except VersionConflictError:
            conflicts += 1
            if conflicts > MOST_CONFLICTS:
                raise
            await asyncio.sleep(0)
