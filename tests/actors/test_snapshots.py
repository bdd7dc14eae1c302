"""Long runs are opened with snapshots, and nothing but time depends on them."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from midcourse import Engine, Plan, Settings, Step, tool
from midcourse.actors.loading import LONG, Loaded, load, load_newest
from midcourse.actors.snapshots import due_after, is_worth, make_snapshot
from midcourse.domain.facts import BoardUpdated, Fact, RunStarted
from midcourse.domain.goal import Goal
from midcourse.store import GENESIS, Append, Appended, Journal, RunIndex, open_journal

from ..laws.replay import snapshot as picture

STARTED = RunStarted(goal=Goal("deliver order 42"))
ROW = RunIndex(run_id="a", status="waiting", created=1000.0)


def notes(count: int, first: int = 0) -> list[Fact]:
    return [BoardUpdated(values={f"k{n}": {"n": n}}) for n in range(first, first + count)]


async def append(journal: Journal, facts: list[Fact], head: Appended | None = None) -> Appended:
    entries = [(1000.0, "engine", 0, fact) for fact in facts]
    if head is None:
        return await journal.append(Append("a", 0, GENESIS, entries, ROW))
    return await journal.append(Append("a", head.head_version, head.head_hash, entries))


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'store.db'}"


def execute(url: str, *statements: str) -> list[Any]:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        rows = [connection.execute(statement).fetchall() for statement in statements]
        connection.commit()
    return rows


async def opened(journal: Journal) -> Loaded:
    loaded = await load(journal, "a")
    assert loaded is not None
    return loaded


async def folded(journal: Journal) -> Loaded:
    """The run as its facts alone have it."""
    head = await journal.head("a")
    assert head is not None
    loaded = await load(journal, "a", until=head.version)
    assert loaded is not None
    assert loaded.snapshot is None, "as it was at a time, a run is folded from its first fact"
    return loaded


async def check(journal: Journal) -> Loaded:
    """Open the run, and compare it with what its facts alone say."""
    loaded, plain = await opened(journal), await folded(journal)
    assert picture(loaded.run) == picture(plain.run)
    assert loaded.hash == plain.hash
    return loaded


async def test_a_long_run_is_opened_with_its_snapshot_and_what_came_since(url: str) -> None:
    async with open_journal(url, owner=True) as journal:
        head = await append(journal, [STARTED, *notes(2_999)])
        kept = await make_snapshot(journal, "a")
        assert kept is not None
        assert kept.version == 3_000
        assert (await check(journal)).snapshot == kept
        await append(journal, notes(500, 2_990), head)
        loaded = await check(journal)
        assert (loaded.snapshot, loaded.run.version) == (kept, 3_500)
        newest = await load_newest(journal, "a")
        assert newest is not None
        assert newest.run.version == 3_500


async def test_a_short_run_has_none_and_a_long_one_only_where_it_pays(url: str) -> None:
    async with open_journal(url, owner=True) as journal:
        head = await append(journal, [STARTED, *notes(LONG - 2)])
        assert await make_snapshot(journal, "a") is None
        head = await append(journal, notes(1), head)
        assert await make_snapshot(journal, "a") is not None
        head = await append(journal, notes(LONG - 1), head)
        assert await make_snapshot(journal, "a") is None
        await append(journal, notes(1), head)
        assert await make_snapshot(journal, "a") is not None
        assert await make_snapshot(journal, "b") is None


def test_a_run_at_work_has_ever_fewer() -> None:
    assert [due_after(version) for version in (0, 8_000, 50_000)] == [8_000, 16_000, 75_000]
    assert [is_worth(50_000, kept) for kept in (46_875, 46_876, 50_000)] == [True, False, False]


DAMAGES = {
    "its tables are gone": ["DROP TABLE snapshots", "DROP TABLE snapshot_pieces"],
    "its pieces are gone": ["DELETE FROM snapshot_pieces"],
    "the table of pieces is gone": ["DROP TABLE snapshot_pieces"],
    "a piece is altered": ["UPDATE snapshot_pieces SET body = substr(body, 1, length(body) - 1)"],
    "its row is altered": ["UPDATE snapshots SET version = version - 1"],
    "other code made it": ["UPDATE snapshots SET seal = 'other'"],
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_snapshot_changes_nothing_but_time_and_is_made_anew(url: str, damage: str) -> None:
    async with open_journal(url, owner=True) as journal:
        head = await append(journal, [STARTED, *notes(2_999)])
        await make_snapshot(journal, "a")
        execute(url, *DAMAGES[damage])
        assert (await check(journal)).snapshot is None
        await append(journal, notes(2_000, 2_999), head)
        assert await make_snapshot(journal, "a") is not None
        assert (await check(journal)).snapshot is not None
        assert list(journal.verify()) == []


async def test_facts_that_were_altered_before_a_snapshot_are_found_by_verifying(url: str) -> None:
    async with open_journal(url, owner=True) as journal:
        await append(journal, [STARTED, *notes(2_999)])
        await make_snapshot(journal, "a")
        altered = "SET state = replace(state, '\"n\":7}', '\"n\":8}') WHERE originator_version = 9"
        execute(url, f"UPDATE stored_events {altered}")
        assert (await opened(journal)).run.board["k7"] == {"n": 7}, "the state of before"
        assert [problem.version for problem in journal.verify()] == [9]


async def test_a_snapshot_of_a_record_that_was_altered_is_left_aside(url: str) -> None:
    async with open_journal(url, owner=True) as journal:
        await append(journal, [STARTED, *notes(2_999)])
        await make_snapshot(journal, "a")
        altered = "SET state = replace(state, '2998', '2997') WHERE originator_version = 3000"
        execute(url, f"UPDATE stored_events {altered}")
        assert (await opened(journal)).snapshot is None


# -------------------------------------------------------------------------------------------- with an engine


@tool(effect="irreversible", idempotent=True)
async def nothing(n: int) -> int:
    return n


def sequence(steps: int) -> Plan:
    return Plan([Step(id=f"s{n}", tool_name="nothing", input={"n": n}) for n in range(steps)])


async def test_a_run_that_has_ended_is_kept_and_read_by_the_next_engine(url: str) -> None:
    async with Engine(url, tools=[nothing]) as engine:
        run = await engine.start("go", plan=sequence(1_100))
        assert (await run.outcome(timeout_s=60)).result == 1_099
        state = await run.state()
    async with open_journal(url, read_only=True) as journal:
        loaded = await load(journal, run.id)
        assert loaded is not None
        assert loaded.snapshot is not None
        assert loaded.run.results["s1099"] == 1_099
    async with Engine(url, tools=[nothing]) as engine:
        again = await engine.run(run.id).state()
        assert again == state


async def test_a_run_in_flight_is_kept_when_its_engine_closes_and_goes_on_from_there(url: str) -> None:
    begun, is_open = asyncio.Event(), asyncio.Event()

    @tool(effect="read")
    async def last() -> str:
        begun.set()
        await is_open.wait()
        return "done"

    plan = Plan([*sequence(1_100).steps, Step(id="last", tool_name="last")])
    async with Engine(url, tools=[nothing, last], settings=Settings(drain_s=0)) as engine:
        run = await engine.start("go", plan=plan)
        await begun.wait()
    is_open.set()
    async with open_journal(url, read_only=True) as journal:
        kept = await journal.latest_snapshot(run.id)
        head = await journal.head(run.id)
        assert kept is not None
        assert head is not None
        assert head.version - kept.version < LONG
    async with Engine(url, tools=[nothing, last]) as engine:
        assert (await engine.run(run.id).outcome(timeout_s=60)).result == "done"


async def test_a_run_whose_state_cannot_be_kept_goes_on_without(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    @tool(effect="read")
    async def large() -> int:
        return 2**70

    plan = Plan([Step(id="x", tool_name="large"), *sequence(1_100).steps])
    async with Engine(url, tools=[nothing, large]) as engine:
        run = await engine.start("go", plan=plan)
        assert (await run.outcome(timeout_s=60)).result == 1_099
    assert "has no snapshots" in caplog.text
    async with open_journal(url, read_only=True) as journal:
        assert await journal.latest_snapshot(run.id) is None


async def test_a_snapshot_that_cannot_be_written_is_told_and_the_run_goes_on(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_journal(url, owner=True) as journal:
        await append(journal, [STARTED, *notes(2_999)])
        await make_snapshot(journal, "a")
    refuse = "BEGIN SELECT RAISE(ABORT, 'full'); END"
    execute(url, f"CREATE TRIGGER full BEFORE INSERT ON snapshot_pieces {refuse}")
    async with Engine(url, tools=[nothing]) as engine:
        run = await engine.start("go", plan=sequence(1_100))
        assert (await run.outcome(timeout_s=60)).result == 1_099
    assert "has no new snapshot" in caplog.text
    async with open_journal(url, read_only=True) as journal:
        assert list(journal.verify()) == []


async def test_short_runs_leave_no_tables(url: str) -> None:
    async with Engine(url, tools=[nothing]) as engine:
        run = await engine.start("go", plan=sequence(3))
        await run.outcome(timeout_s=10)
    assert execute(url, "SELECT name FROM sqlite_master WHERE name LIKE 'snapshot%'") == [[]]


# ---------------------------------------------------------------------------------------------- being killed

DYING = """
import asyncio, os, signal, sys
from midcourse.actors.snapshots import make_snapshot
from midcourse.store import open_journal
from midcourse.store import snapshots

