"""The connections to a store in an SQLite file: write-ahead log, every commit synced to the disk."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

from .backend import Reader
from .errors import JournalFailedError, OwnershipLostError, StoreMissingError
from .index import SQLITE
from .lock import EngineLock
from .reader import SqlReader
from .sqlite_schema import explain, prepare, require

_STATEMENTS = 256
"""Statements that stay prepared on a connection: three tables take rows by 1 to 63, 64, 128 and 256."""

_WAL_PAGES = 4000
"""Pages of write-ahead log between two checkpoints: fewer long commits than SQLite's 1000."""

_READ_KIB = 16 * 1024
"""Pages the connection that reads may keep, in KiB, taken as they are needed. Runs that ran side by side
share their pages: with SQLite's 2 MB, reading twenty long ones in turn reads each page twenty times."""

_WAIT_S = 0.25
"""How long one statement waits for another connection's lock, in seconds; committing tries again."""


class Ownership(Protocol):
    """The right of one engine to a store."""

    def lost(self) -> OwnershipLostError | None:
        """Return an error if the store is no longer ours."""
        ...

    def release(self) -> None:
        """Give the store up."""
        ...


class Database(Protocol):
    """Makes the connections of a store."""

    url: str

    def own(self) -> Ownership:
        """Take the engine's lock."""
        ...

    def writer(self) -> sqlite3.Connection:
        """Return the connection that writes."""
        ...

    def writer_again(self) -> sqlite3.Connection:
        """Return a new connection that writes, after an error on the old one."""
        ...

    def settle(self, connection: sqlite3.Connection) -> None:
        """Make durable what a connection sees, although its commit was reported as failed."""
        ...

    def data_version(self, connection: sqlite3.Connection) -> int:
        """Return a number that changes when others than a connection commit."""
        ...

    def fetch(self, query: str, parameters: Sequence[Any]) -> list[Any]:
        """Run a query on the connection that reads."""
        ...

    def snapshot(self) -> AbstractContextManager[Reader]:
        """Return a reader that sees one state of the store."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


class FileDatabase:
    """A store in a file.

    Args:
        path: the file.
        url: the store's URL, for messages.
        read_only: create nothing and change nothing.

    Raises:
        StoreError: the file cannot be used; see ``store.errors``.
    """

    def __init__(self, path: Path, url: str, *, read_only: bool = False) -> None:
        self.url = url
        self._path = path.resolve()
        self._lock: EngineLock | None = None
        self._write: sqlite3.Connection | None = None
        self._read: sqlite3.Connection | None = None
        if read_only and not path.is_file():
            raise StoreMissingError(f"{url} does not exist: there is no file {path}. Check the store's URL")
        self._read_only = read_only
        self._read_without_log = False

    def own(self) -> EngineLock:
        """Take the engine's lock."""
        self._lock = EngineLock(self._path, self.url)
        return self._lock

    def writer(self) -> sqlite3.Connection:
        """Return the connection that writes; makes the tables if there are none."""
        try:
            self._write = self._connect_writer()
            prepare(self._write, self.url)
            if self._lock is not None:
                self._lock.database_opened()
        except BaseException as error:
            self.close()
            if isinstance(error, sqlite3.Error):
                raise explain(error, self._path, self.url) from error
            raise
        return self._write

    def writer_again(self) -> sqlite3.Connection:
        """Return a new connection that writes."""
        if self._write is not None:
            self._write.close()
        self._write = self._connect_writer("?mode=rw")  # a file that is gone is not made anew
        return self._write

    def settle(self, connection: sqlite3.Connection) -> None:
        """Copy the log into the database and sync it.

        After a failed sync the system may believe that pages are on the disk which are not, so another sync
        of the log proves nothing; what the checkpoint copies is written anew.
        """
        busy, pages, copied = connection.execute("PRAGMA wal_checkpoint(FULL)").fetchone()
        if busy or pages != copied:
            raise sqlite3.OperationalError("a failed commit is visible, but could not be made durable")

    def data_version(self, connection: sqlite3.Connection) -> int:
        """Return a number that changes when others commit; SQLite does not count our own commits."""
        return int(connection.execute("PRAGMA data_version").fetchone()[0])

    def fetch(self, query: str, parameters: Sequence[Any]) -> list[Any]:
        """Run a query on the connection that reads."""
        with self._explained():
            return self._reading().execute(query, parameters).fetchall()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn SQLite's errors while reading into clear ones."""
        try:
            yield
        except sqlite3.Error as error:
            raise JournalFailedError(
                f"reading {self.url} failed: {error}. Check the disk, then the file with "
                "SQLite's integrity_check"
            ) from error

    def _reading(self) -> sqlite3.Connection:
        """Return the connection that reads; a new one if someone has begun to write since it was opened."""
        if self._read is not None and self._read_without_log and self._has_log():
            self._read.close()
            self._read = None
        if self._read is None:
            self._read_without_log = self._read_only and not self._has_log()
            self._read = self._connect_reader(without_log=self._read_without_log)
        return self._read

    @contextmanager
    def snapshot(self) -> Iterator[Reader]:
        """Return a reader that sees one state of the store."""
        connection = self._connect_reader(without_log=self._read_only and not self._has_log())
        try:
            connection.execute("BEGIN")
            yield SqlReader(functools.partial(self._fetch_from, connection), SQLITE)
        finally:
            connection.close()

    def _fetch_from(self, connection: sqlite3.Connection, query: str, parameters: Sequence[Any]) -> list[Any]:
        with self._explained():
            return connection.execute(query, parameters).fetchall()

    def close(self) -> None:
        """Close all connections; the one that writes last, so that it removes the log."""
        for connection in (self._read, self._write):
            if connection is not None:
                connection.close()
        self._read = self._write = None

    def _connect_writer(self, mode: str = "") -> sqlite3.Connection:
        connection = self._connect(mode)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
        return connection

    def _connect_reader(self, *, without_log: bool) -> sqlite3.Connection:
        # Without a log nobody writes; SQLite would make an empty one to read, and nobody would remove it.
        connection = self._connect("?immutable=1" if without_log else "?mode=ro")
        try:
            connection.execute(f"PRAGMA cache_size = -{_READ_KIB}")
            if self._read_only:
                require(connection, self.url)
        except BaseException as error:
            connection.close()
            if isinstance(error, sqlite3.Error):
                raise explain(error, self._path, self.url) from error
            raise
        return connection

    def _connect(self, mode: str) -> sqlite3.Connection:
        return sqlite3.connect(
            self._path.as_uri() + mode,
            uri=True,
            check_same_thread=False,
            isolation_level=None,
            cached_statements=_STATEMENTS,
            timeout=_WAIT_S,
        )

    def _has_log(self) -> bool:
        return self._path.with_name(self._path.name + "-wal").exists()


class ReadOnlyBackend:
    """A store that is only read: creates no file, takes no lock."""

    def __init__(self, database: FileDatabase) -> None:
        self._database = database
        self.reader = SqlReader(database.fetch, SQLITE)
        self.reader.head("")  # an unreadable file is reported when it is opened, not later
        self.refusal = None

    def snapshot(self) -> AbstractContextManager[Reader]:
        """Return a reader that sees one state of the store."""
        return self._database.snapshot()

    def close(self) -> None:
        """Close all connections."""
        self._database.close()
