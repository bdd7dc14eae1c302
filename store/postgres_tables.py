"""The tables of a store in PostgreSQL; those of the records are the event sourcing library's own."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from .errors import NewerStoreError, StoreMissingError
from .index import IS_ACTIVE

FORMAT = 1
"""Number of the shape of the tables, kept in ``midcourse_store``."""

WRITE_LOCK = 0x4D696401
"""First half of the advisory lock a transaction holds while it appends; the second half is the schema."""

OWNER_LOCK = 0x4D696402
"""First half of the advisory lock the engine's connection holds."""

_TABLES = (
    "CREATE TABLE midcourse_store (format integer NOT NULL, owners bigint NOT NULL)",
    """
    CREATE TABLE run_heads (
        run_id text PRIMARY KEY, version bigint NOT NULL, hash text NOT NULL, updated double precision NOT
        NULL
    ) WITH (fillfactor = 70)
    """,
    """
    CREATE TABLE runs (
        run_id text NOT NULL PRIMARY KEY,
        status text NOT NULL,
        created double precision NOT NULL,
        goal text NOT NULL,
        run_key text NOT NULL,
        planner text NOT NULL,
        wake_at double precision,
        attention integer NOT NULL,
        attention_since double precision,
        tags text NOT NULL
    )
    """,
    "CREATE UNIQUE INDEX runs_key ON runs (run_key) WHERE run_key <> ''",
    f"CREATE INDEX runs_active ON runs (run_id) WHERE {IS_ACTIVE}",
    "CREATE INDEX runs_attention ON runs (run_id) WHERE attention > 0",
    "CREATE INDEX runs_wake ON runs (wake_at) WHERE wake_at IS NOT NULL",
)

Connection = psycopg.Connection[tuple[Any, ...]]


def prepare(connection: Connection, url: str) -> None:
    """Make the tables if the schema has none of them.

    Raises:
        NewerStoreError: they are newer than this code.
    """
    if exists(connection, url):
        return
    statements = [*_records_tables(connection), *_TABLES]
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s, hashtext(current_schema()))", (WRITE_LOCK,))
        if exists(connection, url):  # another process was quicker
            return
        for statement in statements:
            connection.execute(statement)
        connection.execute("INSERT INTO midcourse_store VALUES (%s, 0)", (FORMAT,))


def exists(connection: Connection, url: str) -> bool:
    """Return whether the schema holds a store this code can use.

    Raises:
        NewerStoreError: it is newer than this code.
    """
    row = connection.execute("SELECT to_regclass('midcourse_store') IS NOT NULL").fetchone()
    if row is None or not row[0]:
        return False
    found = connection.execute("SELECT format FROM midcourse_store").fetchone()
    if found is not None and found[0] > FORMAT:
        raise NewerStoreError(url, found[0], FORMAT)
    return found is not None


def require(connection: Connection, url: str) -> None:
    """Raise an error unless the schema holds a store."""
    if not exists(connection, url):
        raise StoreMissingError(
            f"{url} holds no store: nothing was ever recorded in it. Check the store's URL"
        )


def _records_tables(connection: Connection) -> list[str]:
    """Return the library's statements for its table, without the function and type of its own insert."""
    quiet = [logging.getLogger(name) for name in ("psycopg", "psycopg.pool")]
    levels = [logger.level for logger in quiet]
    from eventsourcing.postgres import PostgresApplicationRecorder, PostgresDatastore

    for logger, level in zip(quiet, levels, strict=True):  # importing it sets them, for the whole process
        logger.setLevel(level)

    class _Datastore(PostgresDatastore):
        """Stands on our connection instead of a pool of its own, with its threads."""

        def __init__(self) -> None:
            row = connection.execute("SELECT current_schema()").fetchone()
            self.schema = row[0] if row is not None else ""
            self.originator_id_type = "text"
            self.lock_timeout = 0
            self.db_type_names = set()
            self.psycopg_type_adapters = {}
            self.psycopg_python_types = {}

        @contextmanager
        def get_connection(self) -> Iterator[Any]:
            yield connection

        def close(self) -> None:
            """The connection is not the datastore's to close."""

    recorder = PostgresApplicationRecorder(_Datastore(), events_table_name="stored_events")
    texts = [statement.as_string(connection) for statement in recorder.sql_create_statements]
    return [text for text in texts if text.lstrip().startswith(("CREATE TABLE", "CREATE UNIQUE INDEX"))]
