"""The schedules of an engine: added and removed here or by other processes, and fired when they are due."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..domain.decide import record
from ..domain.errors import InvalidInputError
from ..domain.facts import Limits, Mode
from ..domain.goal import Goal
from ..domain.plan import Plan
from ..domain.run import Run
from ..domain.schedules.facts import CatchUp, Overlap
from ..domain.schedules.messages import (
    PauseSchedule,
    RemoveSchedule,
    ScheduleMessage,
    Tick,
    UnpauseSchedule,
)
from ..domain.schedules.terms import add_schedule, checked_name, start_message
from ..domain.schedules.timing import Calendar
from ..domain.schedules.view import ScheduleState
from ..store import SCHEDULES
from .asking import actor
from .calendar import CALENDAR
from .clock import Timers
from .directory import Directory
from .errors import EngineClosedError
from .registry import Planners
from .schedule_keeper import Keeper, name_of
from .schedule_stream import read_schedules
from .starting import Starter
from .timers import WakeUps


class Office:
    """What the keepers of an engine share.

    Args:
        directory: the runs.
        starter: starts them.
        planners: the planners.
        timers: makes things happen later.

    Attributes:
        is_closing: nothing is begun any more.
    """

    def __init__(self, directory: Directory, starter: Starter, planners: Planners, timers: Timers) -> None:
        self.directory = directory
        self.journal = directory.journal
        self.clock = directory.clock
        self.starter = starter
        self.planners = planners
        self.calendar: Calendar = CALENDAR
        self._keepers: dict[str, Keeper] = {}
        self._wake_ups = WakeUps(clock=directory.clock, timers=timers)
        self._is_ticking = False
        self._is_closed = False

    @property
    def is_closing(self) -> bool:
        """Whether nothing is begun any more."""
        return self._is_closed or self.directory.refusal is not None

    def open(self) -> None:
        """Take up the schedules of the store, and those that others add."""
        self.journal.on_foreign(self._foreign)
        self.directory.spawn(self._take_up(), name="schedules")

    def close(self) -> None:
        """Fire nothing any more."""
        self._is_closed = True
        self._wake_ups.stop()

    def keeper(self, name: str) -> Keeper:
        """Return the keeper of a schedule, whether or not there is such a schedule."""
        keeper = self._keepers.get(name)
        if keeper is None:
            keeper = self._keepers[name] = Keeper(name, self)
        return keeper

    def hold(self, name: str, at: float) -> None:
        """Ring for a schedule at a time, instead of the time known before."""
        if not self._is_ticking:  # an engine without schedules has no timer for them
            self._is_ticking = True
            self._wake_ups.start(wake=self._ring, look_ahead=_nothing_further)
        self._wake_ups.hold(name, at)

    def drop(self, name: str) -> None:
        """Do not ring for a schedule."""
        self._wake_ups.drop(name)

    def _ring(self, name: str, at: float) -> None:
        if not self.is_closing:
            self.keeper(name).ring(at)

    async def _take_up(self) -> None:
        for stream in await self.journal.streams(SCHEDULES):
            self.keeper(name_of(stream)).tell(Tick(at=self.clock()))

    def _foreign(self, stream_ids: Sequence[str]) -> None:
        for stream_id in stream_ids:
            if stream_id.startswith(SCHEDULES) and not self.is_closing:
                self.keeper(name_of(stream_id)).learn()


class Schedules:
    """The schedules of an engine, as `Engine.schedules`: they start runs at the times that were set.

    All methods raise `EngineClosedError` unless the engine is open, and return once what they say is durable.
    """

    def __init__(self) -> None:
        self._office: Office | None = None

    def open(
        self, directory: Directory, starter: Starter, planners: Planners, timers: Timers
    ) -> Callable[[], None]:
        """Begin to fire; for the engine. Returns what ends it."""
        self._office = Office(directory, starter, planners, timers)
        self._office.open()
        return self._office.close

    async def add(  # noqa: PLR0913 - a schedule has as many terms
        self,
        name: str,
        goal: Goal | str,
        *,
        cron: str | None = None,
        zone: str | None = None,
        every_s: int | None = None,
        anchor: int | None = None,
        plan: Plan | None = None,
        planner: str | None = None,
        mode: Mode = "autonomous",
        tags: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        overlap: Overlap = "skip",
        catch_up: CatchUp = "last",
        catch_up_limit: int = 100,
        by: str = "",
    ) -> ScheduleState:
        """Add a schedule; the same schedule once more changes nothing.

        Args:
            name: its name.
            goal: what its runs are for.
            cron: five fields: minute, hour, day of month, month, day of week; or ``@daily`` and the like.
            zone: IANA name of the time zone of ``cron``; UTC if it is left out.
            every_s: instead of ``cron``, an interval in whole seconds.
            anchor: what intervals are counted from, in seconds since the epoch; now, if it is left out.
            plan: the plan of its runs. Without one, the planner is asked.
            planner: name of the planner; may be left out where just one is registered.
            mode: ``autonomous`` or ``interactive``.
            tags: of its runs, beside ``schedule`` and ``due``, which they all have.
            limits: of its runs.
            overlap: what to do while the run before has not ended: ``skip``, ``queue`` (one waits), ``allow``
                or ``cancel_previous``.
            catch_up: which of the due times to make up for that passed while no engine was there: ``skip``
                them, the ``last``, or ``all``.
            catch_up_limit: how many at most with ``all``; the newest.
            by: on whose behalf.

        Raises:
            InvalidInputError: an argument is not what it has to be, or the name is taken.
            PlanInvalid: the plan cannot be used.
            UnknownPlannerError: there is no such planner, or it is not said which one.
        """
        office = self._opened()
        chosen = office.planners.choose(planner, has_plan=plan is not None, ephemeral=False)
        message = add_schedule(
            name, goal, calendar=office.calendar, at=office.clock(), actor=actor(by), cron=cron, zone=zone,
            every_s=every_s, anchor=anchor, plan=plan, planner=chosen, mode=mode, tags=tags, limits=limits,
            overlap=overlap, catch_up=catch_up, catch_up_limit=catch_up_limit,
        )  # fmt: skip
        record(Run("trial"), start_message(name, message.terms.start, 0.0, 0.0), office.directory.catalog)
        await office.keeper(name).ask(message)
        return next(state for state in await self.list() if state.name == name)

    async def remove(self, name: str, reason: str = "", *, by: str = "") -> None:
        """Remove a schedule; the runs it has started go on.

        Raises:
            ScheduleNotFoundError: there is no such schedule.
        """
        await self._ask(name, RemoveSchedule, reason=_text("reason", reason), actor=actor(by))

    async def pause(self, name: str, reason: str = "", *, by: str = "") -> None:
        """Let due times of a schedule come to nothing until `unpause`."""
        await self._ask(name, PauseSchedule, reason=_text("reason", reason), actor=actor(by))

    async def unpause(self, name: str, *, by: str = "") -> None:
        """Let due times of a schedule count again, those from now on."""
        await self._ask(name, UnpauseSchedule, actor=actor(by))

    async def list(self, *, count: int = 1) -> list[ScheduleState]:
        """Return the schedules by name, each with its next ``count`` due times."""
        office = self._opened(looking=True)
        return await read_schedules(office.journal, office.clock(), count=count, calendar=office.calendar)

    async def _ask(self, name: str, kind: Callable[..., ScheduleMessage], **fields: Any) -> None:
        office = self._opened()
        await office.keeper(checked_name(name)).ask(kind(at=office.clock(), **fields))

    def _opened(self, *, looking: bool = False) -> Office:
        if self._office is None:
            raise EngineClosedError(
                "the engine is not open; use it inside `async with Engine(...) as engine`"
            )
        directory = self._office.directory
        (directory.check_open if looking else directory.admit)()
        return self._office


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInputError(f"{name} is {value!r}; hand in a text")
    return value


def _nothing_further(_until: float) -> None:
    """All due times are held: there is no index to look them up in."""
