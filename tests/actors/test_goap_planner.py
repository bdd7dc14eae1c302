"""The search planner on an event loop."""

import asyncio

from midcourse.actors.planners.goap import GoapPlanner
from midcourse.domain.goal import Goal
from midcourse.domain.plan import Plan
from midcourse.domain.planning import Planner, PlanningContext
from midcourse.domain.tools import Catalog, ToolSpec


def context_of(tools: list[ToolSpec]) -> PlanningContext:
    return PlanningContext(
        run_id="run",
        goal=Goal("a goal"),
        epoch=1,
        revision=0,
        is_replanning=False,
        reason="",
        board={},
        signals=(),
        ledger=(),
        constraints=(),
        executed=(),
        superseded=(),
        failures=(),
        excluded=frozenset(),
        next_id=0,
        tools=Catalog(tools),
    )


async def test_it_plans() -> None:
    tools = [
        ToolSpec("user__air", post={"there": True}, cost=5.0),
        ToolSpec("user__sea", pre={"calm": True}, post={"there": True}),
    ]
    planner: Planner = GoapPlanner(
        [{"there": True}], conditions={"calm": lambda _: True}, costs={"air": lambda _: 0.5}
    )
    answer = await planner.plan(context_of(tools))
    assert isinstance(answer, Plan)
    assert [step.tool_name for step in answer.steps] == ["user__air"]


async def test_a_long_search_lets_others_run() -> None:
    tools = [
        ToolSpec(f"user__t{n}", pre={f"c{n - 1}": True} if n else {}, post={f"c{n}": True, "seen": False})
        for n in range(60)
    ]
    planning = asyncio.create_task(GoapPlanner([{"c59": True}]).plan(context_of(tools)))
    turns = 0
    while not planning.done():
        turns += 1
        await asyncio.sleep(0)
    assert isinstance(await planning, Plan)
    assert turns > 2
