"""What the journal asks of a database: everything here may block, and knows nothing of event loops."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from .chain import Head
from .commit import Pending, Result
from .errors import JournalError
from .index import IndexedRun, RunFilter, RunPage
from .snapshots import Keeping, Snapshot

Row = tuple[int, int, str, bytes]
"""Position, version, topic and state of a record."""

LogRow = tuple[int, str, int, str, bytes]
"""Position, run, version, topic and state of a record."""

Rows = list[Row]
LogRows = list[LogRow]
RunIds = list[str]


class Reader(Protocol):
    """Reads a store over one connection."""

    def rows(self, run_id: str, after: int, until: int | None, limit: int) -> Rows:
        """Return (position, version, topic, state) of records of a run, in order."""
        ...

    def log(self, after_position: int, limit: int) -> LogRows:
        """Return (position, run, version, topic, state) of records of all runs, in order."""
        ...

    def run_ids(self) -> RunIds:
        """Return the ids of all runs that have records, a head or a row in the index."""
        ...

    def head(self, run_id: str) -> Head | None:
        """Return where a run stands."""
        ...

    def get_index(self, run_id: str) -> IndexedRun | None:
        """Return a run's row in the index."""
        ...

    def index_row(self, run_id: str) -> tuple[Any, ...] | None:
        """Return a run's row in the index as it is stored, whether or not the run has a head."""
        ...

    def find_key(self, key: str) -> str | None:
        """Return the run that was started with a key."""
        ...

    def list(self, filters: RunFilter, limit: int, cursor: str) -> RunPage:
        """Return runs, newest first."""
        ...

    def streams(self, prefix: str) -> RunIds:
        """Return the ids of all streams that begin with a prefix, in order."""
        ...

    def next_wake(self) -> float | None:
        """Return the earliest time a run has to act by itself."""
        ...

    def snapshot_of(self, run_id: str) -> Snapshot | None:
        """Return the snapshot this very code made of a run; ``None`` if there is none."""
        ...

    def pieces(self, run_id: str, digests: Sequence[str]) -> dict[str, Any]:
        """Return pieces of a snapshot by their digests, as far as they are there."""
        ...


class ReadableBackend(Protocol):
    """A database that holds a store. The reader may be used from another thread than the rest."""

    @property
    def refusal(self) -> JournalError | None:
        """Why this backend takes no appends any more; ``None`` while it does."""
        ...

    @property
    def reader(self) -> Reader:
        """The reader for everyday use."""
        ...

    def snapshot(self) -> AbstractContextManager[Reader]:
        """Return a reader that sees one state of the store, whatever is appended meanwhile."""
        ...

    def close(self) -> None:
        """Close all connections and give up all locks."""
        ...


class Backend(ReadableBackend, Protocol):
    """A database that holds a store and takes appends, from one thread at a time."""

    def commit(self, batch: Sequence[Pending]) -> Sequence[Result]:
        """Write what fits in one transaction, and say what became of each, in order. Raises nothing."""
        ...

    def keep(self, keeping: Keeping) -> JournalError | None:
        """Write a part of a snapshot in a transaction of its own; return what went wrong. Raises nothing."""
        ...

    def poll(self) -> Sequence[str]:
        """Return the runs others have appended to since the last call. Raises nothing."""
        ...

    def refuse(self, error: JournalError) -> None:
        """Take no appends any more, for this reason if there is none yet."""
        ...

    def take_foreign(self) -> Sequence[str]:
        """Return the runs others have appended to, as far as noticed already."""
        ...
