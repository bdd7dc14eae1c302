"""Committing to SQLite.

``BEGIN IMMEDIATE`` takes the write lock before anything is read, so what is compared stays true until the
commit. Only there does a busy database mean that nothing happened; any later error leaves the outcome open.
"""

from __future__ import annotations

# ruff: noqa: S608 - queries are made of constants, values are parameters
import contextlib
import sqlite3
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import msgspec

from .backend import Reader
from .commit import Pending, Result, Transaction, recognise
from .errors import JournalError, JournalFailedError, StoreFullError, StoreLockedError
from .index import COLUMNS, FIXED_COLUMNS, SQLITE
from .journal import Appended
from .reader import SqlReader
from .snapshots import Keeping
from .sqlite_file import Database
from .sqlite_insert import Insert

LOCK_WAIT_S = 5.0
"""How long an append waits for another process to give up the write lock, in seconds."""

_OWNERSHIP_S = 0.1
"""How often the engine's lock is looked at, in seconds."""

_MOST_HEADS = 100_000
"""Heads remembered; a full memory is emptied, and filled again by reading."""

_RECORDS = "INSERT INTO stored_events (originator_id, originator_version, topic, state) VALUES {}"
_HEADS = (
    "INSERT INTO run_heads (run_id, version, hash, updated) VALUES {} ON CONFLICT (run_id) DO UPDATE SET"
    " version = excluded.version, hash = excluded.hash, updated = excluded.updated"
)
_INDEX = "INSERT INTO runs ({}) VALUES {{}} ON CONFLICT (run_id) DO UPDATE SET {}".format(
    ", ".join(COLUMNS),
    ", ".join(f"{each} = excluded.{each}" for each in COLUMNS if each not in FIXED_COLUMNS),
)
_HEADS_OF = "SELECT run_id, version, hash FROM run_heads WHERE run_id IN (SELECT value FROM json_each(?))"


_insert_records = Insert(_RECORDS, 4)
_insert_heads = Insert(_HEADS, 4)
_insert_index = Insert(_INDEX, len(COLUMNS))


