"""SQLite stores when things go wrong: kills, full disks, failed syncs, locks that stay."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from midcourse.store import (
    Appended,
    Journal,
    JournalError,
    JournalFailedError,
    OwnershipLostError,
    StoreFullError,
    StoreLockedError,
    UnencodableError,
    open_journal,
)
from midcourse.store.backed import BackedJournal
from midcourse.store.sqlite import SqliteBackend
from midcourse.store.sqlite_file import FileDatabase

from .helpers import after, grow, note, starting

APPEND_UNTIL_KILLED = """
import asyncio, sys
from midcourse.domain.facts import BoardUpdated, RunStarted
from midcourse.domain.goal import Goal
from midcourse.store import GENESIS, Append, Entry, RunIndex, open_journal

async def run(journal, run_id):
    facts = [RunStarted(goal=Goal("x")), BoardUpdated(values={"n": 0})]
    row = RunIndex(run_id=run_id, status="running", created=1.0)
    version, hash_ = 0, GENESIS
    while True:
        entries = [Entry(1.0, "engine", 0, fact) for fact in facts]
        done = await journal.append(Append(run_id, version, hash_, entries, row))
        print(run_id, done.head_version, done.head_hash, flush=True)
        version, hash_, row = done.head_version, done.head_hash, None
        facts = [BoardUpdated(values={"n": version}), BoardUpdated(values={"n": version + 1})]

async def main():
    async with open_journal(sys.argv[1], owner=True) as journal:
        await asyncio.gather(*(run(journal, f"{sys.argv[2]}{n:03}") for n in range(32)))

asyncio.run(main())
"""


async def test_kills_in_the_middle_of_commits_lose_nothing_acknowledged(sqlite_url: str) -> None:
    """Each appender appends two facts at a time, so an odd length would be half an append."""
    acknowledged: dict[str, tuple[int, str]] = {}
    for lap, last_line in enumerate((100, 333, 777, 1500)):
        command = [sys.executable, "-c", APPEND_UNTIL_KILLED, sqlite_url, f"lap{lap}-"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for number, line in enumerate(process.stdout):
                if line.endswith("\n"):  # the kill may cut the last one
                    run_id, version, hash_ = line.split()
                    acknowledged[run_id] = (int(version), hash_)
                if number == last_line:
                    process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL

    async with open_journal(sqlite_url, owner=True) as journal:
        assert list(journal.verify()) == []
        for run_id, (known, head) in acknowledged.items():
            records = await journal.read(run_id)
            assert (head, 0) == (records[known - 1].hash, len(records) % 2)


# ---------------------------------------------------------------------------------------------- a full disk


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[tuple[Journal, SqliteBackend]]:
    """A journal whose database may not grow beyond some pages."""
    backend = SqliteBackend(FileDatabase(tmp_path / "store.db", "sqlite:///store.db"))
    backend._write.execute("PRAGMA max_page_count = 24")  # noqa: SLF001 - a limit belongs to a connection
    async with BackedJournal("sqlite:///store.db", backend) as journal:
        yield journal, backend


async def test_a_full_database_is_reported_and_nothing_is_half_recorded(
    small: tuple[Journal, SqliteBackend],
) -> None:
    journal, _ = small
    head = await grow(journal, "a", 2)
    big = after("a", head, *(note(text="x" * 3000) for _ in range(40)))

    with pytest.raises(StoreFullError, match=r"is full: nothing was appended\. Free space"):
        await journal.append(big)
    assert len(await journal.read("a")) == 2
    assert (await journal.append(after("a", head, note(x=1)))).head_version == 3
    assert list(journal.verify()) == []


def swap_log(path: Path, device: str) -> None:
    """Let this process's descriptors of a database's log lead to a device instead."""
    swapped = 0
    for link in Path("/proc/self/fd").iterdir():
        if link.is_symlink() and str(link.readlink()) == f"{path}-wal":
            replacement = os.open(device, os.O_RDWR | os.O_CLOEXEC)
            os.dup2(replacement, int(link.name), inheritable=False)
            os.close(replacement)
            swapped += 1
    assert swapped > 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
async def test_a_full_disk(tmp_path: Path, sqlite_url: str) -> None:
    async with open_journal(sqlite_url) as journal:
        head = await grow(journal, "a", 2)
        swap_log(tmp_path / "store.db", "/dev/full")

        with pytest.raises(StoreFullError, match="is full"):
            await journal.append(after("a", head, note(x=1)))
        assert (await journal.append(after("a", head, note(x=2)))).head_version == 3
        assert note(x=2) == (await journal.read("a"))[-1].fact
        assert list(journal.verify()) == []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="finds the log's descriptor in /proc")
async def test_a_log_that_takes_writes_and_cannot_be_synced(tmp_path: Path, sqlite_url: str) -> None:
    """The null device takes every write and refuses to be synced, as a disk that has died."""
    async with open_journal(sqlite_url) as journal:
        head = await grow(journal, "a", 2)
        swap_log(tmp_path / "store.db", "/dev/null")

        with pytest.raises(JournalFailedError, match="Whether the facts were recorded is not known"):
            await journal.append(after("a", head, note(x=1)))
        assert len(await journal.read("a")) == 2
        assert (await journal.append(after("a", head, note(x=2)))).head_version == 3
        assert list(journal.verify()) == []


async def test_a_journal_whose_file_is_out_of_reach_goes_on_when_it_is_back(tmp_path: Path) -> None:
    folder, away = tmp_path / "here", tmp_path / "away"
    folder.mkdir()
    async with open_journal(f"sqlite:///{folder / 'store.db'}") as journal:
        head = await grow(journal, "a", 2)
        swap_log(folder / "store.db", "/dev/null")
        folder.rename(away)
        for _ in range(2):
            with pytest.raises(JournalFailedError, match=r"appending to sqlite:.* failed"):
                await journal.append(after("a", head, note(x=1)))
        away.rename(folder)

        assert (await journal.append(after("a", head, note(x=2)))).head_version == 3
        assert list(journal.verify()) == []


# ------------------------------------------------------------------------------------- syncs that fail once

FAIL_SYNCS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Fails FAIL_SYNCS syncs each time the file FAIL_NEXT_SYNC is made. */
static int left = 0;

int fdatasync(int fd) {
    const char *order = getenv("FAIL_NEXT_SYNC");
    if (order && unlink(order) == 0) left = atoi(getenv("FAIL_SYNCS"));
    if (left > 0) { left--; errno = EIO; return -1; }
    int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
    return real(fd);
}
"""

