"""Snapshots in every store: kept, read, replaced, and left aside when anything about them does not fit."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from midcourse.store import (
    CorruptSnapshotError,
    Journal,
    JournalClosedError,
    JournalFailedError,
    Snapshot,
    digest_of,
    open_journal,
)
from midcourse.store import snapshots as module

from .conftest import OpenAnother
from .helpers import after, grow, note


@pytest.fixture
async def journal(open_another: OpenAnother) -> Journal:
    return open_another(owner=True)


async def keep(journal: Journal, version: int, pieces: Iterable[bytes], run_id: str = "a") -> Snapshot:
    """Keep a snapshot at a version, as whoever makes one does."""
    (record,) = await journal.read(run_id, after=version - 1, until=version)
    named = {digest_of(piece): piece for piece in pieces}
    snapshot = Snapshot(run_id, version, record.hash, tuple(named))
    await journal.keep_snapshot(snapshot, named)
    return snapshot


async def contents(journal: Journal, run_id: str = "a") -> list[bytes] | None:
    """The pieces of a run's snapshot; ``None`` where there is none."""
    snapshot = await journal.latest_snapshot(run_id)
    return None if snapshot is None else list(await journal.pieces(run_id, snapshot.pieces))


# ---------------------------------------------------------------------------------------------- every store


async def test_a_run_has_no_snapshot_until_one_is_kept(journal: Journal) -> None:
    await grow(journal, "a", 3)
    assert await journal.latest_snapshot("a") is None


async def test_a_snapshot_is_read_back_as_it_was(journal: Journal) -> None:
    await grow(journal, "a", 3)
    snapshot = await keep(journal, 2, [b"one", b"", b"\0\xff"])
    assert await journal.latest_snapshot("a") == snapshot
    assert await contents(journal) == [b"one", b"", b"\0\xff"]
    assert await journal.latest_snapshot("b") is None


async def test_a_snapshot_takes_the_place_of_the_one_before(journal: Journal) -> None:
    await grow(journal, "a", 5)
    before = await keep(journal, 2, [b"one", b"two"])
    (record,) = await journal.read("a", after=3, until=4)
    new = digest_of(b"three")
    await journal.keep_snapshot(Snapshot("a", 4, record.hash, (before.pieces[0], new)), {new: b"three"})
    assert await contents(journal) == [b"one", b"three"], "a piece that it shares need not be handed in"
    with pytest.raises(CorruptSnapshotError, match="is missing"):
        await journal.pieces("a", before.pieces)


async def test_runs_have_snapshots_of_their_own(journal: Journal) -> None:
    await grow(journal, "a", 2)
    await grow(journal, "b", 2)
    await keep(journal, 2, [b"one", b"two"])
    await keep(journal, 2, [b"two", b"one"], "b")
    assert await contents(journal) == [b"one", b"two"]
    assert await contents(journal, "b") == [b"two", b"one"]


async def test_a_large_snapshot_is_committed_a_little_at_a_time_and_facts_in_between(
    journal: Journal,
) -> None:
    head = await grow(journal, "a", 2)
    pieces = [bytes([n]) * 50_000 for n in range(40)]
    keeping = asyncio.create_task(keep(journal, 2, pieces))
    for n in range(5):
        head = await journal.append(after("a", head, note(n=n)))
    await keeping
    assert await contents(journal) == pieces
    assert list(journal.verify()) == []


async def test_a_snapshot_of_a_record_that_is_not_in_the_chain_is_left_aside(journal: Journal) -> None:
    await grow(journal, "a", 3)
    piece = {digest_of(b"one"): b"one"}
    await journal.keep_snapshot(Snapshot("a", 2, "0" * 64, tuple(piece)), piece)
    assert await journal.latest_snapshot("a") is None
    (record,) = await journal.read("a", after=1, until=2)
    await journal.keep_snapshot(Snapshot("a", 4, record.hash, tuple(piece)), piece)
    assert await journal.latest_snapshot("a") is None, "it is ahead of the run"


