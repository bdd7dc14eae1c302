"""How many runs are under way at the same time: the others are recorded, and wait for a place."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from midcourse import Engine, Plan, PlanInvalid, RunHandle, Settings, Step, Tool, tool
from midcourse.actors.places import RunPlaces
from midcourse.domain import facts as f
from midcourse.domain.run import Run
from midcourse.testing import wait_for_fact

TWO = Settings(max_active_runs=2)
ONE = Settings(max_active_runs=1)


class Gate:
    """Calls that go on until they are let through, one after the other."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.inside: dict[str, asyncio.Event] = {}
        self.came = asyncio.Condition()

    def tool(self) -> Tool:
        @tool(effect="read")
        async def visit(name: str) -> str:
            opened = self.inside[name] = asyncio.Event()
            async with self.came:
                self.calls.append(name)
                self.came.notify_all()
            await opened.wait()
            del self.inside[name]
            return name

        return visit

    async def until(self, *names: str) -> None:
        async with self.came:
            await self.came.wait_for(lambda: set(names) <= set(self.calls))

    def open(self, name: str) -> None:
        self.inside[name].set()


def visit(name: str) -> Plan:
    return Plan([Step("V", "visit", {"name": name})])


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'runs.db'}"


async def begun(run: RunHandle) -> bool:
    return any([isinstance(record.fact, f.StepStarted) async for record in facts_now(run)])


async def facts_now(run: RunHandle) -> Any:
    version = (await run.state()).version
    async for record in run.facts():
        yield record
        if record.version >= version:
            return


async def test_further_runs_are_recorded_and_begin_when_there_is_a_place(store: str, gate: Gate) -> None:
    async with Engine(store, tools=[gate.tool()], settings=TWO) as engine:
        runs = [await engine.start(name, plan=visit(name)) for name in "abcd"]
        await gate.until("a", "b")
        assert [await begun(run) for run in runs] == [True, True, False, False]
        assert [(await run.state()).goal.text for run in runs] == ["a", "b", "c", "d"]
        gate.open("b")
        await gate.until("c")
        assert gate.calls == ["a", "b", "c"]
        gate.open("a")
        await gate.until("d")
        gate.open("c")
        gate.open("d")
        assert [(await run.outcome(timeout_s=10)).status for run in runs] == ["completed"] * 4


async def test_places_go_by_priority(store: str, gate: Gate) -> None:
    async with Engine(store, tools=[gate.tool()], settings=ONE) as engine:
        await engine.start("a", plan=visit("a"))
        await gate.until("a")
        for name, priority in (("low", "low"), ("normal", "normal"), ("high", "high")):
            await engine.start(name, plan=visit(name), priority=priority)  # type: ignore[arg-type]
        for name, following in (("a", "high"), ("high", "normal"), ("normal", "low")):
            gate.open(name)
            await gate.until(following)
        gate.open("low")


async def test_a_run_that_only_waits_leaves_its_place_and_needs_one_to_go_on(store: str, gate: Gate) -> None:
    plan = Plan([Step("W", "wait", {"signal": "go"}), Step("V", "visit", {"name": "waited"})])
    async with Engine(store, tools=[gate.tool()], settings=ONE) as engine:
        waiting = await engine.start("waiting", plan=plan)
        other = await engine.start("other", plan=visit("other"))
        await gate.until("other")
        await waiting.signal("go")
        await wait_for_fact(waiting, f.SignalReceived)
        assert gate.calls == ["other"]
        gate.open("other")
        await gate.until("waited")
        gate.open("waited")
        assert (await waiting.outcome(timeout_s=10)).status == "completed"
        assert (await other.outcome(timeout_s=10)).status == "completed"


async def test_child_runs_have_places_of_their_own_which_the_runs_above_them_have_left(
    store: str, gate: Gate
) -> None:
    def plan(context: Any) -> Plan:
        return visit(context.goal.text)

    do = {"tool_name": "plan_and_execute", "input": {"query": "{{item}}"}}
    parent = Plan([Step("T", "map", {"over": ["x", "y"], "do": do, "concurrency": 2})])
    async with Engine(store, tools=[gate.tool()], planners={"p": plan}, settings=ONE) as engine:
        run = await engine.start("parent", plan=parent)
        await gate.until("x")
        assert gate.calls == ["x"]
        gate.open("x")
        await gate.until("y")
        gate.open("y")
        assert (await run.outcome(timeout_s=10)).result == {"count": 2, "results": ["x", "y"]}


