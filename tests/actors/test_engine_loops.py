"""An engine belongs to the event loop that it was opened in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from midcourse import Engine, Plan, RunHandle, Step, WrongLoopError, tool


@tool(effect="read")
async def double(n: int) -> int:
    """Return twice a number."""
    return 2 * n


PLAN = Plan([Step(tool_name="double", input={"n": 1})])


async def first_fact(run: RunHandle) -> Any:
    return await anext(run.facts())


CALLS: list[Callable[[Engine, RunHandle], Awaitable[Any]]] = [
    lambda engine, _: engine.start("g", plan=PLAN),
    lambda engine, _: engine.runs(),
    lambda engine, _: engine.attention(),
    lambda engine, _: engine.close(),
    lambda _, run: run.state(),
    lambda _, run: run.outcome(),
    lambda _, run: first_fact(run),
    lambda _, run: run.signal("news"),
]


@pytest.mark.parametrize("call", CALLS)
async def test_another_loop_is_refused_and_told_the_way(
    call: Callable[[Engine, RunHandle], Awaitable[Any]],
) -> None:
    async with Engine("memory:", tools=[double]) as engine:
        run = await engine.start("g", plan=PLAN)
        await run.outcome(timeout_s=10)

        async def elsewhere() -> None:
            with pytest.raises(WrongLoopError, match=r"use `engine\.threadsafe`"):
                await call(engine, run)

        await asyncio.to_thread(asyncio.run, elsewhere())
        again = await engine.start("g", plan=PLAN)
        assert (await again.outcome(timeout_s=10)).result == 2


async def test_another_loop_goes_the_way_it_was_told() -> None:
    async with Engine("memory:", tools=[double]) as engine:

        async def elsewhere() -> Any:
            run = await asyncio.wrap_future(engine.threadsafe.start("g", plan=PLAN))
            return (await asyncio.wrap_future(run.outcome(timeout_s=10))).result

        assert await asyncio.to_thread(asyncio.run, elsewhere()) == 2
