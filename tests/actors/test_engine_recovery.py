import asyncio
import gc
import weakref
from pathlib import Path
from typing import Any

import pytest

from midcourse import Engine, Plan, RetryPolicy, Settings, Step, ToolError, tool
from midcourse.actors.reconciler import Reconciler
from midcourse.domain.facts import AttemptFailed, PartMissing, PartRestored, SignalReceived, StepStarted
from midcourse.store import Journal
from midcourse.testing import (
    CrashAt,
    ScriptedPlanner,
    TrialEngine,
    crash_at_every_fact,
    kill_scenario,
    run_scenario,
    scripted_tool,
    wait_for_fact,
)

PATIENT = RetryPolicy(max_attempts=2, initial_s=5000.0, max_s=10_000.0)
ONE_STEP = Plan((Step(tool_name="work"),))


def calls_in(folder: Path) -> list[str]:
    log = folder / "calls"
    return log.read_text().split() if log.exists() else []


async def three_calls(journal: Journal, folder: Path) -> Any:
    """A scenario for the crash kit: three steps that leave a line each in a file."""

    @tool(effect="irreversible", idempotent=True)
    async def call(n: int) -> int:
        if str(n) not in calls_in(folder):
            with (folder / "calls").open("a") as log:
                log.write(f"{n}\n")
        return n

    async with Engine(journal, tools=[call]) as engine:
        plan = Plan(tuple(Step(tool_name="call", input={"n": n}) for n in range(3)))
        run = await engine.start("call", plan=plan, key="calls")
        outcome = await run.outcome(timeout_s=30)
        ledger = [entry.receipt.result for entry in outcome.ledger]
        return {"status": outcome.status, "ledger": ledger, "world": calls_in(folder)}


async def failing(journal: Journal, folder: Path) -> Any:
    """A scenario for the crash kit that raises."""
    async with Engine(journal):
        raise LookupError(str(folder))


def test_a_killed_process_is_taken_up_where_it_was(tmp_path: Path) -> None:
    crashes = list(crash_at_every_fact(three_calls, folder=tmp_path))
    assert [crash.result for crash in crashes] == [crash.uncrashed for crash in crashes]
    assert [crash.at for crash in crashes] == [
        CrashAt(append, moment) for append in (1, 2, 3, 4) for moment in ("before", "after")
    ]
    assert crashes[0].uncrashed == {"status": "completed", "ledger": [0, 1, 2], "world": ["0", "1", "2"]}


def test_the_crash_kit_says_when_a_scenario_cannot_be_killed_or_raises(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="was to be killed before append 9"):
        kill_scenario(three_calls, CrashAt(9, "before"), folder=tmp_path)
    with pytest.raises(Exception, match="LookupError"):
        run_scenario(failing, folder=tmp_path)


