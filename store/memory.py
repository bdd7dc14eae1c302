"""A store in memory, for tests and trials: the same contract and SQL, without files, threads or syncs."""

from __future__ import annotations

import asyncio
import os
import socket
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .backed import BackedJournal
from .backend import Backend, Reader
from .commit import Pending
from .errors import OwnershipLostError, StoreOwnedError
from .index import SQLITE
from .reader import SqlReader
from .sqlite import SqliteBackend
from .sqlite_schema import prepare
from .writer import Aside, Report, commit, poll

URL = "memory:"


class MemoryStore:
    """What is recorded, so that it can outlive the journal that recorded it.

    Several journals of one event loop may stand on it; each sees the appends of the others as foreign.
    """

    url = URL

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        prepare(self.connection, URL)
        self.listeners: dict[object, Callable[[], None]] = {}
        self._owned = False

    def own(self) -> MemoryStore:
        """Take the engine's lock."""
        if self._owned:
            raise StoreOwnedError(URL, os.getpid(), socket.gethostname())
        self._owned = True
        return self

    def lost(self) -> OwnershipLostError | None:
        """Memory is never lost to others."""
        return None

    def release(self) -> None:
        """Give the store up."""
        self._owned = False

    def writer(self) -> sqlite3.Connection:
        """Return the one connection."""
        return self.connection

    def writer_again(self) -> sqlite3.Connection:
        """Return the one connection; there is nothing to open anew."""
        return self.connection

    def settle(self, connection: sqlite3.Connection) -> None:
        """Nothing here is durable."""

    def data_version(self, connection: sqlite3.Connection) -> int:
        """Return a number that changes with every commit."""
        return connection.total_changes

    def fetch(self, query: str, parameters: Sequence[Any]) -> list[Any]:
        """Run a query."""
        return self.connection.execute(query, parameters).fetchall()

    @contextmanager
    def snapshot(self) -> Iterator[Reader]:
        """Return a reader; whoever uses it without awaiting sees one state."""
        yield SqlReader(self.fetch, SQLITE)

    def close(self) -> None:
        """Nothing to do: the store outlives its journals."""


class _LoopWriter:
    """Commits in the loop's next callback."""

    def __init__(
        self, store: MemoryStore, backend: Backend, loop: asyncio.AbstractEventLoop, report: Report
    ) -> None:
        self._store = store
        self._backend = backend
        self._loop = loop
        self._report = report
        self._waiting: list[Pending] = []
        store.listeners[self] = self._look

    def put(self, batch: list[Pending]) -> None:
        if not self._waiting:
            self._loop.call_soon(self._commit)
        self._waiting += batch

    def put_aside(self, aside: Aside) -> None:
        self._loop.call_soon(self._do_aside, aside)

    def _do_aside(self, aside: Aside) -> None:
        aside(self._backend)()

    def _commit(self) -> None:
        batch, self._waiting = self._waiting, []
        if not batch:
            return
        done = commit(self._backend, batch)
        self._report(done, self._backend.take_foreign())
        for owner, look in self._store.listeners.items():
            if owner is not self:
                self._loop.call_soon(look)

    def _look(self) -> None:
        if foreign := poll(self._backend):
            self._report((), foreign)

    def stop(self) -> None:
        self._commit()
        self._store.listeners.pop(self, None)

    def join(self) -> None:
        """Nothing runs beside the loop."""

    async def ended(self) -> None:
        """Nothing runs beside the loop."""


class MemoryJournal(BackedJournal):
    """A journal in memory.

    Args:
        store: what is recorded already; a new store if it is left out.
        owner: take the engine's lock on the store.
    """

    def __init__(self, store: MemoryStore | None = None, *, owner: bool = False) -> None:
        self.store = store or MemoryStore()
        super().__init__(URL, SqliteBackend(self.store, owner=owner), writer=self._make)

    def _make(self, backend: Backend, loop: asyncio.AbstractEventLoop, report: Report) -> _LoopWriter:
        return _LoopWriter(self.store, backend, loop, report)
