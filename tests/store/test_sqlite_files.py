"""SQLite stores as files: opening, reading only, ownership, other processes, the shape on disk."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from eventsourcing.persistence import StoredEvent

from midcourse.store import (
    Appended,
    BadStoreUrlError,
    Journal,
    JournalClosedError,
    JournalError,
    NewerStoreError,
    NotAStoreError,
    OwnershipLostError,
    StoreMissingError,
    StoreOwnedError,
    open_journal,
)
from midcourse.store.recorder import sqlite_recorder

from .helpers import after, grow, index, note, starting

OWN_AND_WAIT = """
import sys
from midcourse.store import open_journal
journal = open_journal(sys.argv[1], owner=True)
print("owned", flush=True)
sys.stdin.read()
"""

APPEND_ONE = """
import asyncio, sys
from midcourse.domain.facts import BoardUpdated
from midcourse.store import Append, Entry, open_journal

async def main():
    async with open_journal(sys.argv[1]) as journal:
        head = await journal.head("a")
        entry = Entry(1.0, "cli", 0, BoardUpdated(values={"by": "another process"}))
        await journal.append(Append("a", head.version, head.hash, [entry]))

asyncio.run(main())
"""


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# -------------------------------------------------------------------------------------------------- opening


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("orders.db", "it has no scheme"),
        ("mysql://host/db", "there are no stores of the kind 'mysql'"),
        ("sqlite:orders.db", "three slashes come before a relative path"),
        ("sqlite://orders.db", "three slashes"),
        ("sqlite:///", "it names no file"),
        ("sqlite:///:memory:", "it names no file"),
        ("sqlite:///folder/", "it names no file"),
        ("sqlite:///a.db?mode=ro", "it takes no options"),
        ("sqlite:///a\0b", "holds no NUL"),
        ("memory:orders", "a store in memory has no name"),
    ],
)
def test_urls_that_make_no_sense_say_what_is_allowed(url: str, why: str) -> None:
    with pytest.raises(BadStoreUrlError, match=why) as caught:
        open_journal(url)
    assert "sqlite:////absolute/path.db" in str(caught.value)


@pytest.mark.parametrize("url", ["mysql://u:hunter2@host/db", "mysql://host/db?user=u&password=hunter2"])
def test_a_password_in_a_url_that_makes_no_sense_is_not_shown(url: str) -> None:
    with pytest.raises(BadStoreUrlError) as caught:
        open_journal(url)
    assert "hunter2" not in str(caught.value)
    assert "mysql://" in str(caught.value)


def test_nobody_owns_what_is_read_only(sqlite_url: str) -> None:
    with pytest.raises(BadStoreUrlError, match="cannot be owned and read only"):
        open_journal(sqlite_url, read_only=True, owner=True)


def test_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    open_journal("sqlite:///here.db").close()
    assert files(tmp_path) == ["here.db"]


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(StoreMissingError, match="Create the folder"):
        open_journal(f"sqlite:///{tmp_path}/no/such/folder/store.db")
    with pytest.raises(StoreMissingError, match="Create the folder"):
        open_journal(f"sqlite:///{tmp_path}/no/such/folder/store.db", owner=True)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("this is not a database, and long enough to be read as one " * 20)
    for options in ({}, {"owner": True}, {"read_only": True}):
        with pytest.raises(NotAStoreError, match="file is not a database"):
            open_journal(f"sqlite:///{path}", **options)
    assert path.read_text().startswith("this is not a database")


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE customers (id)")
    connection.close()
    for options in ({}, {"read_only": True}):
        with pytest.raises(NotAStoreError, match="a database of something else"):
            open_journal(f"sqlite:///{path}", **options)


def test_a_store_from_a_newer_version(tmp_path: Path, sqlite_url: str) -> None:
    open_journal(sqlite_url).close()
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    for options in ({}, {"read_only": True}):
        with pytest.raises(NewerStoreError, match=r"written by a newer Midcourse.*Upgrade"):
            open_journal(sqlite_url, **options)


# --------------------------------------------------------------------------------------------- reading only


async def test_reading_only_creates_nothing_and_appends_nothing(tmp_path: Path, sqlite_url: str) -> None:
    with pytest.raises(StoreMissingError, match="does not exist"):
        open_journal(sqlite_url, read_only=True)
    async with open_journal(sqlite_url) as journal:
        await grow(journal, "a", 3)
    assert files(tmp_path) == ["store.db"]

    with open_journal(sqlite_url, read_only=True) as offline:
        assert [len(batch) for batch in offline.read_batches("a")] == [3]
        assert list(offline.verify()) == []
        with pytest.raises(JournalClosedError, match="open for reading only"):
            await offline.append(starting("b"))
    assert files(tmp_path) == ["store.db"]


async def test_reading_only_beside_an_engine_sees_what_it_appends(sqlite_url: str) -> None:
    async with open_journal(sqlite_url) as journal:
        await grow(journal, "a", 1)
    with open_journal(sqlite_url, read_only=True) as offline:
        assert sum(len(batch) for batch in offline.read_batches("a")) == 1
        following = offline.follow()
        assert (await anext(following)).position == 1
        async with open_journal(sqlite_url, owner=True) as engine:
            head = await engine.head("a")
            assert head is not None
            await grow(engine, "b", 2)
            assert [(await anext(following)).position, (await anext(following)).position] == [2, 3]
            assert sum(len(batch) for batch in offline.read_batches("b")) == 2
        await following.aclose()


# ------------------------------------------------------------------------------------------------ ownership


def test_an_owner_in_another_process_is_named(sqlite_url: str) -> None:
    command = [sys.executable, "-c", OWN_AND_WAIT, sqlite_url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "owned\n"
        with pytest.raises(StoreOwnedError) as caught:
            open_journal(sqlite_url, owner=True)
        assert (owner.pid, os.uname().nodename) == (caught.value.pid, caught.value.host)
        open_journal(sqlite_url).close()
        owner.kill()
        owner.wait()

    open_journal(sqlite_url, owner=True).close()


async def test_an_engine_whose_lock_file_is_replaced_stops_appending(tmp_path: Path, sqlite_url: str) -> None:
    async with open_journal(sqlite_url, owner=True) as journal:
        head = await grow(journal, "a", 2)
        lost: asyncio.Queue[JournalError] = asyncio.Queue()
        journal.on_ownership_lost(lost.put_nowait)
        (tmp_path / "store.db.lock").unlink()
        error = await lost.get()

        assert isinstance(error, OwnershipLostError)
        with pytest.raises(OwnershipLostError, match="lost"):
            await journal.append(after("a", head, note(x=1)))
        assert len(await journal.read("a")) == 2


async def append_without_end(journal: Journal, head: Appended) -> None:
    while True:
        head = await journal.append(after("a", head, note(x=1)))


async def test_an_engine_that_never_rests_notices_that_it_lost_the_store(
    tmp_path: Path, sqlite_url: str
) -> None:
    async with open_journal(sqlite_url, owner=True) as journal:
        head = await grow(journal, "a", 2)
        (tmp_path / "store.db.lock").unlink()
        with pytest.raises(OwnershipLostError):
            await append_without_end(journal, head)


# ------------------------------------------------------------------------------------------ other processes


async def test_an_append_of_another_process_is_noticed(sqlite_url: str) -> None:
    async with open_journal(sqlite_url, owner=True) as journal:
        await grow(journal, "a", 2)
        noticed: asyncio.Queue[Sequence[str]] = asyncio.Queue()
        journal.on_foreign(noticed.put_nowait)
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", APPEND_ONE, sqlite_url)
        assert await process.wait() == 0

        assert list(await noticed.get()) == ["a"]
        assert note(by="another process") == (await journal.read("a", after=2))[0].fact


async def test_a_forked_child_is_told_to_open_its_own(sqlite_url: str) -> None:
    async with open_journal(sqlite_url) as journal:
        head = await grow(journal, "a", 2)
        child = os.fork()
        if child == 0:
            try:
                journal.submit(after("a", head, note(x=1)), print)
                journal.flush()
            except JournalClosedError:
                os._exit(42)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 42
        assert (await journal.append(after("a", head, note(x=1)))).head_version == 3


async def test_the_only_thread_is_the_writers_and_ends(sqlite_url: str) -> None:
    before = set(threading.enumerate())
    async with open_journal(sqlite_url, owner=True) as journal:
        await grow(journal, "a", 2)
        await journal.read("a")
        assert [thread.name for thread in set(threading.enumerate()) - before] == ["midcourse-journal"]
    assert before == set(threading.enumerate())


# ---------------------------------------------------------------------------------------- the shape on disk


async def test_records_are_readable_with_sqlite_alone(tmp_path: Path, sqlite_url: str) -> None:
    async with open_journal(sqlite_url) as journal:
        head = await journal.append(starting("a"))
        await journal.append(after("a", head, note(x="ä")))
    with sqlite3.connect(tmp_path / "store.db") as connection:
        rows = connection.execute(
            "SELECT originator_id, originator_version, topic, CAST(state AS TEXT) FROM stored_events"
        ).fetchall()
    connection.close()

    assert rows[1][:3] == ("a", 2, "board_updated")
    expected = {
        "schema": 1,
        "at": 2000.0,
        "actor": "engine",
        "cause": 1,
        "prev": head.head_hash,
        "data": {"values": {"x": "ä"}},
    }
    assert expected == json.loads(rows[1][3])
    assert list(expected) == list(json.loads(rows[1][3]))


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
async def test_heads_that_were_forgotten_are_read_again(
    backend: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"midcourse.store.{backend}._MOST_HEADS", 2)
    async with open_journal(request.getfixturevalue(f"{backend}_url")) as journal:
        heads = await asyncio.gather(*(grow(journal, f"run{n}", 5) for n in range(9)))
        assert [head.head_version for head in heads] == [5] * 9
        assert list(journal.verify()) == []


async def test_the_event_sourcing_library_reads_the_same(tmp_path: Path, sqlite_url: str) -> None:
    async with open_journal(sqlite_url) as journal:
        await grow(journal, "a", 2)
        await grow(journal, "b", 1)
        recorder = sqlite_recorder(str(tmp_path / "store.db"))
        notifications = recorder.select_notifications(start=1, limit=10)
        events = recorder.select_events("a")
        stored = [(record.version, record.topic, record.state) for record in await journal.read("a")]

        assert [(each.id, each.originator_id, each.originator_version) for each in notifications] == [
            (1, "a", 1),
            (2, "a", 2),
            (3, "b", 1),
        ]
        assert stored == [(each.originator_version, each.topic, each.state) for each in events]
        assert recorder.max_notification_id() == 3
        with pytest.raises(JournalError, match="append through the journal"):
            recorder.insert_events([StoredEvent("a", 3, "board_updated", b"{}")])
        recorder.datastore.close()


def test_importing_the_store_is_light() -> None:
    program = (
        "import sys, midcourse.store\n"
        "heavy = {'eventsourcing', 'psycopg', 'sqlite3', 'asyncio'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_reading_does_not_import_the_event_sourcing_library(sqlite_url: str) -> None:
    open_journal(sqlite_url).close()
    program = (
        "import sys\n"
        "from midcourse.store import open_journal\n"
        "with open_journal(sys.argv[1], read_only=True) as journal: journal.verify()\n"
        "with open_journal(sys.argv[1]) as journal: pass\n"
        "print('eventsourcing' in sys.modules)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program, sqlite_url], capture_output=True, text=True, check=True
    )
    assert found.stdout == "False\n"


async def test_a_view_of_a_file_stays_as_it_was(sqlite_url: str) -> None:
    async with open_journal(sqlite_url, owner=True) as journal:
        head = await journal.append(starting("a"))
        with journal.frozen() as view:
            assert view is not None
            before = await view.list()
            await journal.append(after("a", head, note(n=2), row=index("a", status="waiting")))
            assert await view.list() == before
            assert [len(batch) async for batch in view.batches("a")] == [1]
        assert [run.status for run in (await journal.list()).runs] == ["waiting"]
