"""The engine: what a program embeds to run plans."""

from __future__ import annotations

import asyncio
import logging
import random as _random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self, get_args

from ..domain.authority import Authority
from ..domain.breakpoints import Breakpoints
from ..domain.budget import Policy
from ..domain.errors import InvalidInputError
from ..domain.facts import Limits, Mode
from ..domain.goal import Goal
from ..domain.messages import PauseRun, StartRun, UnpauseRun
from ..domain.plan import Plan
from ..domain.plan_file import PlanFile
from ..domain.tools import Catalog
from ..store import Journal, RunFilter, RunPage
from .asking import actor
from .assembly import start_couriers
from .attention import RunAttention, list_attention
from .clock import Clock, Timers
from .consultants import Reviewer, StuckHandler
from .directory import Directory
from .equipment import equip
from .errors import EngineClosedError, RunParkedError
from .handle import RunHandle
from .opening import open_owned
from .pausing import tell_each
from .registry import AnyPlanner
from .schedules import Schedules
from .settings import Settings
from .shutdown import shut_down
from .starting import Starter
from .threadsafe import ThreadsafeEngine
from .tools import Tool
from .waking import Waking, recover

_log = logging.getLogger("midcourse.actors")
_EVERYTHING = RunFilter()
_ACTIVE = RunFilter(active=True)
_DEFAULTS = Settings()