url, at, moment = sys.argv[1], int(sys.argv[2]), sys.argv[3]
write, times = snapshots.Keeping.write, 0

def dying(self, execute, dialect):
    global times
    times += 1
    if times == at and moment == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    write(self, execute, dialect)
    if times == at:
        os.kill(os.getpid(), signal.SIGKILL)

snapshots.Keeping.write = dying

async def main():
    async with open_journal(url, owner=True) as journal:
        await make_snapshot(journal, "a")

asyncio.run(main())
"""


def die_while_keeping(url: str, at: int, moment: str) -> int:
    return subprocess.run(
        [sys.executable, "-c", DYING, url, str(at), moment], check=False, capture_output=True
    ).returncode


async def test_a_process_killed_while_it_keeps_a_snapshot_leaves_the_one_before(url: str) -> None:
    large: Callable[[int], list[Fact]] = lambda first: [  # noqa: E731 - a fact of 200 bytes
        BoardUpdated(values={f"k{n}": "x" * 200}) for n in range(first, first + 2_500)
    ]
    async with open_journal(url, owner=True) as journal:
        head = await append(journal, [STARTED, *large(0)])
        before = await make_snapshot(journal, "a")
        await append(journal, large(2_500), head)
    at, codes = 0, list[int]()
    while not codes or codes[-1]:
        at += 1
        codes += [die_while_keeping(url, at, moment) for moment in ("before", "after")]
        async with open_journal(url, owner=True) as journal:
            loaded = await check(journal)
            assert list(journal.verify()) == []
            if codes[-1]:
                assert loaded.snapshot == before
    assert at > 3, "it was killed in several places"
    async with open_journal(url, owner=True) as journal:
        loaded = await check(journal)
        assert loaded.snapshot is not None
        assert loaded.snapshot.version == 5_001
        ((kept,),) = execute(url, "SELECT count(*) FROM snapshot_pieces")[0]
        assert kept == len(set(loaded.snapshot.pieces)), "no piece of an unfinished one is left"
