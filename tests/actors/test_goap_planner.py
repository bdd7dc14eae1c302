"""The search planner on an event loop."""

import asyncio
from pathlib import Path
from typing import Any

from midcourse import Engine, tool
from midcourse.actors.planners.goap import GoapPlanner
from midcourse.domain import facts as f
from midcourse.domain.plan import Plan
from midcourse.domain.planning import Planner
from midcourse.domain.tools import Catalog, ToolSpec

from .contexts import context


async def test_it_plans() -> None:
    tools = [
        ToolSpec("user__air", post={"there": True}, cost=5.0),
        ToolSpec("user__sea", pre={"calm": True}, post={"there": True}),
    ]
    planner: Planner = GoapPlanner(
        [{"there": True}], conditions={"calm": lambda _: True}, costs={"air": lambda _: 0.5}
    )
    answer = await planner.plan(context(tools=Catalog(tools)))
    assert isinstance(answer, Plan)
    assert [step.tool_name for step in answer.steps] == ["user__air"]


async def test_a_long_search_lets_others_run() -> None:
    tools = [
        ToolSpec(f"user__t{n}", pre={f"c{n - 1}": True} if n else {}, post={f"c{n}": True, "seen": False})
        for n in range(60)
    ]
    planning = asyncio.create_task(GoapPlanner([{"c59": True}]).plan(context(tools=Catalog(tools))))
    turns = 0
    while not planning.done():
        turns += 1
        await asyncio.sleep(0)
    assert isinstance(await planning, Plan)
    assert turns > 2


async def test_a_run_looks_again_after_every_step_and_the_same_plan_is_no_new_revision(
    tmp_path: Path,
) -> None:
    @tool(effect="read", post={"found": True})
    async def find() -> dict[str, Any]:
        return {"id": 7}

    @tool(effect="read", pre={"found": True}, post={"opened": True}, input={"id": "{{find.id}}"})
    async def unlock(id: int) -> dict[str, Any]:
        return {"id": id + 1}

    @tool(effect="read", pre={"opened": True}, post={"taken": True}, input={"id": "{{unlock.id}}"})
    async def take(id: int) -> int:
        return id

    planners = {"search": GoapPlanner([{"taken": True}])}
    async with Engine(
        f"sqlite:///{tmp_path / 'runs.db'}", tools=[find, unlock, take], planners=planners
    ) as engine:
        run = await engine.start("take it")
        assert (await run.outcome()).result == 8
        kinds = [type(record.fact) async for record in run.facts()]
        counted = [kinds.count(kind) for kind in (f.PlanAccepted, f.PlanConfirmed, f.ReplanRequested)]
        assert counted == [1, 2, 0]
