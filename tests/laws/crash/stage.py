"""What every scenario of the crash matrix plays on: a run, an engine, an outside world with its own file."""

from __future__ import annotations

import copy
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from midcourse import Authority, Engine, Goal, Plan, Planner, RunHandle, RunState, Settings, Tool
from midcourse.domain.breakpoints import Breakpoints
from midcourse.domain.facts import Limits, Mode
from midcourse.examples.order.calls import KillAt
from midcourse.examples.order.scenario import prepare
from midcourse.examples.order.tools import order_tools
from midcourse.examples.order.world import World
from midcourse.store import Journal

Person = Callable[[RunHandle, RunState], Awaitable[None]]
"""Looks at a run after each of its facts; what it does has to be safe to do twice."""

WORLD = "world.db"
_KEY = "the-run"
_STARTED_AT = 1_700_000_000.0


class Stage:
    """The world of a scenario, and a way to play a run in it to its end.

    Args:
        journal: where the facts go.
        world: the outside world.

    Attributes:
        engine: the engine, once the run is played.
    """

    engine: Engine

    def __init__(self, journal: Journal, world: World) -> None:
        self.journal = journal
        self.world = world
        self._fixed_time: float | None = None

    async def play(
        self,
        *,
        plan: Plan | None = None,
        planner: Planner | Callable[..., Any] | None = None,
        goal: Goal | str = "get through a crash",
        tools: Iterable[Tool] = (),
        person: Person | None = None,
        settings: Settings | None = None,
        has_conditions: bool = False,
        authority: Authority | None = None,
        mode: Mode = "autonomous",
        limits: Limits | None = None,
        breakpoints: Breakpoints | None = None,
        **parts: Any,
    ) -> list[Any]:
        """Play a run until it ends, or waits for a person though there is nobody.

        Args:
            plan: by a person, or none to have the planner asked.
            planner: makes plans.
            goal: what the run is for.
            tools: besides those of the order example.
            person: looks at the run after each fact.
            settings: of the engine.
            has_conditions: the tools of the example keep the conditions that planning by search needs.
            authority: of the engine.
            mode: of the run.
            limits: of the run.
            breakpoints: where the run is held.
            parts: what else the engine has, such as reviewers, or plans that steps may call.

        Returns:
            the states of the run as the engine had them in memory, one after each fact or group of facts.
        """
        theirs = order_tools(self.world)
        engine = self.engine = Engine(
            self.journal,
            tools=[*(theirs if has_conditions else map(_unconditional, theirs)), *tools],
            planners={} if planner is None else {"planner": planner},
            settings=settings,
            authority=authority,
            **parts,
            clock=self._clock,
            random=lambda: 0.5,
        )
        states: list[Any] = []
        async with engine:
            run = await self._start(
                engine, goal, plan=plan, mode=mode, limits=limits, breakpoints=breakpoints
            )
            async for _ in run.facts():
                state = await run.state()
                states.append(msgspec.to_builtins(state))
                if person is not None:
                    await person(run, state)
                elif state.status == "attention":
                    break
        return states

    async def _start(self, engine: Engine, goal: Goal | str, **terms: Any) -> RunHandle:
        """Start the run with the same id in every process, so that operation keys can be compared."""
        self._fixed_time = _STARTED_AT
        run = await engine.start(goal, key=_KEY, **terms)
        self._fixed_time = None
        return run

    def _clock(self) -> float:
        return time.time() if self._fixed_time is None else self._fixed_time


@contextmanager
def stage(
    journal: Journal, folder: Path, *, kill_at: KillAt | None = None, payments_ignore_keys: bool = False
) -> Iterator[Stage]:
    """Set the stage in a folder, with goods on the shelf and open routes.

    Args:
        journal: where the facts go.
        folder: where the world's file is.
        kill_at: where a call to the world kills this process.
        payments_ignore_keys: a repeated payment really happens again.
    """
    with World(folder / WORLD, kill_at=kill_at, payments_ignore_keys=payments_ignore_keys) as world:
        prepare(world)
        yield Stage(journal, world)


def _unconditional(tool: Tool) -> Tool:
    """The same tool for plans of any order. To make it anew would cost a fifth of a life."""
    free = copy.copy(tool)
    free.spec = msgspec.structs.replace(tool.spec, pre={}, post={})
    return free
