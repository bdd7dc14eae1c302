"""Recording what is decided about one schedule: at its newest version, however often others are quicker."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from ..domain.schedules.decide import ScheduleFacts, decide
from ..domain.schedules.messages import (
    AddSchedule,
    ReportRunStarted,
    ReportStartRefused,
    ScheduleMessage,
    Tick,
)
from ..domain.schedules.schedule import Schedule, evolve
from ..store import FINAL_STATUSES, Append, Appended, JournalError, VersionConflictError
from .errors import EngineClosedError
from .schedule_stream import ScheduleStream, append_of, load_schedule, require_schedule

if TYPE_CHECKING:
    from .schedules import Office

CLOSED = "the engine is closing, or closed; start a new one"


class ScheduleRecorder:
    """Keeps the state of a schedule while it is the newest.

    A conflict or an append of others drops it; then it is folded anew, and the message is decided again.

    Args:
        name: the schedule.
        office: what all schedules of an engine share.

    Attributes:
        stream: the state, where it is known.
    """

    def __init__(self, name: str, office: Office) -> None:
        self.stream: ScheduleStream | None = None
        self._name = name
        self._office = office
        self._news = 0

    def forget(self) -> None:
        """Others have written: what is known, or being read, is not the newest."""
        self._news += 1
        self.stream = None

    async def loaded(self) -> ScheduleStream:
        """Return the schedule, folded if it is not known."""
        while self.stream is None:
            async with self._office.directory.slots:
                news = self._news
                stream = await load_schedule(self._office.journal, self._name)
            if news == self._news:
                self.stream = stream
        return self.stream

    async def record(self, message: ScheduleMessage) -> ScheduleFacts:
        """Decide, append, and move the state forward; again, as often as others were quicker."""
        while True:
            stream = await self.loaded()
            schedule = stream.schedule
            if isinstance(message, Tick):
                message = msgspec.structs.replace(message, is_running=await self._is_running(schedule))
            elif not isinstance(message, (AddSchedule, ReportRunStarted, ReportStartRefused)):
                await require_schedule(self._office.journal, self._name, schedule)
            facts = decide(schedule, message, self._office.calendar)
            if not facts:
                return ()
            if self._office.is_closing:
                raise EngineClosedError(CLOSED)
            try:
                appended = await self._append(append_of(stream, message, facts))
            except VersionConflictError:
                self.stream = None
                continue
            for fact in facts:
                evolve(schedule, fact)
            if self.stream is stream:
                self.stream = ScheduleStream(schedule, appended.head_hash)
            return facts

    async def _append(self, append: Append) -> Appended:
        directory = self._office.directory
        done: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()
        directory.busy.add(done)
        directory.post(partial(self._submit, append, done))
        return await done

    def _submit(self, append: Append, done: asyncio.Future[Appended]) -> None:
        try:
            self._office.journal.submit(append, partial(self._settle, done))
        except JournalError as error:
            self._settle(done, error)

    def _settle(self, done: asyncio.Future[Appended], result: Appended | JournalError) -> None:
        self._office.directory.rest(done)
        if done.done():
            return
        if isinstance(result, Appended):
            done.set_result(result)
        else:
            done.set_exception(result)

    async def _is_running(self, schedule: Schedule) -> bool:
        """Return whether the last run has not ended; nobody asks where runs may overlap."""
        terms = schedule.terms
        if not schedule.run or terms is None or terms.overlap == "allow":
            return False
        index = await self._office.journal.get_index(schedule.run)
        return index is not None and index.status not in FINAL_STATUSES
