"""Budgets and pauses of an engine on a real store."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from midcourse import (
    Budget,
    Engine,
    GoalReached,
    InvalidInputError,
    Limits,
    MessageRefused,
    NoPlan,
    Plan,
    PlanningContext,
    RunFilter,
    Spent,
    Step,
    ToolContext,
    Usage,
    first_of,
    tool,
)
from midcourse.domain import facts as f


@tool(effect="read")
async def think(tokens: int, context: ToolContext) -> int:
    context.spend(tokens=tokens // 2, cost=0.5)
    await asyncio.to_thread(context.spend, tokens=tokens - tokens // 2)
    return tokens


@tool(effect="read")
async def look() -> str:
    return "seen"


def thinking(*tokens: int) -> Plan:
    return Plan([Step(tool_name="think", input={"tokens": each}) for each in tokens])


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'runs.db'}"


async def until_paused(run: object) -> list[f.Fact]:
    facts = []
    async for record in run.facts():  # type: ignore[attr-defined]
        facts.append(record.fact)
        if isinstance(record.fact, f.RunPaused):
            return facts
    raise AssertionError("it ended instead")


async def test_what_tools_spend_pauses_a_run_and_the_next_engine_goes_on_with_another_budget(
    store: str,
) -> None:
    limits = Limits(budgets=first_of(Budget(tokens=15), Budget(cost=99.0)))
    async with Engine(store, tools=[think]) as engine:
        run = await engine.start("think", plan=thinking(10, 10, 10), limits=limits)
        facts = await until_paused(run)
        assert facts[-2] == f.BudgetSpent("tokens", "the budget of 15 tokens is spent (20 used)", "pause")
        waits = await engine.attention()
        assert [(each.run.run_id, item.kind) for each in waits for item in each.items] == [(run.id, "budget")]
        with pytest.raises(MessageRefused, match="change its budget"):
            await run.unpause()
    async with Engine(store, tools=[think]) as engine:
        run = engine.run(run.id)
        await run.budget(Budget(tokens=50), reason="it is worth it", by="alice")
        assert (await run.outcome()).result == 10
        state = await run.state()
        assert state.usage == Usage(steps=3, tokens=30, cost=1.5)
        assert state.budgets == (Budget(cost=99.0), Budget(tokens=50))


async def test_what_planners_spend_counts_and_a_spent_budget_may_fail_a_run(store: str) -> None:
    def plan(context: PlanningContext) -> Plan | GoalReached:
        return Plan([Step(tool_name="look")], spent=Spent(tokens=7))

    limits = Limits(budgets=(Budget(tokens=7, then="fail"),))
    async with Engine(store, tools=[look], planners={"p": plan}) as engine:
        run = await engine.start("look", limits=limits)
        outcome = await run.outcome()
        assert (outcome.status, outcome.failure.kind) == ("failed", "budget")  # type: ignore[union-attr]
        assert [entry.operation for entry in (await run.state()).ledger] == []


async def test_what_a_planner_spends_on_finding_nothing_counts(store: str) -> None:
    async with Engine(
        store, planners={"p": lambda _context: NoPlan("no way", give_up=True, spent=Spent(cost=0.25))}
    ) as engine:
        run = await engine.start("look")
        await run.outcome()
        assert (await run.state()).usage.cost == 0.25


async def test_a_policy_is_asked_by_name(store: str) -> None:
    policies = {"short": lambda usage: "two steps will do" if usage.steps >= 2 else ""}
    async with Engine(store, tools=[look], policies=policies) as engine:
        plan = Plan([Step(tool_name="look")] * 3)
        run = await engine.start("look", plan=plan, limits=Limits(budgets=(Budget(policy="short"),)))
        facts = await until_paused(run)
        assert facts[-2] == f.BudgetSpent(
            "short", "the budget policy 'short' says: two steps will do", "pause"
        )
        with pytest.raises(InvalidInputError, match=r"'long' is not registered.*\(registered: short\)"):
            await engine.start("look", plan=plan, limits=Limits(budgets=(Budget(policy="long"),)))


def test_a_tool_spends_no_less_than_nothing() -> None:
    context = ToolContext("user__think:0")
    with pytest.raises(InvalidInputError, match=r"tokens=-1.*numbers from 0 up"):
        context.spend(tokens=-1)


async def test_a_run_is_paused_by_a_person_over_restarts(store: str) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    @tool(effect="read")
    async def slow() -> str:
        begun.set()
        await go_on.wait()
        return "done"

    async with Engine(store, tools=[slow, look]) as engine:
        run = await engine.start("look", plan=Plan([Step(tool_name="slow"), Step(tool_name="look")]))
        await begun.wait()
        await run.pause("audit", by="alice")
        go_on.set()
    async with Engine(store, tools=[slow, look]) as engine:
        run = engine.run(run.id)
        state = await run.state()
        assert (state.status, state.paused, [step.state for step in state.steps]) == (
            "waiting", "audit", ["done", "ready"],
        )  # fmt: skip
        await run.unpause(by="alice")
        assert (await run.outcome()).result == "seen"


async def test_runs_are_paused_by_filter(store: str) -> None:
    gate = asyncio.Event()

    @tool(effect="read")
    async def hang() -> None:
        await gate.wait()

    async with Engine(store, tools=[hang, look]) as engine:
        plan = Plan([Step(tool_name="hang"), Step(tool_name="look")])
        runs = [
            await engine.start("x", plan=plan, tags={"shop": shop}) for shop in ("oslo", "oslo", "bergen")
        ]
        assert await engine.pause_runs(RunFilter(active=True, tags={"shop": "oslo"}), "stock-taking") == 2
        gate.set()
        await runs[2].outcome()
        assert [(await run.state()).paused for run in runs[:2]] == ["stock-taking"] * 2
        assert await engine.unpause_runs() == 2
        assert [(await run.outcome()).status for run in runs] == ["completed"] * 3


async def test_a_paused_engine_begins_nothing_and_records_what_ends(store: str) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    @tool(effect="read")
    async def slow() -> str:
        begun.set()
        await go_on.wait()
        return "done"

    async with Engine(store, tools=[slow, look]) as engine:
        first = await engine.start("a", plan=Plan([Step(tool_name="slow"), Step(tool_name="look")]))
        await begun.wait()
        engine.pause()
        second = await engine.start("b", plan=Plan([Step(tool_name="look")]))
        go_on.set()
        async for record in first.facts():
            if isinstance(record.fact, f.StepCompleted):
                break
        states = [[step.state for step in (await run.state()).steps] for run in (first, second)]
        assert states == [["done", "ready"], ["ready"]]
        engine.unpause()
        assert [(await run.outcome()).status for run in (first, second)] == ["completed", "completed"]
