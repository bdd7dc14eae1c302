"""Scenarios of child runs: started, waited for, cancelled with their parent, undone for it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from midcourse import (
    Plan,
    PlanningContext,
    RunHandle,
    RunState,
    Settings,
    Step,
    ToolContext,
    WaitFor,
    tool,
)
from midcourse.examples.order.calls import KillAt
from midcourse.store import Journal

from .running import CHARGE, RESERVE, SHIP, TELL_NOBODY
from .stage import stage
from .undoing import BROKEN, broken

TRIP = Step("trip", "plan_and_execute", {"query": "deliver"})


def plan_child(context: PlanningContext) -> Plan:
    """Plan what a child run is for."""
    if context.goal.text == "deliver":
        return Plan([CHARGE, Step("last", "notify", {"customer": "bob", "text": "it is paid for"})])
    if context.goal.text == "hold":
        return Plan([CHARGE, Step("hold", "hold"), TELL_NOBODY])
    return Plan([Step("told", "notify", {"customer": context.goal.text, "text": "hello"})])


async def child_in_a_plan(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A child run between two effects of its parent."""
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan([RESERVE, TRIP, SHIP]), planner=plan_child)


async def children_of_a_tool(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A tool starts two child runs and waits for both."""

    @tool(effect="read")
    async def spread(*, context: ToolContext) -> list[str]:
        children = [await context.start_child(name) for name in ("ada", "bob")]
        if not all(child.ended for child in children):
            raise WaitFor(children=children)
        return [child.state for child in children]

    with stage(journal, folder, kill_at=kill_at) as on:
        plan = Plan([RESERVE, Step("all", "spread"), CHARGE])
        return await on.play(plan=plan, planner=plan_child, tools=[spread])


async def cancelled_in_a_child(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A parent is cancelled while its child is in its second step."""
    held = asyncio.Event()

    @tool(effect="read")
    async def hold() -> None:
        held.set()
        await asyncio.Event().wait()

    async def cancel(run: RunHandle, state: RunState) -> None:
        if state.status == "running" and state.children and state.children[0].state == "running":
            await held.wait()
            await run.cancel("the customer has changed her mind")

    with stage(journal, folder, kill_at=kill_at) as on:
        plan = Plan([RESERVE, Step("trip", "plan_and_execute", {"query": "hold"}), TELL_NOBODY])
        return await on.play(plan=plan, planner=plan_child, tools=[hold], person=cancel)


async def undone_across(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A parent fails after its child is complete: all of both is undone, newest first."""
    with stage(journal, folder, kill_at=kill_at) as on:
        plan = Plan([RESERVE, Step("trip", "plan_and_execute", {"query": "deliver"}), SHIP, BROKEN])
        return await on.play(plan=plan, planner=plan_child, tools=[broken])


async def on_one_place(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """The same, where parent and child have to leave their place to each other."""
    with stage(journal, folder, kill_at=kill_at) as on:
        plan = Plan([RESERVE, TRIP, BROKEN])
        settings = Settings(max_active_runs=1)
        return await on.play(plan=plan, planner=plan_child, tools=[broken], settings=settings)
