"""A store in memory: the same contract and the same SQL, without files, threads or syncs. For tests and trials."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .backed import BackedJournal
from .backend import Reader
from .index import SQLITE
from .reader import SqlReader
from .sqlite import SqliteBackend
from .sqlite_schema import prepare
from .writer import LoopWriter

URL = "memory:"


class MemoryStore:
    """What is recorded, so that it can outlive the journal that recorded it.

    Several journals of one event loop may stand on it; each sees the appends of the others as foreign.
    """

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        prepare(self.connection, URL)
        self.listeners: list[Callable[[], None]] = []

    def fetch(self, query: str, parameters: Sequence[Any]) -> list[Any]:
        """Run a query."""
        return self.connection.execute(query, parameters).fetchall()
