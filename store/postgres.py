"""A store in PostgreSQL.

All appends of all processes are ordered by an advisory lock held for a transaction, so positions are given
out in the order of the commits, without gaps. The engine's lock is one of its connection: a connection that
breaks may have lost it, which a count of owners shows.
"""

from __future__ import annotations

# ruff: noqa: S608 - queries are made of constants, values are parameters
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress

import psycopg

from .backed import BackedJournal
from .backend import Reader
from .commit import Pending, Result, Transaction, recognise
from .errors import (
    JournalError,
    JournalFailedError,
    OwnershipLostError,
    StoreFullError,
    StoreLockedError,
    StoreMissingError,
    StoreOwnedError,
)
from .index import COLUMNS, FIXED_COLUMNS, POSTGRES
from .journal import Appended, Journal
from .postgres_connections import Connections, PostgresReading
from .postgres_tables import OWNER_LOCK, WRITE_LOCK, Connection, prepare
from .reader import SqlReader
from .snapshots import Keeping

LOCK_WAIT_S = 5.0
_MOST_HEADS = 100_000
_CHANNEL = "midcourse"
_RECORDS = (
    "INSERT INTO stored_events (originator_id, originator_version, topic, state, notification_id)"
    " SELECT * FROM unnest(%b::text[], %b::bigint[], %b::text[], %b::bytea[], %b::bigint[])"
)
_HEADS = (
    "INSERT INTO run_heads (run_id, version, hash, updated)"
    " SELECT * FROM unnest(%b::text[], %b::bigint[], %b::text[], %b::float8[]) ON CONFLICT (run_id)"
    " DO UPDATE SET version = excluded.version, hash = excluded.hash, updated = excluded.updated"
)
_INDEX_TYPES = ("text", "text", "float8", "text", "text", "text", "float8", "int", "float8", "text")
_INDEX = "INSERT INTO runs ({}) SELECT * FROM unnest({}) ON CONFLICT (run_id) DO UPDATE SET {}".format(
    ", ".join(COLUMNS),
    ", ".join(f"%s::{each}[]" for each in _INDEX_TYPES),
    ", ".join(f"{each} = excluded.{each}" for each in COLUMNS if each not in FIXED_COLUMNS),
)


def open_postgres(url: str, *, read_only: bool, owner: bool) -> Journal:
    """Open a store in PostgreSQL.

    Raises:
        StoreError: it cannot be used; see ``store.errors``.
    """
    connections = Connections(url)
    backend = PostgresReading(connections) if read_only else PostgresBackend(connections, owner=owner)
    readers = ThreadPoolExecutor(1, thread_name_prefix="midcourse-journal-reader")
    return BackedJournal(connections.url, backend, readers=readers)


