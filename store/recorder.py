"""The event sourcing library's recorder for SQLite: its table, and its readers for its tools.

Importing it takes a tenth of a second and patches ``dataclasses``, so it is imported only where it is
needed: when a store is made, and when someone asks for the recorder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eventsourcing.persistence import StoredEvent
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteDatastore

from .errors import JournalError

TABLE = "stored_events"


class SqliteRecorder(SQLiteApplicationRecorder):
    """Reads a store through the library's interface; appending goes through the journal."""

    def insert_events(self, stored_events: Sequence[StoredEvent], **_: Any) -> Sequence[int]:
        """Refuse: the library knows nothing of the hash chain and the index."""
        raise JournalError(
            f"{len(stored_events)} events were handed to the recorder, which only reads: "
            "append through the journal, which keeps the hash chain and the index"
        )


def sqlite_recorder(database: str) -> SqliteRecorder:
    """Return a recorder that reads the store at a path."""
    return SqliteRecorder(SQLiteDatastore(database, originator_id_type="text"), TABLE)


def records_tables() -> list[str]:
    """Return the statements that make the library's table."""
    return sqlite_recorder(":memory:").create_table_statements
