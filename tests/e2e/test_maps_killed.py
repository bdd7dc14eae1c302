"""A process that is killed in the middle of a hundred calls: the next one makes those that are left."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from midcourse.domain import facts as f
from midcourse.store import open_journal

from .map_process import ITEMS, KEY, SHAPES, STORE, play

PROGRAM = Path(__file__).with_name("map_process.py")
TEXTS = [f"item {number}" for number in range(ITEMS)]


def killed(folder: Path, shape: str, at: int) -> None:
    done = subprocess.run([sys.executable, str(PROGRAM), str(folder), shape, str(at)], check=False)
    assert done.returncode == -signal.SIGKILL


def calls(folder: Path) -> list[tuple[str, str, int]]:
    lines = (folder / "calls").read_text().splitlines()
    return [msgspec.json.decode(line, type=tuple[str, str, int]) for line in lines]


def committed(folder: Path) -> set[str]:
    """The operations that the facts say are committed."""

    async def read() -> set[str]:
        async with open_journal(f"sqlite:///{folder / STORE}", read_only=True) as journal:
            run = await journal.find_key(KEY)
            assert run is not None
            facts = [record.fact for record in await journal.read(run)]
        return {fact.operation for fact in facts if isinstance(fact, f.StepCompleted)}

    return asyncio.run(read())


def results(shape: str, result: Any) -> list[str]:
    if shape == "map":
        return [each["text"] for each in result["results"]]
    last = result["result"] if shape in ("reduce", "decide") else result
    return [last["text"]]


@pytest.mark.parametrize("shape", SHAPES)
def test_no_committed_call_is_repeated_and_results_are_in_order(tmp_path: Path, shape: str) -> None:
    for at in (37, 5, 1):
        killed(tmp_path, shape, at)
    before, kept = calls(tmp_path), committed(tmp_path)
    assert 37 <= len(kept) < ITEMS
    result = asyncio.run(play(tmp_path, shape))["all"]
    after = calls(tmp_path)[len(before) :]
    assert {operation for operation, _, _ in after} & kept == set()
    assert len({operation for operation, _, _ in before + after}) == ITEMS
    assert sorted({text for _, text, _ in before + after}) == sorted(TEXTS)
    assert results(shape, result) == (TEXTS if shape == "map" else TEXTS[-1:])
    if shape == "reduce":
        assert result["result"]["after"] == TEXTS[-2]