async def test_half_done_runs_are_finished_by_the_next_engine(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    release = asyncio.Event()

    @tool(effect="irreversible", idempotent=True)
    async def work(n: int) -> int:
        await release.wait()
        return n

    plans = [Plan((Step(tool_name="work", input={"n": n}),)) for n in range(300)]
    async with Engine(url, tools=[work], settings=Settings(drain_s=0.0)) as engine:
        runs = [await engine.start("work", plan=plan) for plan in plans]
    release.set()
    async with Engine(url, tools=[work]) as engine:
        outcomes = [await engine.run(run.id).outcome(timeout_s=30) for run in runs]
    assert [outcome.result for outcome in outcomes] == list(range(300))


async def test_a_tool_that_is_missing_needs_attention_until_it_is_there_again() -> None:
    work = scripted_tool("work", asyncio.CancelledError, "done", effect="irreversible", idempotent=True)
    other = scripted_tool("other", effect="read")
    settings = Settings(drain_s=0.0)
    never = scripted_tool("work", lambda _context: asyncio.Event().wait(), idempotent=True)
    async with Engine("memory:", tools=[]):
        pass
    first = TrialEngine(tools=[never], settings=settings)
    async with first:
        run = await first.start("work", plan=ONE_STEP)
        await wait_for_fact(run, StepStarted)
    async with TrialEngine(tools=[other], store=first.store, clock=first.clock) as second:
        record = await wait_for_fact(second.run(run.id), PartMissing)
        assert record.fact == PartMissing("tool", "user__work")
        waiting = await second.attention()
        assert [(each.run.run_id, each.items[0].kind, each.items[0].subject) for each in waiting] == [
            (run.id, "missing_tool", "user__work")
        ]
    del work
    done = scripted_tool("work", "done", idempotent=True)
    async with TrialEngine(tools=[done], store=first.store, clock=first.clock) as third:
        assert (await third.run(run.id).outcome(timeout_s=10)).result == "done"
        assert (await wait_for_fact(third.run(run.id), PartRestored)).fact.name == "user__work"


async def test_a_planner_that_is_missing_needs_attention() -> None:
    async def hesitate(_context: object) -> Plan:
        await asyncio.Event().wait()
        return ONE_STEP

    work = scripted_tool("work", "done")
    first = TrialEngine(tools=[work])
    async with first:
        run = await first.start("work", planner=hesitate, ephemeral=True)
    async with TrialEngine(tools=[work], store=first.store) as second:
        await wait_for_fact(second.run(run.id), PartMissing)
        items = (await second.run(run.id).state()).attention
        assert [(item.kind, item.subject) for item in items] == [("missing_planner", "ephemeral/1")]


async def test_a_plan_that_was_asked_for_is_asked_for_again() -> None:
    asked = asyncio.Event()

    async def hesitate(_context: object) -> Plan:
        asked.set()
        await asyncio.Event().wait()
        return ONE_STEP

    work = scripted_tool("work", "done")
    first = TrialEngine(tools=[work], planners={"p": hesitate})
    async with first:
        run = await first.start("work")
        await asked.wait()
    planner = ScriptedPlanner(ONE_STEP)
    async with TrialEngine(tools=[work], planners={"p": planner}, store=first.store) as second:
        assert (await second.run(run.id).outcome(timeout_s=10)).result == "done"
    assert len(planner.contexts) == 1


# ------------------------------------------------------------------------------------------ passivation


async def waiting_run(engine: TrialEngine) -> tuple[Any, weakref.ref[Reconciler]]:
    """Start a run whose first attempt fails and whose second is due in over an hour."""
    run = await engine.start("work", plan=ONE_STEP)
    reconciler = weakref.ref(engine._directory.active[run.id])  # type: ignore[union-attr]  # noqa: SLF001
    await wait_for_fact(run, AttemptFailed)
    return run, reconciler


def flaky() -> Any:
    failure = ToolError("not now", retryable=True)
    return scripted_tool("work", failure, "done", idempotent=True, retry=PATIENT)


async def released(reconciler: weakref.ref[Reconciler]) -> bool:
    for _ in range(100):
        await asyncio.sleep(0)
    gc.collect()
    return reconciler() is None


async def test_a_run_that_waits_for_long_leaves_memory_and_comes_back_in_time() -> None:
    async with TrialEngine(tools=[flaky()]) as engine:
        run, reconciler = await waiting_run(engine)
        assert await released(reconciler)
        assert (await run.state()).status == "waiting"
        outcome = asyncio.create_task(run.outcome(timeout_s=10))
        for _ in range(200):
            engine.clock.advance(60)
            for _ in range(10):
                await asyncio.sleep(0)
        assert (await outcome).result == "done"


async def test_a_run_that_waits_comes_back_after_one_long_step_of_the_clock() -> None:
    async with TrialEngine(tools=[flaky()]) as engine:
        run, reconciler = await waiting_run(engine)
        assert await released(reconciler)
        engine.clock.advance(100_000)
        assert (await run.outcome(timeout_s=10)).result == "done"


async def test_a_run_that_waits_comes_back_in_the_next_engine() -> None:
    tools = [flaky()]
    first = TrialEngine(tools=tools)
    async with first:
        run, _ = await waiting_run(first)
    async with TrialEngine(tools=tools, store=first.store, clock=first.clock) as second:
        for _ in range(20):
            await asyncio.sleep(0)
        assert second._directory.active == {}  # type: ignore[union-attr]  # noqa: SLF001
        second.clock.advance(100_000)
        assert (await second.run(run.id).outcome(timeout_s=10)).result == "done"


async def test_a_signal_takes_a_waiting_run_up() -> None:
    async with TrialEngine(tools=[flaky()]) as engine:
        run, reconciler = await waiting_run(engine)
        assert await released(reconciler)
        await run.signal("news", {"n": 1}, id="s1")
        record = await wait_for_fact(run, SignalReceived)
        assert record.fact == SignalReceived("news", {"n": 1}, "s1", relevant=True)
        engine.clock.advance(100_000)
        assert (await run.outcome(timeout_s=10)).result == "done"


async def test_runs_stay_in_memory_where_that_is_set() -> None:
    async with TrialEngine(tools=[flaky()], settings=Settings(passivate=False)) as engine:
        run, reconciler = await waiting_run(engine)
        assert not await released(reconciler)
        engine.clock.advance(100_000)
        assert (await run.outcome(timeout_s=10)).result == "done"