APPEND_WHILE_A_SYNC_FAILS = """
import asyncio, os, sys
from pathlib import Path
from midcourse.domain.facts import BoardUpdated, RunStarted
from midcourse.domain.goal import Goal
from midcourse.store import GENESIS, Append, Entry, JournalError, RunIndex, open_journal

async def main(url, read_before):
    async with open_journal(url, owner=True) as journal:
        row = RunIndex(run_id="a", status="running", created=1.0)
        entry = Entry(1.0, "e", 0, RunStarted(goal=Goal("x")))
        head = await journal.append(Append("a", 0, GENESIS, [entry], row))
        if read_before:
            await journal.read("a")
        Path(os.environ["FAIL_NEXT_SYNC"]).touch()
        for x in (1, 2):
            try:
                entry = Entry(2.0, "e", 0, BoardUpdated(values={"x": x}))
                await journal.append(Append("a", 1, head.head_hash, [entry]))
                print("appended")
            except JournalError as error:
                print(type(error).__name__)
        print([record.fact.values for record in await journal.read("a", after=1)], list(journal.verify()))

asyncio.run(main(sys.argv[1], sys.argv[2] == "read"))
"""


@pytest.fixture
def failing_sync(tmp_path: Path) -> dict[str, str]:
    """An environment in which one sync fails whenever the file it names is made."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler; the two tests above break the log without one")
    source, library = tmp_path / "fail.c", tmp_path / "fail.so"
    source.write_text(FAIL_SYNCS)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return os.environ | {"LD_PRELOAD": str(library), "FAIL_NEXT_SYNC": str(tmp_path / "fail")}


@pytest.mark.parametrize(
    ("syncs", "read", "expected"),
    [
        # The log cannot be closed cleanly either, so opening it again finds the commit.
        (2, "no", ["appended", "VersionConflictError", "[{'x': 1}] []"]),
        # It can be closed, which drops what its index does not know.
        (1, "no", ["JournalFailedError", "appended", "[{'x': 2}] []"]),
        # Another connection keeps the index as it was before the commit.
        (1, "read", ["JournalFailedError", "appended", "[{'x': 2}] []"]),
    ],
)
def test_after_a_commit_reported_as_failed_the_truth_is_found_out(
    sqlite_url: str, failing_sync: dict[str, str], syncs: int, read: str, expected: list[str]
) -> None:
    command = [sys.executable, "-c", APPEND_WHILE_A_SYNC_FAILS, sqlite_url, read]
    environment = failing_sync | {"FAIL_SYNCS": str(syncs)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)

    assert expected == done.stdout.splitlines()


# ------------------------------------------------------------------------------------------ locks that stay


async def test_a_store_that_stays_locked(tmp_path: Path) -> None:
    database = FileDatabase(tmp_path / "store.db", "sqlite:///store.db")
    async with BackedJournal("sqlite:///store.db", SqliteBackend(database, lock_wait_s=0.1)) as journal:
        head = await grow(journal, "a", 2)
        intruder = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
        intruder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLockedError, match=r"stayed locked for 0\.1 s by another process"):
            await journal.append(after("a", head, note(x=1)))
        intruder.execute("ROLLBACK")
        intruder.close()

        assert (await journal.append(after("a", head, note(x=1)))).head_version == 3


async def test_a_lock_that_is_given_up_in_time_is_waited_for(tmp_path: Path, sqlite_url: str) -> None:
    async with open_journal(sqlite_url) as journal:
        head = await grow(journal, "a", 2)
        intruder = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
        intruder.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(journal.append(after("a", head, note(x=1))))
        await asyncio.sleep(0)
        await journal.read("a")
        intruder.execute("COMMIT")
        intruder.close()

        assert (await waiting).head_version == 3


async def test_reading_goes_on_while_another_process_holds_the_write_lock(
    tmp_path: Path, sqlite_url: str
) -> None:
    async with open_journal(sqlite_url) as journal:
        await grow(journal, "a", 2)
        intruder = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
        intruder.execute("BEGIN IMMEDIATE")

        assert len(await journal.read("a")) == 2
        intruder.close()


def test_a_store_that_is_locked_while_it_is_made(tmp_path: Path, sqlite_url: str) -> None:
    intruder = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    intruder.execute("BEGIN EXCLUSIVE")

    with pytest.raises(StoreLockedError, match="stays locked"):
        open_journal(sqlite_url)
    intruder.close()


# -------------------------------------------------------------------------------------------- a broken file


async def test_a_damaged_file_is_reported(tmp_path: Path, sqlite_url: str) -> None:
    async with open_journal(sqlite_url) as journal:
        head = await journal.append(starting("a"))
        await journal.append(after("a", head, *(note(text="x" * 2000) for _ in range(20))))
    path = tmp_path / "store.db"
    content = bytearray(path.read_bytes())
    for start in range(4096, len(content), 4096):
        content[start : start + 64] = b"\xff" * 64
    path.write_bytes(content)

    with pytest.raises(JournalFailedError, match=r"reading .* failed: .* malformed"):
        open_journal(sqlite_url, read_only=True)


# ------------------------------------------------------------------------------- files that change underneath


async def test_an_engine_whose_database_is_removed_or_replaced_stops_appending(
    tmp_path: Path, sqlite_url: str
) -> None:
    for change, put_back in (("removed", False), ("replaced", True)):
        async with open_journal(sqlite_url, owner=True) as journal:
            head = await journal.append(starting(change))
            lost: asyncio.Queue[JournalError] = asyncio.Queue()
            journal.on_ownership_lost(lost.put_nowait)
            (tmp_path / "store.db").unlink()
            if put_back:
                (tmp_path / "store.db").touch()
            error = await lost.get()

            assert isinstance(error, OwnershipLostError)
            assert f"its database file {tmp_path / 'store.db'} was {change}" in str(error)
            with pytest.raises(OwnershipLostError):
                await journal.append(after(change, head, note(x=1)))
        for left in tmp_path.glob("store.db*"):
            left.unlink()


async def test_an_engine_whose_folder_becomes_a_file_stops_appending_and_closes(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    async with open_journal(f"sqlite:///{folder / 'store.db'}", owner=True) as journal:
        lost: asyncio.Queue[JournalError] = asyncio.Queue()
        journal.on_ownership_lost(lost.put_nowait)
        folder.rename(tmp_path / "away")
        folder.touch()

        assert "cannot be looked at any more (Not a directory)" in str(await lost.get())
        with pytest.raises(OwnershipLostError):
            await journal.append(starting("a"))


class _Unreachable(FileDatabase):
    def data_version(self, connection: sqlite3.Connection) -> int:
        raise OSError(5, "Input/output error")


async def test_a_writer_that_fails_unexpectedly_answers_and_ends(tmp_path: Path) -> None:
    database = _Unreachable(tmp_path / "store.db", "sqlite:///store.db")
    async with BackedJournal("sqlite:///store.db", SqliteBackend(database)) as journal:
        told: asyncio.Queue[JournalError] = asyncio.Queue()
        journal.on_ownership_lost(told.put_nowait)

        assert "failed inside: OSError" in str(await told.get())
        with pytest.raises(JournalFailedError, match="failed inside"):
            await journal.append(starting("a"))


async def test_a_key_that_cannot_be_written_fails_no_neighbour(sqlite_url: str) -> None:
    async with open_journal(sqlite_url) as journal:
        good, bad = await asyncio.gather(
            journal.append(starting("a")), journal.append(starting("b", key="\ud800")), return_exceptions=True
        )
        assert isinstance(bad, UnencodableError)
        assert "RunIndex.key" in str(bad)
        assert isinstance(good, Appended)
        with pytest.raises(UnencodableError, match="key"):
            await journal.find_key("\ud800")


def test_a_sync_that_fails_while_opening_points_at_the_disk(
    tmp_path: Path, sqlite_url: str, failing_sync: dict[str, str]
) -> None:
    (tmp_path / "fail").touch()
    code = (
        "import sys; from midcourse.store import *\n"
        "try: open_journal(sys.argv[1])\n"
        "except StoreError as e: print(type(e).__name__, e)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, sqlite_url],
        env=failing_sync | {"FAIL_SYNCS": "9"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("JournalFailedError")
    assert "Check the disk" in done.stdout
