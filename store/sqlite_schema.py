"""The tables of a store in SQLite, and opening a file that should hold them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from .errors import (
    JournalFailedError,
    NewerStoreError,
    NotAStoreError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreMissingError,
)
from .index import IS_ACTIVE

APPLICATION_ID = 0x4D696463
"""Marks a file as ours: "Midc" in SQLite's header."""

FORMAT = 1
"""Number of the shape of the tables, kept as SQLite's ``user_version``."""

TABLES = (
    """
    CREATE TABLE run_heads (
        run_id TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL, hash TEXT NOT NULL, updated REAL NOT NULL
    )
    """,
    """
    CREATE TABLE runs (
        run_id TEXT NOT NULL PRIMARY KEY,
        status TEXT NOT NULL,
        created REAL NOT NULL,
        goal TEXT NOT NULL,
        run_key TEXT NOT NULL,
        planner TEXT NOT NULL,
        wake_at REAL,
        attention INTEGER NOT NULL,
        attention_since REAL,
        tags TEXT NOT NULL
    )
    """,
    "CREATE UNIQUE INDEX runs_key ON runs (run_key) WHERE run_key <> ''",
    f"CREATE INDEX runs_active ON runs (run_id) WHERE {IS_ACTIVE}",
    "CREATE INDEX runs_attention ON runs (run_id) WHERE attention > 0",
    "CREATE INDEX runs_wake ON runs (wake_at) WHERE wake_at IS NOT NULL",
)
"""Ours, beside the table of records, which is the event sourcing library's own."""


def prepare(connection: sqlite3.Connection, url: str) -> None:
    """Make the tables if the database is empty.

    Raises:
        NotAStoreError: it holds something else.
        NewerStoreError: its tables are newer than this code.
    """
    if check(connection, url):
        return
    from .recorder import records_tables  # slow to import, and needed once in a store's life

    connection.execute("BEGIN IMMEDIATE")
    if not check(connection, url):  # another process may have been quicker
        for statement in (*records_tables(), *TABLES):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("COMMIT")


def check(connection: sqlite3.Connection, url: str) -> bool:
    """Return whether the database holds a store this code can use; false if it is empty.

    Raises:
        NotAStoreError: it holds something else.
        NewerStoreError: its tables are newer than this code.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables:
        return False
    if application != APPLICATION_ID:
        raise NotAStoreError(
            f"{url} is a database of something else: it has tables, but not the mark of a Midcourse store. "
            "Name another file"
        )
    if found > FORMAT:
        raise NewerStoreError(url, found, FORMAT)
    return True


def require(connection: sqlite3.Connection, url: str) -> None:
    """Raise an error unless the database holds a store this code can use."""
    if not check(connection, url):
        raise NotAStoreError(f"{url} is an empty database: nothing was ever recorded in it")


def explain(error: sqlite3.Error, path: Path, url: str) -> StoreError:
    """Return a clear error for one SQLite reported while a store was opened."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_BUSY:
        return StoreLockedError(f"{url} stays locked by another process: end it, or try again later")
    if code == sqlite3.SQLITE_CANTOPEN:
        return StoreMissingError(
            f"{url} cannot be opened: {path} is not a file this process may read and write, "
            f"or the folder {path.parent} does not exist. Create the folder, or name another file"
        )
    if code == sqlite3.SQLITE_IOERR:
        return JournalFailedError(
            f"{url} cannot be opened: SQLite reports {error}. Check the disk it is on, then open it again"
        )
    if code == sqlite3.SQLITE_FULL:
        return StoreFullError(
            f"{url} cannot be opened: its disk is full. Free space on it, then open it again"
        )
    return NotAStoreError(
        f"{url} cannot be used as a store: SQLite reports {error}. Restore it, or name another file"
    )
