"""The workload of the engine's benchmarks: runs of sequential steps that do nothing, so many at a time."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Sequence
from pathlib import Path

from _bench import url_of
from _yardstick import Timing

from midcourse import Engine, Goal, Plan, Step, tool


@tool(effect="irreversible", idempotent=True)
async def nothing(n: int) -> int:
    """Do nothing, as an effect that is never repeated."""
    return n


def sequence(steps: int) -> Plan:
    """Return a plan of steps one after the other."""
    return Plan(tuple(Step(id=f"s{n}", tool_name="nothing", input={"n": n}) for n in range(steps)))


async def carry(engine: Engine, plans: Sequence[Plan], in_flight: int) -> None:
    """Carry a run of each plan to its end, ``in_flight`` at a time."""
    waiting = iter(enumerate(plans))

    async def one_after_the_other() -> None:
        for n, plan in waiting:
            run = await engine.start(Goal(f"Do nothing, number {n}"), plan=plan)
            outcome = await run.outcome()
            assert outcome.status == "completed", outcome

    async with asyncio.TaskGroup() as workers:
        for _ in range(in_flight):
            workers.create_task(one_after_the_other())


async def timed(path: Path, *, runs: int, steps: int, in_flight: int) -> Timing:
    """Carry runs through an engine on a new store; the clock runs from first start to last outcome."""
    async with Engine(url_of(path), tools=[nothing]) as engine:
        plans = [sequence(steps)] * runs
        gc.collect()
        cpu, start = time.process_time(), time.perf_counter()
        await carry(engine, plans, in_flight)
        return Timing(time.perf_counter() - start, time.process_time() - cpu)
