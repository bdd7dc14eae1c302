"""A run whose facts cannot be read is parked and named; the others go on."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from midcourse import Engine, Goal, Plan, RunParkedError, Step, tool
from midcourse.domain.facts import RunStarted
from midcourse.store import GENESIS, Append, CorruptRecordError, Entry, RunIndex, open_journal


@tool(effect="read")
def double(n: int) -> int:
    """Return twice a number."""
    return 2 * n


@pytest.fixture
async def url(tmp_path: Path) -> str:
    """A store with two runs whose facts do not fit their types; ``worse`` needs a person."""
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    started = RunStarted(Goal(5), tags={"customer": 7})  # type: ignore[arg-type,dict-item]
    async with open_journal(url) as journal:
        for run_id, status, count in (("bad", "running", 0), ("worse", "attention", 1)):
            row = RunIndex(
                run_id=run_id,
                status=status,
                created=1.0,
                goal="g",
                attention=count,
                tags={"customer": 7},  # type: ignore[dict-item]
            )
            await journal.append(Append(run_id, 0, GENESIS, [Entry(1.0, "engine", 0, started)], row))
    return url


async def test_the_others_go_on(url: str, caplog: pytest.LogCaptureFixture) -> None:
    plan = Plan((Step(tool_name="double", input={"n": 1}),))
    with caplog.at_level(logging.WARNING, "midcourse.actors"):
        async with Engine(url, tools=[double]) as engine:
            for run_id in ("bad", "worse"):
                with pytest.raises(RunParkedError, match=rf"run {run_id} is parked: record 1 .*goal\.text"):
                    await engine.run(run_id).outcome(timeout_s=10)
            assert sorted(engine.parked) == ["bad", "worse"]
            run = await engine.start("double", plan=plan)
            assert (await run.outcome(timeout_s=10)).result == 2
            listed = {row.run_id: row.tags for row in (await engine.runs()).runs}
            assert listed == {
                run.id: {},
                "bad": {"unreadable": '{"customer":7}'},
                "worse": {"unreadable": '{"customer":7}'},
            }
            assert await engine.attention() == []
    assert any("run worse waits for a person, and cannot be read" in each.message for each in caplog.records)


async def test_verifying_names_the_record(url: str) -> None:
    with open_journal(url, read_only=True) as journal:
        problems = list(journal.verify())
    assert [(each.run_id, each.version) for each in problems] == [("bad", 1), ("worse", 1)]
    assert problems[0].what.startswith("does not read: as run_started it does not read: Expected `str`")


async def test_an_end_that_only_the_index_knows_of_is_damage(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    row = RunIndex(run_id="r", status="completed", created=1.0, goal="g")
    started = [Entry(1.0, "engine", 0, RunStarted(Goal("g")))]
    async with open_journal(url) as journal:
        await journal.append(Append("r", 0, GENESIS, started, row))
    async with Engine(url, tools=[double]) as engine:
        with pytest.raises(
            CorruptRecordError, match="record 1 of run r is damaged: the index of the store says"
        ):
            await engine.run("r").outcome(timeout_s=10)
