"""Engines in processes of their own: two on one file, one that is killed, one that is told to stop."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from midcourse import Engine, Outcome
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


FIRST_STEP = [
    "run_started",
    "plan_proposed",
    "plan_accepted",
    "step_started",
    "step_completed",
    "step_started",
]
CARRIED_ON = [
    "attempt_lost",
    "attempt_started",
    "step_completed",
    "step_started",
    "step_completed",
    "run_completed",
]


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
