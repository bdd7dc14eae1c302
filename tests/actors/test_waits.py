"""Runs that wait, on real stores: signals, updates, timers over restarts, and what they cost meanwhile."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from midcourse import (
    Engine,
    MessageRefused,
    Plan,
    Step,
    ToolContext,
    ToolError,
    WaitFor,
    open_journal,
    tool,
)
from midcourse.actors.writer import write
from midcourse.domain import facts as f
from midcourse.domain.messages import ReceiveSignal
from midcourse.store import RunFilter
from midcourse.testing import TrialEngine, scripted_tool, wait_for_fact

DAY_S = 86_400.0


def wait(**input: Any) -> Step:
    return Step("W", "wait", input)


def waiting(**input: Any) -> Plan:
    return Plan([wait(**input), Step("L", "look", {"at": "{{W}}"})])


@tool(effect="read")
async def look(at: Any) -> Any:
    return at


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'runs.db'}"


def begun(step: str) -> Any:
    return lambda fact: fact.step == step


async def test_thirty_days_pass_in_no_time_under_the_clock_of_the_test_kit() -> None:
    work = scripted_tool("work", "done", effect="read")
    plan = Plan([Step(tool_name="wait", input={"for_s": 10 * DAY_S})] * 3 + [Step(tool_name="work")])
    async with TrialEngine(tools=[work]) as engine:
        run = await engine.start("a month", plan=plan)
        for n in (1, 2, 3):
            await wait_for_fact(run, f.WaitStarted, where=begun(f"E{n - 1}"))
            engine.clock.advance(10 * DAY_S)
        assert (await run.outcome(timeout_s=10)).result == "done"


async def test_a_waiting_run_is_let_go_of_and_taken_up_by_its_signal(store: str) -> None:
    async with Engine(store, tools=[look]) as engine:
        run = await engine.start("wait", plan=waiting(signal="paid"))
        await released(engine, run.id)
        await run.signal("paid", {"amount": 7}, id="one")
        await run.signal("paid", {"amount": 7}, id="one")
        assert (await run.outcome()).result == {
            "signal": "paid", "payload": {"amount": 7}, "timed_out": False,
        }  # fmt: skip


async def released(engine: Engine, run_id: str) -> None:
    directory = engine._directory  # noqa: SLF001 - whether it is held in memory cannot be seen from outside
    assert directory is not None
    for _ in range(1_000):
        if run_id not in directory.active:
            return
        await asyncio.sleep(0)
    raise AssertionError(f"run {run_id} is still in memory")


async def test_a_signal_that_another_process_wrote_while_no_engine_ran_is_taken_up(store: str) -> None:
    async with Engine(store, tools=[look]) as engine:
        run = await engine.start("wait", plan=waiting(signal="paid"))
    async with open_journal(store) as journal:
        await write(journal, run.id, ReceiveSignal(at=1.0, name="paid", payload=1))
    async with Engine(store, tools=[look]) as engine:
        assert (await engine.run(run.id).outcome()).result["payload"] == 1


async def test_timers_that_fell_due_while_nothing_ran_fire_once(store: str) -> None:
    now = 1_000_000.0
    async with Engine(store, tools=[look], clock=lambda: now) as engine:
        runs = [await engine.start("wait", plan=waiting(for_s=DAY_S)) for _ in range(40)]
    async with Engine(store, tools=[look], clock=lambda: now + 2 * DAY_S) as engine:
        for run in runs:
            assert (await engine.run(run.id).outcome()).result == {"timed_out": False}
        ended = [r async for r in engine.run(runs[0].id).facts() if isinstance(r.fact, f.WaitEnded)]
        assert len(ended) == 1


async def test_ten_thousand_timers_due_at_a_restart_all_fire_and_leave_turns_to_the_host(store: str) -> None:
    now, runs, looks = 1_000_000.0, 10_000, Counter[int]()

    @tool(effect="read")
    async def count(n: int) -> None:
        looks[n] += 1

    async with Engine(store, tools=[count], clock=lambda: now) as engine:
        plans = (Plan([wait(for_s=DAY_S), Step("C", "count", {"n": n})]) for n in range(runs))
        await asyncio.gather(*(engine.start("wait", plan=plan) for plan in plans))
    most, before = 0, 0
    async with Engine(store, tools=[count], clock=lambda: now + 2 * DAY_S):
        while len(looks) < runs:
            await asyncio.sleep(0)
            most, before = max(most, len(looks) - before), len(looks)
    assert set(looks.values()) == {1}
    assert most <= 256, f"{most} runs were served between two turns of the host"


async def test_a_waiting_run_is_not_read_when_an_engine_opens(store: str) -> None:
    async with Engine(store, tools=[look]) as engine:
        run = await engine.start("wait", plan=waiting(for_s=DAY_S))
    async with Engine(store, tools=[look]) as engine:
        other = await engine.start("look", plan=Plan([Step(tool_name="look", input={"at": 1})]))
        await other.outcome()
        page = await engine.runs(RunFilter(statuses=("waiting",)))
        assert [row.run_id for row in page.runs] == [run.id]
        assert engine._directory is not None  # noqa: SLF001 - what is in memory cannot be seen from outside
        assert run.id not in engine._directory.active  # noqa: SLF001


@tool(effect="irreversible")
async def negotiate(price: int, *, context: ToolContext) -> int:
    """Ask for offers until one will do."""
    if context.signal is None:
        raise WaitFor(signal="offer", details={"asked": price}, no_effect=True)
    offer = context.signal.payload
    if offer == "nonsense":
        raise ToolError("that is no offer")
    if offer < price:
        raise WaitFor(signal="offer", reply=f"{offer} is not enough", no_effect=True)
    return int(offer)


async def test_a_tool_waits_for_signals_under_one_operation_and_replies_to_them(store: str) -> None:
    async with Engine(store, tools=[negotiate]) as engine:
        run = await engine.start("sell", plan=Plan([Step("N", "negotiate", {"price": 10})]))
        assert await run.update("offer", 5) == "5 is not enough"
        assert await run.update("offer", 9, id="second") == "9 is not enough"
        assert await run.update("offer", 9, id="second") == "9 is not enough"
        assert await run.update("offer", 12) == 12
        assert (await run.outcome()).result == 12
        keys = {
            r.fact.operation
            async for r in run.facts()
            if isinstance(r.fact, (f.StepStarted, f.AttemptStarted))
        }
        assert len(keys) == 1


async def test_an_update_that_its_tool_fails_on_is_refused(store: str) -> None:
    async with Engine(store, tools=[negotiate]) as engine:
        run = await engine.start("sell", plan=Plan([Step("N", "negotiate", {"price": 10})]))
        with pytest.raises(MessageRefused, match="that is no offer"):
            await run.update("offer", "nonsense")


async def test_an_update_that_nothing_takes_says_so_when_the_run_ends(store: str) -> None:
    async with Engine(store, tools=[look]) as engine:
        run = await engine.start("wait", plan=waiting(signal="paid"))
        update = asyncio.create_task(run.update("shipped", 1, id="u"))
        await wait_for_fact(run, f.SignalReceived)
        await run.signal("paid")
        with pytest.raises(MessageRefused, match=r"ended before anything took the signal 'shipped'"):
            await update
        other = await engine.start("wait", plan=waiting(signal="paid"))
        with pytest.raises(TimeoutError):
            await other.update("shipped", timeout_s=0.01)


async def test_ten_thousand_signals_to_one_run_are_all_there_once_and_in_order(store: str) -> None:
    async with Engine(store, tools=[look]) as engine:
        run = await engine.start("wait", plan=waiting(signal="end"))
        await asyncio.gather(*(run.signal("tick", n, id=f"t{n}") for n in range(10_000)))
        await run.signal("end")
        await run.outcome()
        received = [r.fact async for r in run.facts() if isinstance(r.fact, f.SignalReceived)]
        ticks = [fact.payload for fact in received if fact.name == "tick"]
        assert ticks == list(range(10_000))


async def test_signals_from_two_other_processes_and_the_engine_are_all_there(store: str) -> None:
    async with Engine(store, tools=[look]) as engine, open_journal(store) as one, open_journal(store) as two:
        run = await engine.start("wait", plan=waiting(signal="end"))

        async def send(journal: Any, name: str) -> None:
            for n in range(25):
                await write(journal, run.id, ReceiveSignal(at=1.0, name=name, payload=n, id=f"{name}{n}"))

        async def send_here() -> None:
            for n in range(25):
                await run.signal("here", n, id=f"here{n}")

        await asyncio.gather(send(one, "one"), send(two, "two"), send_here())
        await run.signal("end")
        await run.outcome()
        received = [r.fact async for r in run.facts() if isinstance(r.fact, f.SignalReceived)]
        for name in ("one", "two", "here"):
            assert [fact.payload for fact in received if fact.name == name] == list(range(25))
