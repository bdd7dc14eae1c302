"""Runs of an engine share its places."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from midcourse import Engine, InvalidInputError, Plan, Settings, Step, Tool, TooManyStartsError, tool
from midcourse.domain import facts as f

ONE_AT_ONCE = Settings(max_attempts_at_once=1)


class Gate:
    """Keeps the calls of its tool, and lets none of them end before it is opened."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.entered = asyncio.Event()
        self.opened = asyncio.Event()

    def tool(self) -> Tool:
        @tool(effect="read")
        async def visit(name: str) -> str:
            self.calls.append(name)
            self.entered.set()
            await self.opened.wait()
            return name

        return visit


def wide(name: str, steps: int) -> Plan:
    return Plan(
        [Step(id=f"s{n}", tool_name="visit", input={"name": f"{name}-{n}"}, needs=[]) for n in range(steps)]
    )


async def test_a_wide_run_keeps_out_no_small_one(tmp_path: Path) -> None:
    gate = Gate()
    async with Engine(
        f"sqlite:///{tmp_path / 'runs.db'}", tools=[gate.tool()], settings=ONE_AT_ONCE
    ) as engine:
        runs = [await engine.start("wide", plan=wide("wide", 100))]
        await gate.entered.wait()
        runs += [await engine.start("small", plan=wide(f"small{n}", 1)) for n in range(5)]
        gate.opened.set()
        ends = [(await run.outcome()).status for run in runs]
    assert ends == ["completed"] * 6
    small = [gate.calls.index(f"small{n}-0") for n in range(5)]
    assert sorted(small) == small
    assert small[-1] < 20


@pytest.mark.parametrize(("priority", "is_early"), [("high", True), ("low", False)])
async def test_a_priority_decides_who_comes_first_and_keeps_out_nobody(
    tmp_path: Path, priority: Any, is_early: bool
) -> None:
    gate = Gate()
    async with Engine(
        f"sqlite:///{tmp_path / 'runs.db'}", tools=[gate.tool()], settings=ONE_AT_ONCE
    ) as engine:
        normal = await engine.start("normal", plan=wide("normal", 60))
        await gate.entered.wait()
        other = await engine.start("other", plan=wide("other", 8), priority=priority)
        gate.opened.set()
        assert [(await run.outcome()).status for run in (normal, other)] == ["completed"] * 2
    last = gate.calls.index("other-7")
    assert is_early is (last < 20)
    assert last < 60


async def test_the_priority_of_a_run_is_recorded_and_survives_its_engine(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'runs.db'}"
    gate = Gate()
    async with Engine(store, tools=[gate.tool()], settings=Settings(drain_s=0.0)) as engine:
        run = await engine.start("high", plan=wide("high", 1), priority="high")
        await gate.entered.wait()
    gate.opened.set()
    async with Engine(store, tools=[gate.tool()]) as engine:
        run = engine.run(run.id)
        assert (await run.outcome()).status == "completed"
        facts = [record.fact async for record in run.facts()]
    assert [fact.priority for fact in facts if isinstance(fact, f.RunStarted)] == ["high"]


async def test_a_priority_that_is_none_is_refused(tmp_path: Path) -> None:
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=[Gate().tool()]) as engine:
        with pytest.raises(InvalidInputError, match="priority is 'urgent'; write one of high, normal, low"):
            await engine.start("x", plan=wide("x", 1), priority="urgent")  # type: ignore[arg-type]
        assert tuple((await engine.runs()).runs) == ()


async def test_a_start_over_the_limit_is_refused_and_half_of_nothing_is_recorded(tmp_path: Path) -> None:
    gate = Gate()
    gate.opened.set()
    settings = Settings(max_starts_queued=3)
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=[gate.tool()], settings=settings) as engine:
        starts = [engine.start(str(n), plan=wide(str(n), 1)) for n in range(5)]
        made = await asyncio.gather(*starts, return_exceptions=True)
        refused = [each for each in made if isinstance(each, TooManyStartsError)]
        assert [each.queued for each in refused] == [3, 3]
        assert len((await engine.runs()).runs) == 3
        later = await engine.start("later", plan=wide("later", 1))
        assert (await later.outcome()).status == "completed"
