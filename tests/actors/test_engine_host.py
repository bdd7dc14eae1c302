import asyncio
import threading
from pathlib import Path

import pytest
import uvloop

from midcourse import Engine, Plan, RunNotFoundError, Step, tool
from midcourse.domain.facts import StepStarted
from midcourse.testing import wait_for_fact


@tool(effect="read")
async def double(n: int) -> int:
    """Return twice a number."""
    return 2 * n


DOUBLING = Plan(tuple(Step(tool_name="double", input={"n": n}) for n in range(20)))


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'runs.db'}"


async def test_the_host_has_its_turns_while_runs_go_on(url: str) -> None:
    turns = 0
    over = False

    async def host() -> None:
        nonlocal turns
        while not over:
            turns += 1
            await asyncio.sleep(0)

    async with Engine(url, tools=[double]) as engine:
        working = asyncio.create_task(host())
        runs = [await engine.start("double", plan=DOUBLING) for _ in range(20)]
        begun = turns
        results = [(await run.outcome(timeout_s=30)).result for run in runs]
        over = True
        await working
    assert results == [38] * 20
    assert turns - begun > 20  # it was let in at least once for each step of the one plan


async def test_a_tool_that_blocks_its_thread_holds_nobody_up(url: str) -> None:
    loop, begun, release = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    @tool(effect="read")
    def block() -> str:
        loop.call_soon_threadsafe(begun.set)
        assert release.wait(60)
        return threading.current_thread().name

    async with Engine(url, tools=[block, double]) as engine:
        blocked = await engine.start("block", plan=Plan((Step(tool_name="block"),)))
        await begun.wait()
        other = await engine.start("double", plan=DOUBLING)
        assert (await other.outcome(timeout_s=30)).result == 38
        assert (await blocked.state()).status == "running"
        release.set()
        assert (await blocked.outcome(timeout_s=30)).result != threading.main_thread().name


def test_it_runs_under_uvloop(url: str) -> None:
    async def main() -> tuple[str, int]:
        async with Engine(url, tools=[double]) as engine:
            run = await engine.start("double", plan=DOUBLING)
            result = (await run.outcome(timeout_s=30)).result
            return type(asyncio.get_running_loop()).__module__, result

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(main()) == ("uvloop", 38)


async def test_other_threads_use_the_engine(url: str) -> None:
    async with Engine(url, tools=[double]) as engine:

        def elsewhere() -> tuple[str, int, str, int]:
            remote = engine.threadsafe
            run = remote.start("double", plan=DOUBLING, key="k").result(30)
            outcome = run.outcome(timeout_s=30).result(30)
            again = remote.run(run.id)
            listed = len(remote.runs().result(30).runs) + len(remote.attention().result(30))
            return run.id, outcome.result, again.state().result(30).status, listed

        run_id, result, status, listed = await asyncio.to_thread(elsewhere)
        assert (result, status, listed) == (38, "completed", 1)
        assert (await engine.run(run_id).outcome()).result == 38


async def test_errors_reach_other_threads(url: str) -> None:
    async with Engine(url, tools=[double]) as engine:

        def elsewhere() -> None:
            nowhere = engine.threadsafe.run("nowhere")
            for ask in (nowhere.signal("x"), nowhere.cancel(), nowhere.state(), nowhere.replan("x")):
                with pytest.raises(RunNotFoundError):
                    ask.result(30)

        await asyncio.to_thread(elsewhere)


async def test_another_thread_asks_a_run(url: str) -> None:
    @tool(effect="irreversible", idempotent=True)
    async def wait() -> None:
        await asyncio.Event().wait()

    async with Engine(url, tools=[wait]) as engine:
        run = await engine.start("wait", plan=Plan((Step(tool_name="user__wait"),)))
        await wait_for_fact(run, StepStarted)
        remote = engine.threadsafe.run(run.id)

        def elsewhere() -> str:
            remote.signal("news", 1, by="bob").result(30)
            remote.cancel("enough").result(30)
            return remote.state().result(30).status

        assert await asyncio.to_thread(elsewhere) in ("compensating", "attention", "cancelled")
