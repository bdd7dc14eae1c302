"""The reading half of the journal over any backend."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import ParamSpec, TypeVar

from .backend import ReadableBackend, Reader, Row
from .chain import Head, Problem, link
from .codec import decode
from .errors import JournalClosedError, JournalError
from .index import IndexedRun, RunFilter, RunPage
from .journal import Records
from .record import Record
from .snapshots import Snapshot, in_order, take_fingerprint
from .verifying import check_run
from .writer import POLL_S

P = ParamSpec("P")
T = TypeVar("T")

_SLICE = 256
"""Records read, decoded and handed out between two turns of the loop: about a millisecond."""

_EVERYTHING = RunFilter()


class _Frozen:
    """One state of a database, while whoever asked for it keeps it."""

    refusal: JournalError | None = None

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def snapshot(self) -> AbstractContextManager[Reader]:
        """Return the one state there is."""
        return nullcontext(self.reader)

    def close(self) -> None:
        """Nothing to do: it ends where it was asked for."""


class Reading:
    """Reads a backend, asynchronously and not.

    Args:
        url: the store's URL, without a password.
        backend: the database.
        readers: a thread that reads, for databases at the other end of a network. Local ones are read in
        slices
            on the loop's own thread, which is faster than handing rows from one thread to another.
    """

    def __init__(self, url: str, backend: ReadableBackend, readers: ThreadPoolExecutor | None) -> None:
        self.url = url
        self._backend = backend
        self._readers = readers
        self._closed = False
        self._followers: set[asyncio.Event] = set()

    async def _ask(self, question: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        self._check_open()
        if self._readers is None:
            return question(*args, **kwargs)
        call = functools.partial(question, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._readers, call)

    async def _reads_ended(self) -> None:
        """Wait until the thread that reads has nothing left to do."""
        if self._readers is not None:
            await asyncio.get_running_loop().run_in_executor(self._readers, int)

    def _check_open(self) -> None:
        if self._closed:
            raise JournalClosedError(f"{self.url} is closed: nothing can be read")

    async def read(self, run_id: str, *, after: int = 0, until: int | None = None) -> Records:
        """Return the records of a run with ``after < version <= until``."""
        return [record async for batch in self.batches(run_id, after=after, until=until) for record in batch]

    async def batches(
        self, run_id: str, *, after: int = 0, until: int | None = None, size: int = _SLICE
    ) -> AsyncGenerator[Records, None]:
        """Yield the records of a run in slices, letting the loop turn between them."""
        while True:
            rows = await self._ask(self._backend.reader.rows, run_id, after, until, size)
            if rows:
                yield _decode(run_id, rows)
                after = rows[-1][1]
            if len(rows) < size:
                return
            await asyncio.sleep(0)

    def read_batches(
        self, run_id: str, *, after: int = 0, until: int | None = None, size: int = _SLICE
    ) -> Iterator[Records]:
        """Yield the records of a run in slices, for callers without a loop."""
        while True:
            self._check_open()
            rows = self._backend.reader.rows(run_id, after, until, size)
            if rows:
                yield _decode(run_id, rows)
                after = rows[-1][1]
            if len(rows) < size:
                return

    async def follow(self, after_position: int = 0) -> AsyncGenerator[Record, None]:
        """Yield the records of all runs in order, first those there are, then those that come."""
        watched = self._watch()
        wake = asyncio.Event()
        self._followers.add(wake)
        try:
            while not self._closed:
                wake.clear()
                rows = await self._ask(self._backend.reader.log, after_position, _SLICE)
                for position, run_id, version, topic, state in rows:
                    yield decode(run_id, version, topic, state, position)
                    after_position = position
                if rows:
                    await asyncio.sleep(0)
                elif not self._closed:
                    await (wake.wait() if watched else asyncio.sleep(POLL_S))
        finally:
            self._followers.discard(wake)

    def _watch(self) -> bool:
        """Return whether followers are woken; if not, they have to look."""
        return False

    async def head(self, run_id: str) -> Head | None:
        """Return where a run stands."""
        return await self._ask(self._backend.reader.head, run_id)

    async def get_index(self, run_id: str) -> IndexedRun | None:
        """Return a run's row in the index."""
        return await self._ask(self._backend.reader.get_index, run_id)

    async def find_key(self, key: str) -> str | None:
        """Return the id of the run that was started with ``key``."""
        return await self._ask(self._backend.reader.find_key, key)

    async def list(self, filters: RunFilter = _EVERYTHING, *, limit: int = 100, cursor: str = "") -> RunPage:
        """Return runs, newest first."""
        return await self._ask(self._backend.reader.list, filters, limit, cursor)

    async def streams(self, prefix: str) -> Sequence[str]:
        """Return the ids of the streams beside the runs that begin with ``prefix``, in order."""
        return await self._ask(self._backend.reader.streams, prefix)

    async def next_wake(self) -> float | None:
        """Return the earliest time a run has to act by itself."""
        return await self._ask(self._backend.reader.next_wake)

    async def latest_snapshot(self, run_id: str) -> Snapshot | None:
        """Return the state of a run that was kept last, if it is one of the run as it is recorded now."""
        for _ in take_fingerprint():
            await asyncio.sleep(0)
        snapshot = await self._ask(self._backend.reader.snapshot_of, run_id)
        if snapshot is None:
            return None
        version = snapshot.version
        rows = await self._ask(self._backend.reader.rows, run_id, version - 1, version, 1)
        if not rows or link(run_id, rows[0][1], rows[0][2], rows[0][3]) != snapshot.hash:
            return None
        return snapshot

    async def pieces(self, run_id: str, digests: Sequence[str]) -> Sequence[bytes]:
        """Return pieces of a snapshot in the order they are asked for."""
        return in_order(run_id, digests, await self._ask(self._backend.reader.pieces, run_id, digests))

    def verify(self, run_id: str | None = None) -> Iterator[Problem]:
        """Recompute the hash chain of one run or of all, read every record, and look for it in the index."""
        self._check_open()
        with self._backend.snapshot() as reader:
            for each in reader.run_ids() if run_id is None else [run_id]:
                problem = check_run(each, reader)
                if problem is not None:
                    yield problem

    def frozen(self) -> AbstractContextManager[Reading | None]:
        """Return a view of one state of a local store, whatever is appended meanwhile; ``None`` of others.

        Every append makes a local database forget the pages it has read, so what reads many runs beside
        appends reads them all anew for each, unless it reads one state.
        """
        self._check_open()
        return self._view() if self._readers is None else nullcontext()

    @contextmanager
    def _view(self) -> Iterator[Reading | None]:
        with self._backend.snapshot() as reader:
            view = Reading(self.url, _Frozen(reader), None)
            try:
                yield view
            finally:
                view._closed = True

    def _wake_followers(self) -> None:
        for event in self._followers:
            event.set()


def _decode(run_id: str, rows: list[Row]) -> Records:
    return [decode(run_id, version, topic, state, position) for position, version, topic, state in rows]
