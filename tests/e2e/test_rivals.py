"""Two processes race to settle, approve, propose: one wins, the other gets a clear conflict."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from midcourse import ApprovalRule, Authority, Engine, OutcomeUnknownError, Plan, RunHandle, Step, tool
from midcourse.domain import facts as f
from midcourse.testing import wait_for_fact

from .rival_process import look

PROGRAM = Path(__file__).with_name("rival_process.py")
NAMES = ("alice", "bob")
AUTHORITY = Authority(approvals=(ApprovalRule(tool="pay"),))


@tool
async def pay(amount: int) -> str:
    return f"paid {amount}"


@tool
async def lose() -> None:
    raise OutcomeUnknownError("the line went dead")


async def race(url: str, run: str, what: str, subject: str) -> tuple[str, str]:
    """Let two processes say the same to a run; return what the winner and the loser print."""
    command = [sys.executable, str(PROGRAM), url, run]
    rivals = [
        subprocess.Popen(
            [*command, name, what, subject], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in NAMES
    ]
    try:
        for rival in rivals:
            assert rival.stdout is not None
            assert rival.stdout.readline() == "ready\n"
        for rival in rivals:
            assert rival.stdin is not None
            rival.stdin.write("go\n")
            rival.stdin.flush()
        said = [(await asyncio.to_thread(rival.communicate, timeout=60))[0].strip() for rival in rivals]
    finally:
        for rival in rivals:
            rival.kill()
            rival.wait()
    won = [each for each in said if each.startswith("won: ")]
    lost = [each for each in said if each.startswith("lost: ")]
    assert (len(won), len(lost)) == (1, 1), said
    return won[0], lost[0]


async def facts_of(engine: Engine, run: RunHandle) -> list[f.Fact]:
    return [record.fact async for record in engine.run(run.id).facts()]


@pytest.mark.parametrize("is_owned", [False, True], ids=["no engine", "under an engine"])
async def test_two_processes_race_to_approve(tmp_path: Path, *, is_owned: bool) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    async with AsyncExitStack() as owner:
        engine = await owner.enter_async_context(Engine(url, tools=[pay], authority=AUTHORITY))
        run = await engine.start("pay", plan=Plan((Step("p", "pay", {"amount": 5}),)))
        asked = await wait_for_fact(run, f.ApprovalRequested)
        if not is_owned:
            await owner.aclose()
        won, lost = await race(url, run.id, "approve", asked.fact.subject)
    async with Engine(url, tools=[pay], authority=AUTHORITY) as later:
        assert (await later.run(run.id).outcome(timeout_s=30)).result == "paid 5"
        given = [fact for fact in await facts_of(later, run) if isinstance(fact, f.ApprovalGiven)]
    assert won == "won: approval_given"
    assert len(given) == 1
    assert f"was approved by {given[0].by}" in lost


async def test_two_processes_race_to_settle(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    async with Engine(url, tools=[lose]) as engine:
        run = await engine.start("lose", plan=Plan((Step("l", "lose"),)))
        unknown = (await wait_for_fact(run, f.OutcomeUnknown)).fact
    won, lost = await race(url, run.id, "settle", unknown.operation)
    assert won == "won: outcome_settled"
    assert f"operation {unknown.operation!r} is known to have happened" in lost
    async with Engine(url, tools=[lose]) as later:
        assert (await later.run(run.id).outcome(timeout_s=30)).result in NAMES
        settled = [fact for fact in await facts_of(later, run) if isinstance(fact, f.OutcomeSettled)]
    assert len(settled) == 1


async def test_two_processes_race_to_propose(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    async with Engine(url, tools=[pay, look], authority=AUTHORITY) as engine:
        run = await engine.start("pay", plan=Plan((Step("p", "pay", {"amount": 5}),)))
        await wait_for_fact(run, f.ApprovalRequested)
        epoch = (await run.state()).epoch
    won, lost = await race(url, run.id, "propose", str(epoch))
    assert won.startswith("won: plan_proposed, ")
    assert won.endswith("plan_accepted")
    assert lost.startswith(f"lost: stale: planned from epoch {epoch}, the run is at ")
    async with Engine(url, tools=[pay, look], authority=AUTHORITY) as later:
        assert (await later.run(run.id).outcome(timeout_s=30)).result in NAMES
