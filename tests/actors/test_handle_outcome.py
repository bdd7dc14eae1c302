"""Waiting for the end of a run, whenever the wait begins."""

from __future__ import annotations

import asyncio

import pytest

from midcourse import Plan, RunNotFoundError, Step
from midcourse.domain.facts import RunCompleted
from midcourse.testing import TrialEngine, scripted_tool, wait_for_fact

_PLAN = Plan([Step("a", "work"), Step("b", "work")])


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 8, 20, 100, 1_000])
async def test_it_does_not_matter_how_far_the_run_is(turns: int) -> None:
    async with TrialEngine(tools=[scripted_tool("work", 1, 2)]) as engine:
        run = await engine.start("work", plan=_PLAN)
        for _ in range(turns):
            await asyncio.sleep(0)
        assert (await run.outcome(timeout_s=10)).result == 2
        assert (await run.outcome()).result == 2


async def test_a_run_that_has_ended_is_read_from_the_store() -> None:
    async with TrialEngine(tools=[scripted_tool("work", 1, 2)]) as engine:
        run = await engine.start("work", plan=_PLAN)
        await wait_for_fact(run, RunCompleted)
        assert (await run.outcome()).result == 2


async def test_a_run_that_does_not_exist_has_no_outcome_even_while_it_is_looked_for() -> None:
    async with TrialEngine(tools=[scripted_tool("work")]) as engine:
        asked = asyncio.create_task(engine.run("nobody").signal("news"))
        await asyncio.sleep(0)
        with pytest.raises(RunNotFoundError):
            await engine.run("nobody").outcome()
        with pytest.raises(RunNotFoundError):
            await asked
