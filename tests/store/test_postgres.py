"""What is particular to stores in PostgreSQL."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from midcourse.store import (
    BadStoreUrlError,
    JournalClosedError,
    JournalError,
    JournalFailedError,
    NewerStoreError,
    OwnershipLostError,
    StoreLockedError,
    StoreMissingError,
    StoreOwnedError,
    open_journal,
)
from midcourse.store.backed import BackedJournal
from midcourse.store.postgres import PostgresBackend
from midcourse.store.postgres_connections import Connections

from .helpers import after, grow, note, starting

WRITERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s"


def kill(url: str, backend: PostgresBackend) -> None:
    """Have the server end the connection that writes."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(WRITERS, (backend._write.info.backend_pid,))  # noqa: SLF001


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(StoreMissingError, match=r"cannot be reached.*Check that the server runs") as caught:
        open_journal("postgresql://ada:secret@127.0.0.1:1/nothing?connect_timeout=1")
    assert "secret" not in str(caught.value)


def test_options_that_make_no_sense() -> None:
    with pytest.raises(BadStoreUrlError, match="colour"):
        open_journal("postgresql://host/db?colour=blue")


async def test_reading_only_makes_no_tables(postgres_url: str) -> None:
    with pytest.raises(StoreMissingError, match="holds no store"):
        open_journal(postgres_url, read_only=True)
    async with open_journal(postgres_url) as journal:
        await grow(journal, "a", 3)
    with open_journal(postgres_url, read_only=True) as offline:
        assert [len(batch) for batch in offline.read_batches("a")] == [3]
        assert list(offline.verify()) == []
        with pytest.raises(JournalClosedError, match="open for reading only"):
            await offline.append(starting("b"))


def test_a_store_from_a_newer_version(postgres_url: str) -> None:
    open_journal(postgres_url).close()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("UPDATE midcourse_store SET format = 2")
    for options in ({}, {"read_only": True}):
        with pytest.raises(NewerStoreError, match="written by a newer Midcourse"):
            open_journal(postgres_url, **options)


def test_an_owner_is_named(postgres_url: str) -> None:
    with open_journal(postgres_url, owner=True), pytest.raises(StoreOwnedError) as caught:
        open_journal(postgres_url, owner=True)
    assert (os.getpid(), os.uname().nodename) == (caught.value.pid, caught.value.host)


async def test_several_stores_in_one_database_have_owners_of_their_own(
    postgres_server: str, postgres_url: str
) -> None:
    async with open_journal(postgres_url, owner=True) as one:
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute("CREATE SCHEMA another")
        other_url = postgres_url.rpartition("%3D")[0] + "%3Danother"
        async with open_journal(other_url, owner=True) as other:
            await asyncio.gather(grow(one, "a", 3), grow(other, "a", 3))
            assert [*one.verify(), *other.verify()] == []


async def test_a_broken_connection_is_replaced_and_the_store_still_owned(postgres_url: str) -> None:
    backend = PostgresBackend(Connections(postgres_url), owner=True)
    async with BackedJournal(postgres_url, backend) as journal:
        head = await grow(journal, "a", 2)
        kill(postgres_url, backend)
        with pytest.raises(JournalFailedError, match="Whether the facts were recorded is not known"):
            await journal.append(after("a", head, note(x=1)))

        assert (await journal.append(after("a", head, note(x=2)))).head_version == 3
        with pytest.raises(StoreOwnedError):
            open_journal(postgres_url, owner=True)
        assert list(journal.verify()) == []


async def test_an_engine_that_lost_the_store_to_another_stops(postgres_url: str) -> None:
    backend = PostgresBackend(Connections(postgres_url), owner=True)
    async with BackedJournal(postgres_url, backend) as journal:
        head = await grow(journal, "a", 2)
        backend._write.close()  # noqa: SLF001 - as a network does it
        with open_journal(postgres_url, owner=True):
            pass
        lost: asyncio.Queue[JournalError] = asyncio.Queue()
        journal.on_ownership_lost(lost.put_nowait)

        assert isinstance(await lost.get(), OwnershipLostError)
        with pytest.raises(OwnershipLostError, match="another engine has owned the store since"):
            await journal.append(after("a", head, note(x=1)))


async def test_a_commit_whose_answer_was_lost_is_recognised(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = PostgresBackend(Connections(postgres_url), owner=False)
    real = psycopg.Connection.transaction

    @contextmanager
    def losing(connection: Any, *arguments: Any, **options: Any) -> Iterator[Any]:
        with real(connection, *arguments, **options) as transaction:
            yield transaction
        monkeypatch.undo()
        kill(postgres_url, backend)
        connection.execute("SELECT 1")

    async with BackedJournal(postgres_url, backend) as journal:
        head = await grow(journal, "a", 2)
        monkeypatch.setattr(psycopg.Connection, "transaction", losing)
        done = await journal.append(after("a", head, note(x=1), note(x=2)))

        assert (range(3, 5), 4) == (done.positions, done.head_version)
        assert (await journal.append(after("a", done, note(x=3)))).head_version == 5
        assert list(journal.verify()) == []


async def test_a_store_that_stays_locked(postgres_url: str) -> None:
    backend = PostgresBackend(Connections(postgres_url), owner=False, lock_wait_s=0.1)
    async with BackedJournal(postgres_url, backend) as journal:
        head = await grow(journal, "a", 2)
        with psycopg.connect(postgres_url) as intruder:
            intruder.execute("SELECT pg_advisory_xact_lock(%s, hashtext(current_schema()))", (0x4D696401,))
            with pytest.raises(StoreLockedError, match=r"stayed locked for 0\.1 s"):
                await journal.append(after("a", head, note(x=1)))

        assert (await journal.append(after("a", head, note(x=1)))).head_version == 3


async def test_its_threads_end_with_it(postgres_url: str) -> None:
    before = set(threading.enumerate())
    async with open_journal(postgres_url, owner=True) as journal:
        await grow(journal, "a", 2)
        await journal.read("a")
        started = sorted(thread.name for thread in set(threading.enumerate()) - before)
        assert started == ["midcourse-journal", "midcourse-journal-reader_0"]
    assert before == set(threading.enumerate())


def test_a_driver_that_is_not_installed() -> None:
    program = (
        "import sys\n"
        "sys.modules['psycopg'] = None\n"
        "from midcourse.store import DriverMissingError, open_journal\n"
        "try: open_journal('postgresql://host/db')\n"
        "except DriverMissingError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'midcourse[postgres]'" in found.stdout