class PostgresBackend:
    """A store that takes appends.

    Args:
        connections: makes connections to it.
        owner: take the engine's lock.
        lock_wait_s: how long an append waits for the appends of other processes, in seconds.

    Raises:
        StoreError: it cannot be used; see ``store.errors``.
    """

    def __init__(self, connections: Connections, *, owner: bool, lock_wait_s: float = LOCK_WAIT_S) -> None:
        self._connections = connections
        self._owner = owner
        self._lock_wait_s = lock_wait_s
        self.refusal: JournalError | None = None
        self.reader: Reader = SqlReader(connections.fetch, POSTGRES)
        self._foreign: set[str] = set()
        self._heads: dict[str, tuple[int, str]] = {}
        self._write = self._connect()
        try:
            prepare(self._write, connections.url)
            self._owners = self._own() if owner else 0
            self._position = self._last_position()
        except BaseException:
            self._write.close()
            raise

    def _connect(self) -> Connection:
        connection = self._connections.connect()
        connection.execute(f"SET lock_timeout = {int(self._lock_wait_s * 1000)}")
        connection.execute(f"LISTEN {_CHANNEL}")
        return connection

    # ------------------------------------------------------------------------------------------- committing

    def commit(self, batch: Sequence[Pending]) -> Sequence[Result]:
        """Write what fits in one transaction, and say what became of each, in order."""
        try:
            self._stay_connected()
            if self.refusal is not None:
                return [self.refusal] * len(batch)
            with self._write.transaction():
                transaction = self._fill(batch)
        except Exception as error:  # noqa: BLE001 - whatever went wrong, every append of the batch gets an answer
            return self._after_failure(batch, error)
        self._position = transaction.position
        self._was_notified()  # of this commit too: what is not fetched piles up
        return transaction.results

    def keep(self, keeping: Keeping) -> JournalError | None:
        """Write a part of a snapshot in a transaction of its own; return what went wrong."""
        try:
            self._stay_connected()
            if self.refusal is not None:
                return self.refusal
            with self._write.transaction():
                keeping.write(self._write.execute, POSTGRES)
        except Exception as error:  # noqa: BLE001 - whatever went wrong, facts are appended after it
            return self._failure(error)
        return None

    def _fill(self, batch: Sequence[Pending]) -> Transaction:
        self._write.execute("SELECT pg_advisory_xact_lock(%s, hashtext(current_schema()))", (WRITE_LOCK,))
        self._catch_up()
        self._load_heads(batch)
        transaction = Transaction(self._position)
        transaction.take(batch, self._heads, self._load_keys(batch))
        if transaction.parameters:
            values = transaction.parameters
            positions = list(range(self._position + 1, transaction.position + 1))
            self._write.execute(_RECORDS, [values[0::4], values[1::4], values[2::4], values[3::4], positions])
            self._write.execute(
                _HEADS, [list(column) for column in zip(*transaction.heads.values(), strict=True)]
            )
            self._write.execute(f"NOTIFY {_CHANNEL}")
        if transaction.index:
            self._write.execute(
                _INDEX, [list(column) for column in zip(*transaction.index.values(), strict=True)]
            )
        return transaction

    def _load_heads(self, batch: Sequence[Pending]) -> None:
        if len(self._heads) > _MOST_HEADS:
            self._heads.clear()
        unknown = [run_id for run_id in {pending.run_id for pending in batch} if run_id not in self._heads]
        if unknown:
            query = "SELECT run_id, version, hash FROM run_heads WHERE run_id = ANY(%s)"
            for run_id, version, hash_ in self._write.execute(query, (unknown,)):
                self._heads[run_id] = (version, hash_)

    def _load_keys(self, batch: Sequence[Pending]) -> dict[str, str]:
        claimed = [pending.key for pending in batch if pending.key]
        if not claimed:
            return {}
        query = "SELECT run_key, run_id FROM runs WHERE run_key = ANY(%s) AND run_key <> ''"
        return dict(self._write.execute(query, (claimed,)).fetchall())

    # ---------------------------------------------------------------------------------------- when it fails

    def _after_failure(self, batch: Sequence[Pending], error: Exception) -> Sequence[Result]:
        """An error says nothing sure about the outcome of a commit: look for our own records."""
        failure = self._failure(error)
        self._heads.clear()
        try:
            self._stay_connected()
            self._position = self._last_position()
            return [self._recorded(pending) or failure for pending in batch]
        except (psycopg.Error, StoreMissingError):
            return [failure] * len(batch)

    def _recorded(self, pending: Pending) -> Appended | None:
        query = (
            "SELECT notification_id, topic, state FROM stored_events"
            " WHERE originator_id = %s AND originator_version = %s"
        )
        return recognise(pending, self._write.execute(query, (pending.run_id, pending.version)).fetchone())

    def _failure(self, error: Exception) -> JournalError:
        url = self._connections.url
        failure: JournalError
        if isinstance(error, psycopg.errors.LockNotAvailable):
            failure = StoreLockedError(
                f"{url} stayed locked for {self._lock_wait_s:g} s by another process: nothing was appended. "
                "End the process that keeps a transaction open, then try again"
            )
        elif isinstance(error, psycopg.errors.DiskFull):
            failure = StoreFullError(
                f"{url} is full: nothing was appended. Free space on its server, then try again"
            )
        else:
            failure = JournalFailedError(
                f"appending to {url} failed: {type(error).__name__}: {error}. Whether the facts were "
                "recorded is not known: check the server, then read the run again"
            )
        failure.__cause__ = error
        return failure

    def _stay_connected(self) -> None:
        """Replace a connection that broke, and find out whether the engine's lock went with it."""
        if not self._write.closed:
            return
        self._write = self._connect()
        self._heads.clear()
        if self._owner and self.refusal is None:
            owners = self._owners
            with suppress(StoreOwnedError):
                self._owners = self._own()
            if self._owners != owners + 1:
                self.refusal = OwnershipLostError(
                    f"this engine lost {self._connections.url}: its connection broke and another engine "
                    "has owned the store since. Nothing more is appended; stop this engine"
                )

    def _own(self) -> int:
        """Take the engine's lock; return how often it has been taken."""
        row = self._write.execute(
            "SELECT pg_try_advisory_lock(%s, hashtext(current_schema()))", (OWNER_LOCK,)
        ).fetchone()
        if row is None or not row[0]:
            raise StoreOwnedError(self._connections.url, *self._present_owner())
        row = self._write.execute(
            "UPDATE midcourse_store SET owners = owners + 1 RETURNING owners"
        ).fetchone()
        return int(row[0]) if row is not None else 0

    def _present_owner(self) -> tuple[int, str]:
        query = (
            "SELECT application_name FROM pg_stat_activity JOIN pg_locks USING (pid)"
            " WHERE locktype = 'advisory' AND granted AND classid = %s"
            " AND objid::bigint = hashtext(current_schema())::bigint & 4294967295"
        )
        row = self._write.execute(query, (OWNER_LOCK,)).fetchone()
        words = row[0].split() if row is not None else []
        return (int(words[1]), words[2]) if len(words) == 3 and words[1].isdigit() else (0, "")  # noqa: PLR2004

    # -------------------------------------------------------------------------------------- other processes

    def poll(self) -> Sequence[str]:
        """Return the runs others have appended to since the last call."""
        with suppress(psycopg.Error, StoreMissingError):  # the next commit meets it, and has someone to tell
            self._stay_connected()
            if self._was_notified():
                self._catch_up()
        return self.take_foreign()

    def refuse(self, error: JournalError) -> None:
        """Take no appends any more, unless there is a reason already."""
        self.refusal = self.refusal or error

    def take_foreign(self) -> Sequence[str]:
        """Return the runs others have appended to, as far as noticed already."""
        foreign = list(self._foreign)
        self._foreign.clear()
        return foreign

    def _was_notified(self) -> bool:
        return bool(list(self._write.notifies(timeout=0)))

    def _catch_up(self) -> None:
        position = self._last_position()
        if position == self._position:
            return
        query = "SELECT originator_id FROM stored_events WHERE notification_id > %s"
        for (run_id,) in self._write.execute(query, (self._position,)):
            self._heads.pop(run_id, None)
            self._foreign.add(run_id)
        self._position = position

    def _last_position(self) -> int:
        row = self._write.execute("SELECT coalesce(max(notification_id), 0) FROM stored_events").fetchone()
        return int(row[0]) if row is not None else 0

    # --------------------------------------------------------------------------------------------- its life

    def snapshot(self) -> AbstractContextManager[Reader]:
        """Return a reader that sees one state of the store."""
        return self._connections.snapshot()

    def close(self) -> None:
        """Close all connections, and with them give up the locks."""
        self._write.close()
        self._connections.close()
