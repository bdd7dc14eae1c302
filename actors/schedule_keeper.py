"""The keeper of one schedule: records what is decided about it, and has its runs started and cancelled."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING

from ..domain.decide import record
from ..domain.errors import InvalidInputError, MessageRefused, MidcourseError
from ..domain.messages import RequestCancel
from ..domain.run import Run
from ..domain.schedules.decide import CancelRunOf, ScheduleFacts, StartRunOf, next_due, orders
from ..domain.schedules.facts import Terms
from ..domain.schedules.messages import (
    ReportRunStarted,
    ReportStartRefused,
    ScheduleMessage,
    Tick,
)
from ..domain.schedules.schedule import Schedule
from ..domain.schedules.terms import start_message
from ..store import SCHEDULES
from .errors import EngineClosedError
from .handle import RunHandle
from .schedule_recorder import CLOSED, ScheduleRecorder

if TYPE_CHECKING:
    from .schedules import Office

_log = logging.getLogger("midcourse.actors")

_RETRY_S = 60.0
"""Seconds after which a schedule is looked at again that could not be read or recorded."""

_Asked = tuple[ScheduleMessage, asyncio.Future[ScheduleFacts] | None]


class Keeper:
    """Takes the messages of one schedule in turn.

    Args:
        name: the schedule.
        office: what all keepers share.
    """

    def __init__(self, name: str, office: Office) -> None:
        self.name = name
        self._office = office
        self._inbox: deque[_Asked] = deque()
        self._recorder = ScheduleRecorder(name, office)
        self._is_working = False
        self._awaited = ""
        self._lack = ""

    def tell(self, message: ScheduleMessage) -> None:
        """Hand over a message that nobody waits for."""
        self._put((message, None))

    def ask(self, message: ScheduleMessage) -> asyncio.Future[ScheduleFacts]:
        """Hand over a message; the future is given the facts it led to, or its error."""
        answer: asyncio.Future[ScheduleFacts] = asyncio.get_running_loop().create_future()
        self._put((message, answer))
        return answer

    def learn(self) -> None:
        """Others have written to the schedule."""
        self._recorder.forget()
        self.tell(Tick(at=self._office.clock()))

    def ring(self, at: float) -> None:
        """A due time has come, or so the timer says: it knows nothing of a clock that was set back."""
        now = self._office.clock()
        if now < at:
            self._office.hold(self.name, at)
            return
        self.tell(Tick(at=now))
        # The next one is held at once: by the time this one is recorded, it may have passed.
        self._hold(now)

    def _put(self, asked: _Asked) -> None:
        self._inbox.append(asked)
        if not self._is_working:
            self._is_working = True
            self._office.directory.spawn(self._work(), name=f"schedule {self.name}")

    async def _work(self) -> None:
        answer: asyncio.Future[ScheduleFacts] | None = None
        try:
            while self._inbox:
                message, answer = self._inbox.popleft()
                try:
                    facts = await self._take(message)
                except MidcourseError as error:
                    self._fail(error, answer)
                else:
                    if answer is not None and not answer.done():
                        answer.set_result(facts)
        except asyncio.CancelledError:  # the engine is closed; nobody may wait for ever
            for left in (answer, *(asked for _, asked in self._inbox)):
                if left is not None and not left.done():
                    left.set_exception(EngineClosedError(CLOSED))
            self._inbox.clear()
            raise
        finally:
            self._is_working = False
        self._hold()

    def _fail(self, error: MidcourseError, answer: asyncio.Future[ScheduleFacts] | None) -> None:
        if not isinstance(error, InvalidInputError):  # a refusal leaves what is known as it was
            self._recorder.forget()
        if answer is not None:
            if not answer.done():
                answer.set_exception(error)
        elif not self._office.is_closing:
            _log.error("schedule %s: %s", self.name, error, exc_info=error)

    async def _take(self, message: ScheduleMessage) -> ScheduleFacts:
        if isinstance(message, Tick) and self._lacks((await self._recorder.loaded()).schedule):
            return ()
        facts = await self._recorder.record(message)
        await self._carry_out()
        return facts

    def _hold(self, after: float | None = None) -> None:
        """Have the timer ring for the next due time, or for the next one after a time."""
        if self._recorder.stream is None:
            if after is None:
                self._office.hold(self.name, self._office.clock() + _RETRY_S)
            return
        schedule = self._recorder.stream.schedule
        if schedule.terms is None or schedule.is_paused:
            self._office.drop(self.name)
            return
        if after is None and self._lack:
            after = self._office.clock()  # what has passed meanwhile is left for an engine that can start it
        calendar = self._office.calendar
        due = next_due(schedule, calendar)
        if after is not None and due is not None and due <= after:
            due = calendar.after(schedule.terms.timing, after)
        if due is not None:
            self._office.hold(self.name, due)

    # ----------------------------------------------------------------------------------------- carrying out

    def _lacks(self, schedule: Schedule) -> bool:
        """Return whether this engine cannot start the schedule's runs; it says so, once."""
        lack = "" if schedule.terms is None else self._lack_of(schedule.terms)
        if lack and lack != self._lack:
            _log.warning(
                "schedule %s is left alone: %s. An engine that has it makes up for what falls due",
                self.name,
                lack,
            )
        self._lack = lack
        return bool(lack)

    def _lack_of(self, terms: Terms) -> str:
        planner = terms.start.planner
        if planner and planner not in self._office.planners.by_name:
            return f"planner {planner!r} is not registered with this engine"
        try:
            record(
                Run("trial"), start_message(self.name, terms.start, 0.0, 0.0), self._office.directory.catalog
            )
        except InvalidInputError as error:
            return str(error)
        return ""

    async def _carry_out(self) -> None:
        """Do what the state calls for, until it calls for nothing more."""
        tried: set[float] = set()
        while not self._office.is_closing:
            schedule = (await self._recorder.loaded()).schedule
            order = next((order for order in orders(schedule) if order.due not in tried), None)
            if order is None or schedule.terms is None or self._lacks(schedule):
                break
            tried.add(order.due)
            if isinstance(order, StartRunOf):
                await self._start(order, schedule.terms)
            else:
                await self._cancel(order)
        self._await_end()

    async def _start(self, order: StartRunOf, terms: Terms) -> None:
        message = start_message(self.name, terms.start, order.due, self._office.clock())
        try:
            run = await self._office.starter.start(message)
        except InvalidInputError as error:
            _log.error("schedule %s starts no run for %s: %s", self.name, order.key, error)
            await self._recorder.record(
                ReportStartRefused(at=self._office.clock(), due=order.due, problem=str(error))
            )
        else:
            await self._recorder.record(ReportRunStarted(at=self._office.clock(), due=order.due, run=run))

    async def _cancel(self, order: CancelRunOf) -> None:
        reason = f"schedule {self.name} is due again"
        message = RequestCancel(at=self._office.clock(), actor=f"schedule:{self.name}", reason=reason)
        try:
            await self._office.directory.ask(order.run, message)
        except MessageRefused:
            return  # it has ended meanwhile

    def _await_end(self) -> None:
        """Look again when the run before has ended, if a due time waits for that."""
        schedule = None if self._recorder.stream is None else self._recorder.stream.schedule
        if schedule is None or schedule.waiting is None or self._office.is_closing:
            return
        if not schedule.run:  # what was in its way could not be started
            self.tell(Tick(at=self._office.clock()))
            return
        if self._awaited == schedule.run:
            return
        self._awaited = schedule.run
        self._office.directory.spawn(self._tick_after(schedule.run), name=f"schedule {self.name} waits")

    async def _tick_after(self, run: str) -> None:
        try:
            await RunHandle(run, self._office.directory).outcome()
        except MidcourseError as error:
            if not self._office.is_closing:
                _log.error("schedule %s waits for run %s in vain: %s", self.name, run, error)
        else:
            self._awaited = ""
            self.tell(Tick(at=self._office.clock()))


def name_of(stream_id: str) -> str:
    """Return the name of the schedule of a stream."""
    return stream_id.removeprefix(SCHEDULES)
