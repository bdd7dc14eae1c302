import asyncio
import threading
from pathlib import Path

import pytest

from midcourse import Engine, EngineClosedError, Plan, Record, RunHandle, Settings, Step, tool
from midcourse.domain.facts import StepCompleted, StepStarted
from midcourse.store import BadStoreUrlError, StoreOwnedError
from midcourse.testing import TrialEngine, scripted_tool, wait_for_fact


@tool(effect="read")
async def double(n: int) -> int:
    """Return twice a number."""
    return 2 * n


PLAN = Plan((Step(tool_name="double", input={"n": 1}),))
WAITING = Plan((Step(tool_name="user__wait"), Step(tool_name="after")))


def own_threads() -> list[str]:
    return sorted(thread.name for thread in threading.enumerate() if thread.name.startswith("midcourse"))


async def next_fact(run: RunHandle, after: int) -> Record | None:
    async for record in run.facts(after=after):
        return record
    return None


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'runs.db'}"


async def test_a_second_close_does_nothing(url: str) -> None:
    engine = Engine(url, tools=[double])
    async with engine:
        await engine.close()
        await engine.close()
    with pytest.raises(EngineClosedError):
        await engine.start("double", plan=PLAN)


async def test_no_thread_is_left(url: str) -> None:
    async with Engine(url, tools=[double]) as engine:
        assert len(own_threads()) == 1
        await (await engine.start("double", plan=PLAN)).outcome(timeout_s=10)
    assert own_threads() == []


async def test_those_who_wait_are_told_that_the_engine_is_closed() -> None:
    never = scripted_tool("wait", lambda _context: asyncio.Event().wait(), effect="read")
    after = scripted_tool("after", effect="read")
    settings = Settings(drain_s=0.0, close_grace_s=0.0)
    async with Engine("memory:", tools=[never, after], settings=settings) as engine:
        run = await engine.start("wait", plan=WAITING)
        record = await wait_for_fact(run, StepStarted)
        outcome = asyncio.create_task(run.outcome())
        more = asyncio.create_task(next_fact(run, record.version))
        await asyncio.sleep(0)
    with pytest.raises(EngineClosedError):
        await outcome
    with pytest.raises(EngineClosedError):
        await more


async def test_a_closing_engine_lets_steps_finish_and_begins_nothing() -> None:
    release = asyncio.Event()

    async def wait(_context: object) -> str:
        await release.wait()
        return "done"

    first = scripted_tool("wait", wait)
    after = scripted_tool("after", "end")
    async with TrialEngine(tools=[first, after]) as engine:
        run = await engine.start("wait", plan=WAITING)
        await wait_for_fact(run, StepStarted)
        closing = asyncio.create_task(engine.close())
        await asyncio.sleep(0)
        with pytest.raises(EngineClosedError):
            await engine.start("more", plan=WAITING)
        release.set()
        await closing
    assert after.calls == []
    async with TrialEngine(tools=[first, after], store=engine.store) as engine:
        run = engine.run(run.id)
        assert (await run.outcome(timeout_s=10)).result == "end"
        facts = [record.fact async for record in run.facts()]
    assert (len(first.calls), len(after.calls)) == (1, 1)
    assert [fact.step for fact in facts if isinstance(fact, StepCompleted)] == ["E0", "E1"]


async def test_a_shutdown_is_not_a_cancel(url: str) -> None:
    stopped = asyncio.Event()

    @tool(effect="irreversible", idempotent=True)
    async def wait() -> str:
        if not stopped.is_set():
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()
        return "done"

    plan = Plan((Step(tool_name="user__wait"),))
    async with Engine(url, tools=[wait], settings=Settings(drain_s=0.0)) as engine:
        run = await engine.start("wait", plan=plan, key="k")
        await wait_for_fact(run, StepStarted)
        before = (await run.state()).version
    assert stopped.is_set()
    async with Engine(url, tools=[wait]) as engine:
        run = engine.run(run.id)
        assert (await run.outcome(timeout_s=10)).result == "done"
        topics = [record.topic async for record in run.facts(after=before)]
    assert topics == ["attempt_lost", "attempt_started", "step_completed", "run_completed"]


async def test_a_tool_that_blocks_its_thread_does_not_keep_the_engine_open(url: str) -> None:
    begun, release = threading.Event(), threading.Event()

    @tool(effect="irreversible", idempotent=True)
    def block() -> str:
        begun.set()
        release.wait(60)
        return "done"

    settings = Settings(drain_s=0.0, close_grace_s=0.0)
    async with Engine(url, tools=[block, double], settings=settings) as engine:
        run = await engine.start("block", plan=Plan((Step(tool_name="block"),)))
        await asyncio.to_thread(begun.wait, 60)
        other = await engine.start("double", plan=PLAN)
        assert (await other.outcome(timeout_s=10)).result == 2
    release.set()
    async with Engine(url, tools=[block]) as engine:
        assert (await engine.run(run.id).outcome(timeout_s=10)).result == "done"


async def test_a_store_has_one_engine(url: str) -> None:
    async with Engine(url, tools=[double]) as engine:
        with pytest.raises(StoreOwnedError, match="One engine owns a store"):
            await Engine(url).__aenter__()
        run = await engine.start("double", plan=PLAN)
        assert (await run.outcome(timeout_s=10)).result == 2
    async with Engine(url, tools=[double]) as engine:
        assert (await engine.run(run.id).outcome()).result == 2


async def test_two_engines_live_side_by_side(tmp_path: Path) -> None:
    urls = [f"sqlite:///{tmp_path / name}" for name in ("a.db", "b.db")]
    async with Engine(urls[0], tools=[double]) as a, Engine(urls[1], tools=[double]) as b:
        runs = [await engine.start("double", plan=PLAN, key="same") for engine in (a, b)]
        assert [(await run.outcome(timeout_s=10)).result for run in runs] == [2, 2]
        assert [len((await engine.runs()).runs) for engine in (a, b)] == [1, 1]


async def test_an_engine_that_cannot_be_opened_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(BadStoreUrlError, match=r"sqlite:///relative\.db"):
        await Engine("orders.db").__aenter__()
    assert own_threads() == []


async def test_an_engine_that_loses_its_store_admits_nothing_more(tmp_path: Path) -> None:
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=[double]) as engine:
        never = await engine.start("wait", planner=_never, ephemeral=True)
        waiting = asyncio.create_task(never.outcome(timeout_s=30))
        await asyncio.sleep(0)
        (tmp_path / "runs.db.lock").unlink()
        with pytest.raises(EngineClosedError, match="lock file"):
            await waiting
        with pytest.raises(EngineClosedError, match="lock file"):
            await engine.start("double", plan=PLAN)


async def _never(_context: object) -> Plan:
    await asyncio.Event().wait()
    return PLAN