async def test_a_child_run_that_waits_for_a_place_is_cancelled_with_its_parent(
    store: str, gate: Gate
) -> None:
    def plan(context: Any) -> Plan:
        return visit("child")

    parent = Plan([Step("T", "plan_and_execute", {"query": "x"})])
    async with Engine(store, tools=[gate.tool()], planners={"p": plan}, settings=ONE) as engine:
        run, _ = await asyncio.gather(engine.start("p", plan=parent), engine.start("a", plan=visit("a")))
        await gate.until("a")
        await run.cancel("enough")
        assert (await run.outcome(timeout_s=10)).status == "cancelled"
        [child] = (await run.state()).children
        assert (child.state, gate.calls) == ("cancelled", ["a"])
        gate.open("a")


async def test_a_run_that_waits_for_a_place_can_be_cancelled_and_ends_at_once(store: str, gate: Gate) -> None:
    async with Engine(store, tools=[gate.tool()], settings=ONE) as engine:
        await engine.start("a", plan=visit("a"))
        await gate.until("a")
        waiting = await engine.start("b", plan=visit("b"))
        await waiting.cancel("not wanted")
        assert (await waiting.outcome(timeout_s=10)).status == "cancelled"
        gate.open("a")
        assert gate.calls == ["a"]


async def test_the_next_engine_takes_them_up_a_place_at_a_time_and_by_priority(
    store: str, gate: Gate
) -> None:
    tools, settings = [gate.tool()], Settings(max_active_runs=1, drain_s=0.0)
    async with Engine(store, tools=tools, settings=settings) as engine:
        await engine.start("a", plan=visit("a"))
        await gate.until("a")
        low = await engine.start("low", plan=visit("low"), priority="low")
        high = await engine.start("high", plan=visit("high"), priority="high")
    gate.calls.clear()
    async with Engine(store, tools=tools, settings=settings) as engine:
        async with gate.came:
            await gate.came.wait_for(lambda: bool(gate.calls))
        [first] = gate.calls
        others = [name for name in ("high", "a", "low") if name != first]
        for name, following in zip([first, *others], others, strict=False):
            gate.open(name)
            await gate.until(following)
        gate.open(others[-1])
        for run in (low, high):
            assert (await engine.run(run.id).outcome(timeout_s=10)).status == "completed"
    assert gate.calls == [first, *others]


async def test_a_start_that_fails_takes_no_place(store: str, gate: Gate) -> None:
    async with Engine(store, tools=[gate.tool()], settings=ONE) as engine:
        for _ in range(3):
            with pytest.raises(PlanInvalid):
                await engine.start("bad", plan=Plan([Step("V", "nowhere")]))
        await engine.start("a", plan=visit("a"), key="once")
        await engine.start("a", plan=visit("a"), key="once")
        await gate.until("a")
        gate.open("a")
        other = await engine.start("b", plan=visit("b"))
        await gate.until("b")
        gate.open("b")
        assert (await other.outcome(timeout_s=10)).status == "completed"


async def test_a_thousand_runs_on_three_places_are_never_more_than_three(store: str) -> None:
    now = most = 0

    @tool(effect="read")
    async def work() -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1

    async with Engine(store, tools=[work], settings=Settings(max_active_runs=3)) as engine:
        plan = Plan([Step(tool_name="work"), Step(tool_name="work")])
        runs = await asyncio.gather(*(engine.start(str(n), plan=plan) for n in range(1_000)))
        outcomes = await asyncio.gather(*(run.outcome(timeout_s=60) for run in runs))
    assert {outcome.status for outcome in outcomes} == {"completed"}
    assert most == 3


async def test_a_run_that_was_paused_and_goes_on_waits_for_its_place(store: str, gate: Gate) -> None:
    async with Engine(store, tools=[gate.tool()], settings=ONE) as engine:
        paused = await engine.start(
            "paused", plan=Plan([Step("W", "wait", {"signal": "x"}), Step("V", "visit", {"name": "p"})])
        )
        await wait_for_fact(paused, f.WaitStarted)
        await paused.pause("lunch")
        await paused.signal("x")
        await engine.start("a", plan=visit("a"))
        await gate.until("a")
        await paused.unpause()
        assert gate.calls == ["a"]
        gate.open("a")
        await gate.until("p")
        gate.open("p")
        assert (await paused.outcome(timeout_s=10)).status == "completed"


def test_places_are_held_once_and_handed_on() -> None:
    begun: list[str] = []
    places = RunPlaces(2, begun.append)
    runs = {name: Run(name) for name in "abcd"}
    assert [places.admit(runs[name]) for name in "abcda"] == [True, True, False, False, True]
    assert (places.is_waiting("c"), places.is_waiting("a"), places.take_now("d")) == (True, False, False)
    places.leave("c")
    places.give_back("c")
    places.give_back("a")
    places.give_back("a")
    assert begun == ["d"]
    assert places.take_now("d")


def test_without_a_limit_everybody_has_a_place() -> None:
    places = RunPlaces(None, lambda _: None)
    assert all(places.admit(Run(str(n))) for n in range(100))
