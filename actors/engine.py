"""The engine: what a program embeds to run plans."""

from __future__ import annotations

import random as _random
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any

from ..domain.authority import Authority
from ..domain.breakpoints import Breakpoints
from ..domain.budget import Policy
from ..domain.facts import Limits, Mode
from ..domain.fairness import Priority
from ..domain.goal import Goal
from ..domain.messages import PauseRun, StartRun, UnpauseRun
from ..domain.plan import Plan
from ..domain.plan_file import PlanFile
from ..domain.tools import Catalog
from ..store import Journal, Record, RunFilter, RunPage
from .asking import actor
from .attention import RunAttention, list_attention
from .clock import Clock, Timers
from .consultants import Reviewer, StuckHandler
from .engine_life import EngineLife
from .equipment import equip
from .errors import RunParkedError
from .handle import RunHandle
from .outcome import Outcome
from .pausing import tell_each
from .registry import AnyPlanner
from .settings import Settings
from .signals import Schema, engine_facts
from .starting import check_choices
from .threadsafe import ThreadsafeEngine
from .tools import Tool

_EVERYTHING = RunFilter()
_ACTIVE = RunFilter(active=True)
_DEFAULTS = Settings()


class Engine(EngineLife):
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
        signals: JSON Schemas of the payloads of signals, by name or glob; ``False`` where no such signal is
            taken. A signal that does not fit is refused, and its run is told nothing.
        clock: tells the time in seconds since the epoch.
        timers: makes things happen later; the running event loop if it is left out.
        random: returns numbers from 0 to 1, for ids and the jitter of waits.

    Attributes:
        schedules: what starts runs by itself, at set times.

    Raises:
        ToolDefinitionError: a tool, or the set of tools, cannot work.
        AuthorityInvalid: the authority cannot be used.
        InvalidInputError: anything else that was handed in, or set, cannot be used.
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
        signals: Mapping[str, Schema] | None = None,
        clock: Clock = time.time,
        timers: Timers | None = None,
        random: Callable[[], float] = _random.random,
    ) -> None:
        super().__init__(
            store,
            equip(
                tools, planners or {}, plans, authority or Authority(), dict(policies or {}),
                dict(reviewers or {}), plan_reviewers, dict(on_stuck or {}), signals=signals or {},
            ),
            settings=settings or _DEFAULTS,
            clock=clock,
            timers=timers,
            random=random,
        )  # fmt: skip

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
        priority: Priority = "normal",
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
            priority: its share of places for steps and plannings where they are scarce: high, normal or low.
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
        starter.admit()
        check_choices(mode, priority)
        name = self._equipment.planners.choose(planner, has_plan=plan is not None, ephemeral=ephemeral)
        message = StartRun(
            at=self._clock(), actor=actor(by), goal=Goal(goal) if isinstance(goal, str) else goal, lineage="",
            plan=plan, planner=name, mode=mode, key="" if key is None else key,
            tags={} if tags is None else tags, limits=Limits() if limits is None else limits,
            breakpoints=breakpoints, priority=priority,
        )  # fmt: skip
        return RunHandle(await starter.start(message), directory)

    async def plan_and_execute(
        self,
        goal: Goal | str,
        *,
        planner: str | AnyPlanner | None = None,
        key: str | None = None,
        limits: Limits | None = None,
        ephemeral: bool = False,
        by: str = "",
    ) -> Outcome:
        """Have a goal planned and carried out, and return how that ended; `start` has the details.

        A caller that is cancelled leaves the run alone; the same ``key`` finds it again.

        Args:
            goal: what is wanted, in words or with inputs.
            planner: who plans; may be left out where just one is registered.
            key: idempotency key.
            limits: how often it may be planned anew, and what it may spend.
            ephemeral: the planner is a callable that is not registered.
            by: on whose behalf.
        """
        run = await self.start(goal, planner=planner, key=key, limits=limits, ephemeral=ephemeral, by=by)
        return await run.outcome()

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
        assert self._loop is not None  # noqa: S101 - an open engine has all its parts
        return ThreadsafeEngine(self, self._loop)

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

    async def own_facts(self, after: int = 0) -> AsyncIterator[Record]:
        """Yield the records of what is no fact of any run: the signals that were refused, by any process.

        Args:
            after: version of the last record that is not wanted.
        """
        directory, _ = self._open_parts()
        directory.check_open()
        async for record in engine_facts(directory.journal, after):
            yield record

    async def attention(self, *, limit: int = 100) -> list[RunAttention]:
        """Return the runs that wait for a person, newest first, with what they wait for, and since when."""
        directory, _ = self._open_parts()
        directory.check_open()
        return await list_attention(directory.journal, limit=limit)
