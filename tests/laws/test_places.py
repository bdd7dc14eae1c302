"""Places for runs, whatever people do meanwhile: no more under way than there are, and none is forgotten."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from midcourse import (
    Engine,
    MessageRefused,
    Plan,
    PlanningContext,
    RunHandle,
    Settings,
    Step,
    Tool,
    ToolContext,
    tool,
)

FINAL = ("completed", "failed", "cancelled")
CALM = "calm"
"""The run that nobody meddles with: it works, in every life."""


class Walk:
    """A random life of some runs on few places, by several engines one after the other.

    Args:
        seed: which life.
        store: the URL of their store.
    """

    def __init__(self, seed: int, store: str) -> None:
        self.random = random.Random(seed)
        self.store = store
        self.places = self.random.randrange(1, 5)
        names = [f"run-{n}" for n in range(self.random.randrange(3, 20))]
        self.plans = {CALM: Plan([Step("E0", "work", {"run": CALM, "n": 3})])}
        self.plans |= {name: self._plan(name) for name in names}
        self.at_work: set[str] = set()
        self.most = 0

    def tools(self) -> list[Tool]:
        @tool(effect="read")
        async def work(run: str, n: int, *, context: ToolContext) -> int:
            self.at_work.add(run)
            self.most = max(self.most, len(self.at_work))
            try:
                for _ in range(n):
                    await asyncio.sleep(0)
            finally:
                self.at_work.discard(run)
            return n

        return [work]

    def engine(self) -> Engine:
        drain_s = self.random.choice((0.0, 0.5))
        settings = Settings(max_active_runs=self.places, drain_s=drain_s, close_grace_s=0.5)
        return Engine(self.store, tools=self.tools(), planners={"p": plan_child}, settings=settings)

    async def live(self, engine: Engine) -> list[RunHandle]:
        """Start the runs, or find them, and do this and that to them."""
        runs = []
        for name, plan in self.plans.items():
            priority: Any = ("high", "normal", "low")[len(name) % 3]
            runs.append(await engine.start(name, plan=plan, planner="p", key=name, priority=priority))
        for _ in range(self.random.randrange(5, 30)):
            await self._meddle(engine, self.random.choice(runs[1:]))
            for _ in range(self.random.randrange(4)):
                await asyncio.sleep(0)
        return runs

    async def _meddle(self, engine: Engine, run: RunHandle) -> None:
        what = self.random.random()
        try:
            if what < 0.5:
                await run.signal("go")
            elif what < 0.6:
                await run.cancel("not wanted")
            elif what < 0.75:
                await run.pause("lunch")
            elif what < 0.9:
                await run.unpause()
            else:
                engine.pause()
                await asyncio.sleep(0)
                engine.unpause()
        except MessageRefused:
            assert (await run.state()).status in FINAL  # it has ended, which is the only reason

    def _plan(self, name: str) -> Plan:
        kinds: dict[str, dict[str, Any]] = {
            "work": {"run": name, "n": self.random.randrange(6)},
            "wait": {"signal": "go"},
            "plan_and_execute": {"query": name},
        }
        chosen = self.random.choices(list(kinds), weights=(3, 1, 1), k=self.random.randrange(1, 4))
        return Plan([Step(f"E{n}", tool, kinds[tool]) for n, tool in enumerate(chosen)])


def plan_child(context: PlanningContext) -> Plan:
    return Plan([Step(tool_name="work", input={"run": context.run_id, "n": 1})])


async def see_through(run: RunHandle) -> str:
    """Give a run what it waits for until it ends."""
    async for _ in run.facts():
        state = await run.state()
        try:
            if state.paused:
                await run.unpause()
            elif any(step.state == "waiting" for step in state.steps):
                await run.signal("go")
        except MessageRefused:
            continue  # it has ended since it was looked at
    return (await run.outcome()).status


@pytest.mark.parametrize("seed", range(12))
async def test_never_more_runs_are_under_way_than_there_are_places_and_all_come_to_an_end(
    seed: int, tmp_path: Path
) -> None:
    walk = Walk(seed, f"sqlite:///{tmp_path / 'runs.db'}")
    for _ in range(walk.random.randrange(1, 4)):
        async with walk.engine() as engine:
            await walk.live(engine)
    async with walk.engine() as engine:
        runs = await walk.live(engine)
        ends = await asyncio.gather(*map(see_through, runs))
    assert ends[0] == "completed"
    assert set(ends) <= {"completed", "cancelled"}
    assert 1 <= walk.most <= walk.places