class SqliteBackend:
    """A store over SQLite connections.

    Args:
        database: makes connections.
        owner: take the engine's lock.
        lock_wait_s: how long an append waits for another process to give up the write lock, in seconds.

    Raises:
        StoreError: the file cannot be used; see ``store.errors``.
    """

    def __init__(self, database: Database, *, owner: bool = False, lock_wait_s: float = LOCK_WAIT_S) -> None:
        self._database = database
        self._lock_wait_s = lock_wait_s
        self.refusal: JournalError | None = None
        self._lock = database.own() if owner else None
        try:
            self._write = database.writer()
            self.reader = SqlReader(database.fetch, SQLITE)
        except BaseException:
            self._release()
            raise
        self._broken = False
        self._owned_until = 0.0
        self._foreign: set[str] = set()
        self._forget()
        self._position = self._last_position()

    # ------------------------------------------------------------------------------------------- committing

    def commit(self, batch: Sequence[Pending]) -> Sequence[Result]:
        """Write what fits in one transaction, and say what became of each, in order."""
        self._check_ownership()
        if self.refusal is not None:
            return [self.refusal] * len(batch)
        try:
            if self._broken:
                self._reopen()
            self._begin()
        except sqlite3.Error as error:
            return [self._failure(error)] * len(batch)
        try:
            results, position = self._fill(batch)
            self._write.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the transaction must not stay open
            return self._after_failure(batch, error)
        self._position = position
        return results

    def keep(self, keeping: Keeping) -> JournalError | None:
        """Write a part of a snapshot in a transaction of its own; return what went wrong."""
        self._check_ownership()
        if self.refusal is not None:
            return self.refusal
        try:
            if self._broken:
                self._reopen()
            self._begin()
        except sqlite3.Error as error:
            return self._failure(error)
        try:
            keeping.write(self._write.execute, SQLITE)
            self._write.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the transaction must not stay open
            self._after_failure((), error)
            return self._failure(error)
        return None

    def _begin(self) -> None:
        deadline = time.monotonic() + self._lock_wait_s
        while True:
            try:
                self._write.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            else:
                return

    def _fill(self, batch: Sequence[Pending]) -> tuple[list[Result], int]:
        self._catch_up()
        self._load_heads(batch)
        transaction = Transaction(self._position)
        transaction.take(batch, self._heads, self._load_keys(batch))
        if transaction.parameters:
            last = _insert_records.run(self._write, transaction.parameters)
            if last != transaction.position:
                raise sqlite3.DatabaseError(f"the last record went to {last}, not to {transaction.position}")
            _insert_heads.run(self._write, flat(transaction.heads.values()))
        if transaction.index:
            _insert_index.run(self._write, flat(transaction.index.values()))
        return transaction.results, transaction.position

    def _load_heads(self, batch: Sequence[Pending]) -> None:
        if len(self._heads) > _MOST_HEADS:
            self._heads.clear()
        unknown = [run_id for run_id in {pending.run_id for pending in batch} if run_id not in self._heads]
        if unknown:
            ids = msgspec.json.encode(unknown).decode()
            for run_id, version, hash_ in self._write.execute(_HEADS_OF, (ids,)).fetchall():
                self._heads[run_id] = (version, hash_)

    def _load_keys(self, batch: Sequence[Pending]) -> dict[str, str]:
        query = "SELECT run_id FROM runs WHERE run_key = ? AND run_key <> ''"
        keys: dict[str, str] = {}
        for pending in batch:
            if pending.key and (row := self._write.execute(query, (pending.key,)).fetchone()):
                keys[pending.key] = row[0]
        return keys

    # ---------------------------------------------------------------------------------------- when it fails

    def _after_failure(self, batch: Sequence[Pending], error: Exception) -> list[Result]:
        """An error inside a transaction says nothing sure about its outcome: look for our own records."""
        with contextlib.suppress(sqlite3.Error):
            self._write.execute("ROLLBACK")
        failure = self._failure(error)
        self._forget()
        try:
            self._reopen()
            results: list[Result] = [self._recorded(pending) or failure for pending in batch]
            # What became of a snapshot is not looked up: no fact must lie behind a torn one in the log.
            if not batch or any(isinstance(result, Appended) for result in results):
                self._database.settle(self._write)
        except sqlite3.Error as again:
            return [self._failure(again)] * len(batch)
        return results

    def _reopen(self) -> None:
        self._broken = True
        self._owned_until = 0.0  # the path may lead to another file than the connection before
        self._write = self._database.writer_again()
        self._position = self._last_position()
        self._broken = False

    def _recorded(self, pending: Pending) -> Appended | None:
        """Recognise an append by the hash of its last record."""
        query = (
            "SELECT rowid, topic, state FROM stored_events WHERE originator_id = ? AND originator_version = ?"
        )
        return recognise(pending, self._write.execute(query, (pending.run_id, pending.version)).fetchone())

    def _failure(self, error: Exception) -> JournalError:
        failure = failure_of(error, self._database.url, self._lock_wait_s)
        failure.__cause__ = error
        return failure

    def _forget(self) -> None:
        self._heads: dict[str, tuple[int, str]] = {}
        self._data_version = -1

    # -------------------------------------------------------------------------------------- other processes

    def poll(self) -> Sequence[str]:
        """Return the runs others have appended to since the last call."""
        self._check_ownership()
        with contextlib.suppress(
            sqlite3.Error
        ):  # the next commit meets the same error, and has someone to tell
            self._catch_up()
        return self.take_foreign()

    def refuse(self, error: JournalError) -> None:
        """Take no appends any more, unless there is a reason already."""
        self.refusal = self.refusal or error

    def _check_ownership(self) -> None:
        if self._lock is None or self.refusal is not None or time.monotonic() < self._owned_until:
            return
        self._owned_until = time.monotonic() + _OWNERSHIP_S
        self.refusal = self._lock.lost()

    def take_foreign(self) -> Sequence[str]:
        """Return the runs others have appended to, as far as noticed already."""
        foreign = list(self._foreign)
        self._foreign.clear()
        return foreign

    def _catch_up(self) -> None:
        version = self._database.data_version(self._write)
        if version == self._data_version:
            return
        self._data_version = version
        # Not DISTINCT: for that SQLite would read an index of all records, under the write lock.
        query = "SELECT originator_id FROM stored_events WHERE rowid > ?"
        for (run_id,) in self._write.execute(query, (self._position,)).fetchall():
            self._heads.pop(run_id, None)
            self._foreign.add(run_id)
        self._position = self._last_position()

    def _last_position(self) -> int:
        return int(self._write.execute("SELECT coalesce(max(rowid), 0) FROM stored_events").fetchone()[0])

    # --------------------------------------------------------------------------------------------- its life

    def snapshot(self) -> AbstractContextManager[Reader]:
        """Return a reader that sees one state of the store."""
        return self._database.snapshot()

    def close(self) -> None:
        """Close all connections and give up the lock."""
        self._database.close()
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()


def flat(rows: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Return the values of rows, one after the other."""
    return [value for row in rows for value in row]


def _code(error: Exception) -> int:
    """Return SQLite's primary code of an error; 0 if it is not SQLite's."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def failure_of(error: Exception, url: str, waited_s: float) -> JournalError:
    """Return a clear error for one reported while appending."""
    code = _code(error)
    if code == sqlite3.SQLITE_BUSY:
        return StoreLockedError(
            f"{url} stayed locked for {waited_s:g} s by another process: nothing was appended. "
            "End the process that keeps a write transaction open, then try again"
        )
    if code == sqlite3.SQLITE_FULL:
        return StoreFullError(f"{url} is full: nothing was appended. Free space on its disk, then try again")
    return JournalFailedError(
        f"appending to {url} failed: {type(error).__name__}: {error}. Whether the facts were recorded "
        "is not known: check the disk, then read the run again"
    )
