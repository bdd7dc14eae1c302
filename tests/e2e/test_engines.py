"""Engines among others: two on one file, hosts that have other work, and hosts that stop."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from midcourse import Engine, Outcome, Plan, Settings, Step, tool
from midcourse.store import StoreOwnedError

from .engine_process import KEY, PLAN, STORE, tools

PROGRAM = Path(__file__).with_name("engine_process.py")


@contextmanager
def host(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that owns the store of a folder, and whose run is in its second step."""
    process = subprocess.Popen([sys.executable, str(PROGRAM), str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process, process.stdout:
        try:
            assert process.stdout.readline() == "waiting\n"
            yield process
        finally:
            process.kill()


async def carry_on(folder: Path) -> tuple[Outcome, list[str]]:
    """Finish the run of a folder in this process; return its outcome and the topics of its facts."""
    (folder / "go").touch()
    async with Engine(f"sqlite:///{folder / STORE}", tools=tools(folder)) as engine:
        run = await engine.start("wait for the file", plan=PLAN, key=KEY)
        outcome = await run.outcome(timeout_s=30)
        return outcome, [record.topic async for record in run.facts()]


FIRST_STEP = ["run_started", "plan_proposed", "plan_accepted", "step_started", "step_completed", "step_started"]
CARRIED_ON = ["attempt_lost", "attempt_started", "step_completed", "step_started", "step_completed", "run_completed"]


async def test_a_second_engine_is_told_who_owns_the_file_and_takes_over_when_that_one_is_killed(
    tmp_path: Path,
) -> None:
    with host(tmp_path) as owner:
        with pytest.raises(StoreOwnedError, match=f"process {owner.pid}") as refused:
            await Engine(f"sqlite:///{tmp_path / STORE}").__aenter__()
        assert refused.value.pid == owner.pid
        owner.send_signal(signal.SIGKILL)
        assert owner.wait() == -signal.SIGKILL
    outcome, topics = await carry_on(tmp_path)
    assert outcome.completed
    assert topics == FIRST_STEP + CARRIED_ON
    assert (tmp_path / "notes.txt").read_text() == "first\nlast\n"


async def test_a_host_that_is_told_to_stop_records_nothing_as_cancelled(tmp_path: Path) -> None:
    with host(tmp_path) as stopping:
        stopping.send_signal(signal.SIGTERM)
        assert stopping.wait() == 0
    outcome, topics = await carry_on(tmp_path)
    assert outcome.completed
    assert topics == FIRST_STEP + CARRIED_ON


async def test_a_waiter_that_is_cancelled_leaves_the_run_alone(tmp_path: Path) -> None:
    begun, release = asyncio.Event(), asyncio.Event()

    @tool
    async def wait() -> str:
        begun.set()
        await release.wait()
        return "done"

    async with Engine(f"sqlite:///{tmp_path / STORE}", tools=[wait]) as engine:
        run = await engine.start("wait", plan=Plan((Step("wait", "wait"),)))

        async def watch() -> None:
            async for _ in run.facts():
                pass

        waiters = [asyncio.create_task(run.outcome()), asyncio.create_task(watch())]
        await begun.wait()
        for waiter in waiters:
            waiter.cancel()
        await asyncio.wait(waiters)
        assert [waiter.cancelled() for waiter in waiters] == [True, True]
        release.set()
        assert (await run.outcome(timeout_s=30)).result == "done"
        topics = [record.topic async for record in run.facts()]
    assert topics[3:] == ["step_started", "step_completed", "run_completed"]


async def test_tools_that_block_their_threads_hold_up_no_other_run(tmp_path: Path) -> None:
    release = threading.Event()

    @tool
    def block(number: int) -> int:
        release.wait(60)
        return number

    @tool
    async def quick() -> str:
        return "done"

    settings = Settings(tool_threads=2)
    async with Engine(f"sqlite:///{tmp_path / STORE}", tools=[block, quick], settings=settings) as engine:
        blocked = [
            await engine.start("block", plan=Plan((Step("b", "block", {"number": number}),))) for number in range(4)
        ]
        other = await engine.start("quick", plan=Plan((Step("q", "quick"),)))
        assert (await other.outcome(timeout_s=30)).result == "done"
        assert [(await run.state()).status for run in blocked] == ["running"] * 4
        release.set()
        assert [(await run.outcome(timeout_s=30)).result for run in blocked] == [0, 1, 2, 3]


async def test_the_host_goes_on_with_its_own_work_while_runs_are_busy(tmp_path: Path) -> None:
    """The host answers requests over a socket; many are answered before the runs are done."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line)
        writer.close()

    @tool
    async def quick(number: int) -> int:
        return number

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, Engine(f"sqlite:///{tmp_path / STORE}", tools=[quick]) as engine:
        answered = 0

        async def ask() -> None:
            nonlocal answered
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                while True:
                    writer.write(b"are you there?\n")
                    assert await reader.readline() == b"are you there?\n"
                    answered += 1
            finally:
                writer.close()

        client = asyncio.create_task(ask())
        steps = [Step("", "quick", {"number": number}) for number in range(50)]
        runs = [await engine.start("count", plan=Plan(steps)) for _ in range(20)]
        outcomes = [await run.outcome(timeout_s=60) for run in runs]
        answered_meanwhile = answered
        client.cancel()
        await asyncio.wait([client])
        assert client.cancelled()
    assert [outcome.result for outcome in outcomes] == [49] * 20
    # One step of twenty runs is one commit, in which the loop turns several times.
    assert answered_meanwhile >= 50
