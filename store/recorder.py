"""The event sourcing library's recorder for SQLite, over our database: its table, and its readers for its tools.

Importing it takes a tenth of a second and patches ``dataclasses``, so it is imported only where it is needed: when a
store is made, and when someone asks for the recorder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eventsourcing.persistence import StoredEvent
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteCursor, SQLiteDatastore

from .errors import JournalError

TABLE = "stored_events"


class SqliteRecorder(SQLiteApplicationRecorder):
    """Reads a store through the library's interface; appending goes through the journal."""

    def _insert_events(self, c: SQLiteCursor, stored_events: Sequence[StoredEvent], **_: Any) -> Sequence[int]:
        raise JournalError(
            f"{len(stored_events)} events were handed to the recorder: append through the journal instead, which keeps "
            "the hash chain and the index"
        )


def sqlite_recorder(database: str) -> SqliteRecorder:
    """Return a recorder that reads the store at a path."""
    return SqliteRecorder(SQLiteDatastore(database, originator_id_type="text"), TABLE)


def records_tables() -> list[str]:
    """Return the statements that make the library's table."""
    return sqlite_recorder(":memory:").create_table_statements