class Engine:
    """Runs plans durably inside an asyncio program; use it as ``async with Engine(...) as engine``.

    It starts one thread that writes to the store, and threads for tools that are plain functions; closing
    ends them. It installs nothing process-wide: two engines on two stores live side by side in one loop.

    Args:
        store: a store URL such as ``sqlite:///orders.db``, or an open journal, which becomes the engine's to
            close.
        tools: the tools plans may use: `Tool`s, or functions, which become tools of a bare ``@tool``.
        planners: planners by name: objects with an async ``plan(context)``, or callables of the context.
        settings: how it works.
        plans: plans that steps may call as tools, by the name ``plan__<identifier>``.
        authority: what its runs may do, and who has to agree.
        policies: functions that budgets name, of a `Usage`: they say why a run may go no further.
        reviewers: functions of a `Consultation`, by name; the one called ``judge`` judges requirements.
        plan_reviewers: names of those who review every proposal of a planner.
        on_stuck: functions of a `Consultation`, by name, that are asked about a run that is stuck, in this
            order, before a person is.
        clock: tells the time in seconds since the epoch.
        timers: makes things happen later; the running event loop if it is left out.
        random: returns numbers from 0 to 1, for ids and the jitter of waits.

    Attributes:
        schedules: what starts runs by itself, at set times.

    Raises:
        ToolDefinitionError: a tool, or the set of tools, cannot work.
        AuthorityInvalid: the authority cannot be used.
    """

    def __init__(  # noqa: PLR0913 - an engine has as many parts
        self,
        store: str | Journal,
        *,
        tools: Iterable[Tool | Callable[..., Any]] = (),
        planners: Mapping[str, AnyPlanner] | None = None,
        settings: Settings | None = None,
        plans: Iterable[PlanFile] = (),
        authority: Authority | None = None,
        policies: Mapping[str, Policy] | None = None,
        reviewers: Mapping[str, Reviewer] | None = None,
        plan_reviewers: Sequence[str] = (),
        on_stuck: Mapping[str, StuckHandler] | None = None,
        clock: Clock = time.time,
        timers: Timers | None = None,
        random: Callable[[], float] = _random.random,
    ) -> None:
        self._equipment = equip(
            tools, planners or {}, plans, authority or Authority(), dict(policies or {}),
            dict(reviewers or {}), plan_reviewers, dict(on_stuck or {}),
        )  # fmt: skip
        self._settings = settings or _DEFAULTS
        self._store = store
        self._clock = clock
        self._timers = timers
        self._random = random
        self.schedules = Schedules()
        self._directory: Directory | None = None
        self._starter: Starter | None = None
        self._waking: Waking | None = None
        self._exit = AsyncExitStack()
        self._was_opened = False
        self._threadsafe: ThreadsafeEngine | None = None

    # --------------------------------------------------------------------------------------- opening, closing

    async def __aenter__(self) -> Self:
        if self._was_opened:
            raise EngineClosedError("an engine is opened once; make a new one")
        self._was_opened = True
        async with AsyncExitStack() as stack:
            await self._open(stack)
            self._exit = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop admitting, let running steps finish for a while, write what is queued, and give up the store.

        Nothing is recorded as cancelled: the next engine goes on where this one ended. Another event loop
        than that of the engine is refused with a `WrongLoopError`.
        """
        if self._directory is not None:
            self._directory.check_loop()
        exit_, self._exit = self._exit, AsyncExitStack()
        await exit_.aclose()

    async def _open(self, stack: AsyncExitStack) -> None:
        loop = asyncio.get_running_loop()
        timers = self._timers or loop
        settings = self._settings
        journal = await open_owned(self._store)
        stack.push_async_callback(journal.aclose)
        directory = Directory(
            journal=journal,
            catalog=self._equipment.catalog,
            planners=self._equipment.planners,
            clock=self._clock,
            timers=timers,
            passivate=settings.passivate,
        )
        stack.push_async_callback(directory.close)
        journal.on_ownership_lost(directory.fail)
        directory.couriers = await start_couriers(
            stack, directory, self._equipment, settings=settings, timers=timers, random=self._random
        )
        stack.push_async_callback(shut_down, directory)
        self._directory = directory
        self._starter = Starter(directory, self._random)
        self._threadsafe = ThreadsafeEngine(self, loop)
        self._waking = Waking(directory)
        directory.spawn(recover(directory), name="recover")
        stack.callback(self.schedules.open(directory, self._starter, self._equipment.planners, timers))

    # ----------------------------------------------------------------------------------------------- starting

    async def start(  # noqa: PLR0913 - a start has as many terms
        self,
        goal: Goal | str,
        *,
        plan: Plan | None = None,
        planner: str | AnyPlanner | None = None,
        mode: Mode = "autonomous",
        key: str | None = None,
        tags: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        breakpoints: Breakpoints | None = None,
        ephemeral: bool = False,
        by: str = "",
    ) -> RunHandle:
        """Start a run, and return once that is durable.

        Args:
            goal: what it is for, with the inputs of its plan; a text is a goal without inputs.
            plan: its plan, by a person. Without one the planner is asked.
            planner: name of the planner to ask; may be left out where just one is registered.
            mode: ``autonomous``, or ``interactive`` to have people asked.
            key: idempotency key: a start with the same key, goal, planner and plan is the same run.
            tags: free names and values, to find it by.
            limits: how often it may ask for another plan, and what it may spend.
            breakpoints: where it is held for a person.
            ephemeral: the planner is a callable that is not registered, and is lost with this engine.
            by: on whose behalf.

        Returns:
            the run, or the earlier one of its key.

        Raises:
            PlanInvalid: the plan cannot be used.
            InvalidInputError: an argument is not what it has to be, or the key was used for something else.
            UnknownPlannerError: there is no such planner, or it is not said which one.
            MidcourseError: anything else that kept it from being recorded.
        """
        directory, starter = self._open_parts()
        directory.admit()
        if mode not in get_args(Mode):
            raise InvalidInputError(f"mode is {mode!r}; write one of {', '.join(get_args(Mode))}")
        name = self._equipment.planners.choose(planner, has_plan=plan is not None, ephemeral=ephemeral)
        message = StartRun(
            at=self._clock(), actor=actor(by), goal=Goal(goal) if isinstance(goal, str) else goal, lineage="",
            plan=plan, planner=name, mode=mode, key="" if key is None else key,
            tags={} if tags is None else tags, limits=Limits() if limits is None else limits,
            breakpoints=breakpoints,
        )  # fmt: skip
        return RunHandle(await starter.start(message), directory)

    # ------------------------------------------------------------------------------------------------ pausing

    def pause(self) -> None:
        """Begin nothing in any run until `unpause`; in no facts, so that the next engine goes on."""
        self._open_parts()[0].pause()

    def unpause(self) -> None:
        """Go on with everything after `pause`."""
        self._open_parts()
        assert self._waking is not None  # noqa: S101 - an open engine has all its parts
        self._waking.unpause()

    async def pause_runs(self, filters: RunFilter = _ACTIVE, reason: str = "", *, by: str = "") -> int:
        """Pause runs, and return how many were told; see `RunHandle.pause`.

        Args:
            filters: which runs; all that have not ended if it is left out.
            reason: why.
            by: on whose behalf.
        """
        return await tell_each(self._open_parts()[0], filters, PauseRun, reason=reason, actor=actor(by))

    async def unpause_runs(self, filters: RunFilter = _ACTIVE, reason: str = "", *, by: str = "") -> int:
        """Let paused runs go on, and return how many did; those that their budget paused stay."""
        return await tell_each(self._open_parts()[0], filters, UnpauseRun, reason=reason, actor=actor(by))

    # ------------------------------------------------------------------------------------------------ looking

    @property
    def tools(self) -> Catalog:
        """The contracts of its tools."""
        return self._equipment.catalog

    @property
    def planners(self) -> tuple[str, ...]:
        """The names of its planners."""
        return tuple(sorted(self._equipment.planners.by_name))

    @property
    def parked(self) -> Mapping[str, RunParkedError]:
        """Runs that were let go of after an error; an engine that is opened anew takes them up again."""
        return dict(self._open_parts()[0].parked)

    @property
    def threadsafe(self) -> ThreadsafeEngine:
        """The same engine for other threads than that of its event loop."""
        self._open_parts()
        assert self._threadsafe is not None  # noqa: S101 - an open engine has all its parts
        return self._threadsafe

    def run(self, run_id: str) -> RunHandle:
        """Return the run of an id; one that does not exist is an error once it is asked something."""
        return RunHandle(run_id, self._open_parts()[0])

    async def runs(self, filters: RunFilter = _EVERYTHING, *, limit: int = 100, cursor: str = "") -> RunPage:
        """Return runs, newest first.

        Args:
            filters: which runs; all if it is left out.
            limit: how many at most.
            cursor: that of the page before.
        """
        directory, _ = self._open_parts()
        directory.check_open()
        return await directory.journal.list(filters, limit=limit, cursor=cursor)

    async def attention(self, *, limit: int = 100) -> list[RunAttention]:
        """Return the runs that wait for a person, newest first, with what they wait for, and since when."""
        directory, _ = self._open_parts()
        directory.check_open()
        return await list_attention(directory.journal, limit=limit)

    def _open_parts(self) -> tuple[Directory, Starter]:
        if self._directory is None or self._starter is None:
            raise EngineClosedError(
                "the engine is not open; use it inside `async with Engine(...) as engine`"
            )
        return self._directory, self._starter
