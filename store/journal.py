"""The journal: what the engine, the command line and the audits ask of a store."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Protocol, Self

import msgspec

from ..domain.facts import Fact
from .chain import Head, Problem
from .errors import JournalError
from .index import IndexedRun, RunFilter, RunIndex, RunPage
from .record import Record
from .snapshots import Snapshot

Records = list[Record]


class Append(msgspec.Struct, frozen=True, gc=False):
    """Facts that continue a run, all or none.

    Args:
        run_id: the run.
        expected_version: version of the record they follow; 0 starts the run.
        prev_hash: hash of the record they follow; ``GENESIS`` for a new run.
        entries: (at, actor, cause, fact) of each; see :class:`Entry`.
        index: the run's new row in the index, if a field of it changed. A new run needs one; a stream that is
            no run's has none.
    """

    run_id: str
    expected_version: int
    prev_hash: str
    entries: Sequence[tuple[float, str, int, Fact]]
    index: RunIndex | None = None


class Appended(msgspec.Struct, frozen=True, gc=False):
    """Facts are durable.

    Args:
        positions: their places among the facts of all runs.
        head_version: version of the last of them.
        head_hash: hash of the last of them.
    """

    positions: range
    head_version: int
    head_hash: str


OnDone = Callable[[Appended | JournalError], None]
"""Called once, on the event loop's thread, with what became of an append."""

Post = Callable[[Sequence[Callable[[], None]]], object]
"""Runs functions one after the other, on the event loop's thread. It is called from a callback of the loop
that does nothing after it, so it may begin at once."""


class Reads(Protocol):
    """What folding runs asks of a journal, or of a view of it."""

    def batches(
        self, run_id: str, *, after: int = 0, until: int | None = None, size: int = 256
    ) -> AsyncGenerator[Records, None]:
        """Yield the records of a run in slices, letting the loop turn between them."""
        ...

    async def head(self, run_id: str) -> Head | None:
        """Return where a run stands, or ``None`` if there is no such run."""
        ...

    async def get_index(self, run_id: str) -> IndexedRun | None:
        """Return a run's row in the index, or ``None`` if there is no such run."""
        ...

    async def list(self, filters: RunFilter = ..., *, limit: int = 100, cursor: str = "") -> RunPage:
        """Return runs, newest first."""
        ...

    async def latest_snapshot(self, run_id: str) -> Snapshot | None:
        """Return the state of a run that was kept last; it may be some facts behind.

        ``None`` if there is none, if other code made it, or if the chain of the run no longer has the record
        that it was taken at.
        """
        ...

    async def pieces(self, run_id: str, digests: Sequence[str]) -> Sequence[bytes]:
        """Return pieces of a snapshot in the order they are asked for.

        Raises:
            CorruptSnapshotError: one is missing, or is not what it was.
        """
        ...