async def test_a_snapshot_that_other_code_made_is_left_aside(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    await grow(journal, "a", 3)
    with monkeypatch.context() as patch:
        patch.setattr(module, "fingerprint", lambda: "other code")
        await keep(journal, 2, [b"one"])
        assert await contents(journal) == [b"one"]
    assert await journal.latest_snapshot("a") is None


async def test_a_view_of_one_state_has_the_snapshots_of_then(journal: Journal) -> None:
    await grow(journal, "a", 3)
    await keep(journal, 2, [b"one"])
    with journal.frozen() as view:
        if view is not None:
            snapshot = await view.latest_snapshot("a")
            assert snapshot is not None
            assert await view.pieces("a", snapshot.pieces) == [b"one"]
    assert await contents(journal) == [b"one"]


async def test_a_journal_that_is_closed_or_only_read_keeps_none(open_another: OpenAnother) -> None:
    journal = open_another(owner=True)
    await grow(journal, "a", 2)
    snapshot = await keep(journal, 2, [b"one"])
    await journal.aclose()
    with pytest.raises(JournalClosedError):
        await journal.keep_snapshot(snapshot, {})


async def test_another_journal_reads_what_one_has_kept(open_another: OpenAnother) -> None:
    journal, another = open_another(owner=True), open_another()
    await grow(journal, "a", 2)
    await keep(journal, 2, [b"one"])
    assert await contents(another) == [b"one"]


# ---------------------------------------------------------------------------------------------------- damage


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A store in which run ``a`` has three facts and a snapshot of the second."""
    path = tmp_path / "store.db"
    async with open_journal(f"sqlite:///{path}", owner=True) as journal:
        await grow(journal, "a", 3)
        await keep(journal, 2, [b"one", b"two"])
    return path


def damage(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE snapshots",
        "DELETE FROM snapshots",
        "UPDATE snapshots SET version = 3",
        "UPDATE snapshots SET version = 'x'",
        "UPDATE snapshots SET hash = ''",
        "UPDATE snapshots SET pieces = '[]'",
        "UPDATE snapshots SET pieces = x'ff'",
        "UPDATE snapshots SET seal = 7",
        "UPDATE stored_events SET state = replace(state, '}', ' }') WHERE originator_version = 2",
        "DELETE FROM stored_events WHERE originator_version = 2",
    ],
)
async def test_a_snapshot_that_was_altered_is_none(path: Path, statement: str) -> None:
    damage(path, statement)
    async with open_journal(f"sqlite:///{path}", owner=True) as journal:
        assert await journal.latest_snapshot("a") is None


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM snapshot_pieces WHERE body = x'6f6e65'",
        "UPDATE snapshot_pieces SET body = x'ff' WHERE body = x'6f6e65'",
        "UPDATE snapshot_pieces SET body = 'one' WHERE body = x'6f6e65'",
        "DROP TABLE snapshot_pieces",
    ],
)
async def test_a_piece_that_was_altered_is_told_and_made_again(path: Path, statement: str) -> None:
    damage(path, statement)
    async with open_journal(f"sqlite:///{path}", owner=True) as journal:
        with pytest.raises((CorruptSnapshotError, JournalFailedError)):
            await contents(journal)
        await keep(journal, 2, [b"one", b"two"])
        assert await contents(journal) == [b"one", b"two"]


async def test_what_a_process_left_half_written_is_swept_up(path: Path) -> None:
    damage(path, "INSERT INTO snapshot_pieces VALUES ('a', 'half', x'00'), ('b', 'other', x'00')")
    async with open_journal(f"sqlite:///{path}", owner=True) as journal:
        assert await contents(journal) == [b"one", b"two"]
        await keep(journal, 3, [b"three"])
    with closing(sqlite3.connect(path)) as connection:
        left = connection.execute("SELECT run_id, digest FROM snapshot_pieces ORDER BY run_id").fetchall()
    assert left == [("a", digest_of(b"three")), ("b", "other")]


async def test_a_snapshot_that_cannot_be_written_harms_nothing(path: Path) -> None:
    damage(
        path, "CREATE TRIGGER full BEFORE INSERT ON snapshot_pieces BEGIN SELECT RAISE(ABORT, 'full'); END"
    )
    async with open_journal(f"sqlite:///{path}", owner=True) as journal:
        head = await grow(journal, "b", 1)
        with pytest.raises(JournalFailedError, match="full"):
            await keep(journal, 3, [b"three"])
        await journal.append(after("b", head, note(n=2)))
        assert await contents(journal) == [b"one", b"two"]
        assert list(journal.verify()) == []


async def test_verifying_reads_facts_alone(path: Path) -> None:
    damage(
        path, "UPDATE stored_events SET state = replace(state, 'order', 'ORDER') WHERE originator_version = 1"
    )
    async with open_journal(f"sqlite:///{path}", owner=True) as journal:
        assert await contents(journal) == [b"one", b"two"]
        assert [problem.version for problem in journal.verify()] == [1]
