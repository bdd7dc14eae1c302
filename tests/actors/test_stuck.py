"""Handlers of stuck runs of an engine on a real store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from midcourse import (
    Consultation,
    Engine,
    InvalidInputError,
    NoPlan,
    Opinion,
    Plan,
    PlanningContext,
    RequestReplan,
    Settings,
    Step,
    tool,
)
from midcourse.domain import facts as f
from midcourse.testing import wait_for_fact


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'runs.db'}"


@tool(effect="read")
async def draw(n: int) -> int:
    if n == 1:
        raise RequestReplan("one is no number", no_effect=True)
    return n


def plan(context: PlanningContext) -> Plan | NoPlan:
    if context.is_replanning and "n" not in context.board:
        return NoPlan("no number is known")
    return Plan([Step(tool_name="draw", input={"n": context.board.get("n", 1)})])


async def test_a_handler_looks_a_value_up_and_the_run_completes(store: str) -> None:
    seen: list[Consultation] = []

    async def look_up(about: Consultation) -> Opinion:
        seen.append(about)
        return Opinion("plan", "it is seven", updates={"n": 7})

    async with Engine(store, tools=[draw], planners={"p": plan}, on_stuck={"look_up": look_up}) as engine:
        run = await engine.start("draw", planner="p")
        assert (await run.outcome()).result == 7
    assert [about.stuck for about in seen] == ["no number is known"]


async def test_while_one_is_asked_the_run_says_so_and_the_next_engine_asks_again(store: str) -> None:
    is_asked = asyncio.Event()

    async def think(_about: Consultation) -> None:
        is_asked.set()
        await asyncio.Event().wait()

    async with Engine(store, tools=[draw], planners={"p": plan}, on_stuck={"h": think}) as engine:
        run = await engine.start("draw", planner="p")
        await is_asked.wait()
        state = await run.state()
        assert (
            state.status, state.stuck, state.helper, state.attention
        ) == ("planning", "no number is known", "h", ())  # fmt: skip
    give = {"h": lambda _about: Opinion("plan", updates={"n": 3})}
    async with Engine(store, tools=[draw], planners={"p": plan}, on_stuck=give) as engine:
        assert (await engine.run(run.id).outcome()).result == 3


def raises(_about: Consultation) -> None:
    raise KeyError("no such desk")


async def is_slow(_about: Consultation) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("handler", "named"),
    [
        (raises, "KeyError"),
        (is_slow, "TimeoutError"),
        (lambda _about: 7, "answered 7"),
        (lambda _about: Opinion("plan", updates={"n": float("nan")}), "JSON"),
    ],
)
async def test_one_that_is_of_no_help_is_named_to_a_person(store: str, handler: Any, named: str) -> None:
    settings = Settings(stuck_timeout_s=0.01)
    async with Engine(
        store, tools=[draw], planners={"p": plan}, on_stuck={"desk": handler}, settings=settings
    ) as engine:
        run = await engine.start("draw", planner="p")
        await wait_for_fact(run, f.OpinionGiven)
        (item,) = (await run.state()).attention
        assert "no help from desk: " in item.detail
        assert named in item.detail


async def test_a_name_that_a_reviewer_has_is_refused(store: str) -> None:
    with pytest.raises(InvalidInputError, match="'desk': the name is taken"):
        Engine(store, reviewers={"desk": raises}, on_stuck={"desk": raises})