class Journal(Protocol):
    """Append-only facts of all runs, their index, and their hash chains.

    Opened by :func:`midcourse.store.open_journal`. Methods that are not async are the same for callers
    without an event loop, such as audits; ``submit``, ``append``, ``follow`` and the callbacks need a
    running loop.
    """

    @property
    def url(self) -> str:
        """The store's URL, without a password."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether appends are refused."""
        ...

    # -------------------------------------------------------------------------------------------- appending

    def dispatch(self, post: Post) -> None:
        """Hand results over through ``post`` from now on, and leave it to the caller to :meth:`flush`.

        A function tells a few callers each, so that there is a place for others between them.
        """
        ...

    def submit(self, append: Append, on_done: OnDone) -> None:
        """Queue an append; ``on_done`` is called when it is durable or has failed.

        Raises:
            UnencodableError: a fact cannot be written. Nothing is queued.
            JournalClosedError: the journal is closed or read-only. Nothing is queued.
        """
        ...

    def flush(self) -> None:
        """Hand all queued appends to the writer, once. Without :meth:`dispatch` this happens by itself."""
        ...

    async def append(self, append: Append) -> Appended:
        """Append, and return when the facts are durable; needs no :meth:`flush`.

        A cancelled caller does not learn the outcome; the append is not taken back.

        Raises:
            VersionConflictError: the run is not where it was expected.
            KeyTakenError: another run was started with the same key.
            UnencodableError: a fact cannot be written.
            JournalError: any other way it can end; see ``store.errors``.
        """
        ...

    # ---------------------------------------------------------------------------------------------- reading

    async def read(self, run_id: str, *, after: int = 0, until: int | None = None) -> Records:
        """Return the records of a run with ``after < version <= until``; an unknown run has none.

        Raises:
            NewerRecordError: the code is too old for a record.
            CorruptRecordError: a record does not read as what it says it is.
        """
        ...

    def batches(
        self, run_id: str, *, after: int = 0, until: int | None = None, size: int = 256
    ) -> AsyncGenerator[Records, None]:
        """Yield the records of a run in slices, letting the loop turn between them."""
        ...

    def read_batches(
        self, run_id: str, *, after: int = 0, until: int | None = None, size: int = 256
    ) -> Iterator[Records]:
        """Yield the records of a run in slices, for callers without a loop."""
        ...

    def follow(self, after_position: int = 0) -> AsyncGenerator[Record, None]:
        """Yield the records of all runs in order: those there are, then those that come, until closed."""
        ...

    async def head(self, run_id: str) -> Head | None:
        """Return where a run stands, or ``None`` if there is no such run."""
        ...

    async def get_index(self, run_id: str) -> IndexedRun | None:
        """Return a run's row in the index, or ``None`` if there is no such run."""
        ...

    async def find_key(self, key: str) -> str | None:
        """Return the id of the run that was started with ``key``."""
        ...

    async def list(self, filters: RunFilter = ..., *, limit: int = 100, cursor: str = "") -> RunPage:
        """Return runs, newest first."""
        ...

    async def streams(self, prefix: str) -> Sequence[str]:
        """Return the ids of the streams beside the runs that begin with ``prefix``, in order."""
        ...

    async def next_wake(self) -> float | None:
        """Return the earliest time an active run has to act by itself, in seconds since the epoch."""
        ...

    def frozen(self) -> AbstractContextManager[Reads | None]:
        """Return a view of one state, for reading many runs while others are appended to.

        Only a local store has one; of others it is ``None``. While it is kept, the log of the store grows.
        What was appended since is not seen: compare with :meth:`head`.
        """
        ...

    async def latest_snapshot(self, run_id: str) -> Snapshot | None:
        """Return the state of a run that was kept last; it may be some facts behind.

        ``None`` if there is none, if other code made it, or if the chain of the run no longer has the record
        that it was taken at.
        """
        ...

    async def pieces(self, run_id: str, digests: Sequence[str]) -> Sequence[bytes]:
        """Return pieces of a snapshot in the order they are asked for.

        Raises:
            CorruptSnapshotError: one is missing, or is not what it was.
        """
        ...

    async def keep_snapshot(self, snapshot: Snapshot, pieces: Mapping[str, bytes]) -> None:
        """Keep a state of a run in place of the one before, between commits of facts, a little at a time.

        Whatever goes wrong, or however often it is done again, no fact is touched.

        Args:
            snapshot: the state, made of what is durable.
            pieces: by digest, those of its pieces that the snapshot before has not.

        Raises:
            JournalError: it is not kept; the one before may be, or none.
        """
        ...

    def verify(self, run_id: str | None = None) -> Iterator[Problem]:
        """Recompute the hash chain of one run or of all; yield the first record of each that does not fit."""
        ...

    # ----------------------------------------------------------------------------------------- its own life

    def on_foreign(self, callback: Callable[[Sequence[str]], None]) -> None:
        """Call ``callback`` on the loop's thread with the ids of runs others have appended to."""
        ...

    def on_ownership_lost(self, callback: Callable[[JournalError], None]) -> None:
        """Call ``callback`` on the loop's thread once, if this engine no longer owns its store."""
        ...

    def close(self) -> None:
        """Write what is queued, end the writer, give up the store. May be called twice.

        Called on the loop's own thread, or where no loop runs.
        """
        ...

    async def aclose(self) -> None:
        """The same as :meth:`close`, without holding the loop."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
