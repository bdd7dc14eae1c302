"""The queries of a store, in the SQL that SQLite and PostgreSQL share."""

from __future__ import annotations

# ruff: noqa: S608 - queries are made of constants, values are parameters
import sys
from collections.abc import Callable, Sequence
from typing import Any

from .backend import LogRows, Rows, RunIds
from .chain import Head
from .errors import UnencodableError
from .index import COLUMNS, SELECT, Dialect, IndexedRun, RunFilter, RunPage, from_row, where
from .snapshots import Snapshot, read_snapshot

Fetch = Callable[[str, Sequence[Any]], list[Any]]
"""Runs a query and returns all its rows as tuples."""

_NO_END = sys.maxsize


class SqlReader:
    """Reads a store over one connection.

    Rows are fetched in one call and as plain tuples: other threads get the interpreter between any two
    rows, so the fewer Python calls a row takes, the less a busy thread slows reading down.

    Args:
        fetch: runs a query.
        dialect: how the database spells what differs.
    """

    def __init__(self, fetch: Fetch, dialect: Dialect) -> None:
        self._fetch = fetch
        self._dialect = dialect
        p, position, state = dialect.parameter, dialect.position, dialect.state
        self._rows = (
            f"SELECT {position}, originator_version, topic, {state} FROM stored_events"
            f" WHERE originator_id = {p} AND originator_version > {p} AND originator_version <= {p}"
            f" ORDER BY originator_version LIMIT {p}"
        )
        self._log = (
            f"SELECT {position}, originator_id, originator_version, topic, {state} FROM stored_events"
            f" WHERE {position} > {p} ORDER BY {position} LIMIT {p}"
        )
        self._head = f"SELECT version, hash, updated FROM run_heads WHERE run_id = {p}"
        self._get_index = f"{SELECT} WHERE r.run_id = {p}"
        self._index_row = f"SELECT {', '.join(COLUMNS)} FROM runs WHERE run_id = {p}"
        plain = dialect.plain_id
        self._streams = (
            f"SELECT run_id FROM run_heads WHERE {plain} >= {p} AND {plain} < {p} ORDER BY {plain}"
        )
        self._find_key = f"SELECT run_id FROM runs WHERE run_key = {p} AND run_key <> ''"

    def rows(self, run_id: str, after: int, until: int | None, limit: int) -> Rows:
        """Return (position, version, topic, state) of records of a run, in order."""
        return self._fetch(self._rows, (run_id, after, _NO_END if until is None else until, limit))

    def log(self, after_position: int, limit: int) -> LogRows:
        """Return (position, run, version, topic, state) of records of all runs, in order."""
        return self._fetch(self._log, (after_position, limit))

    def run_ids(self) -> RunIds:
        """Return the ids of all runs that have records, a head or a row in the index."""
        query = (
            "SELECT run_id FROM run_heads UNION SELECT originator_id FROM stored_events"
            " UNION SELECT run_id FROM runs ORDER BY 1"
        )
        return [run_id for (run_id,) in self._fetch(query, ())]

    def head(self, run_id: str) -> Head | None:
        """Return where a run stands."""
        rows = self._fetch(self._head, (run_id,))
        return Head(*rows[0]) if rows else None

    def get_index(self, run_id: str) -> IndexedRun | None:
        """Return a run's row in the index."""
        rows = self._fetch(self._get_index, (run_id,))
        return from_row(rows[0]) if rows else None

    def index_row(self, run_id: str) -> tuple[Any, ...] | None:
        """Return a run's row in the index as it is stored, whether or not the run has a head."""
        rows = self._fetch(self._index_row, (run_id,))
        return rows[0] if rows else None

    def find_key(self, key: str) -> str | None:
        """Return the run that was started with a key."""
        try:
            key.encode()
        except UnicodeEncodeError as error:
            raise UnencodableError("RunIndex", "key", str(error)) from error
        rows = self._fetch(self._find_key, (key,))
        return rows[0][0] if rows else None

    def list(self, filters: RunFilter, limit: int, cursor: str) -> RunPage:
        """Return runs, newest first."""
        condition, parameters = where(filters, cursor, self._dialect)
        query = f"{SELECT} WHERE {condition} ORDER BY r.run_id DESC LIMIT {self._dialect.parameter}"
        runs = [from_row(row) for row in self._fetch(query, (*parameters, limit + 1))]
        more = len(runs) > limit
        return RunPage(runs[:limit], runs[limit - 1].run_id if more else "")

    def streams(self, prefix: str) -> RunIds:
        """Return the ids of all streams that begin with a prefix, in order."""
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        return [stream for (stream,) in self._fetch(self._streams, (prefix, end))]

    def next_wake(self) -> float | None:
        """Return the earliest time a run has to act by itself."""
        query = "SELECT CAST(min(wake_at) AS DOUBLE PRECISION) FROM runs WHERE wake_at IS NOT NULL"
        wake_at: float | None = self._fetch(query, ())[0][0]
        return wake_at

    def snapshot_of(self, run_id: str) -> Snapshot | None:
        """Return the snapshot this very code made of a run; ``None`` if there is none."""
        if not self._fetch(self._dialect.has_table, ("snapshots",))[0][0]:
            return None
        p = self._dialect.parameter
        query = f"SELECT version, hash, pieces, seal FROM snapshots WHERE run_id = {p}"
        rows = self._fetch(query, (run_id,))
        return read_snapshot(run_id, rows[0]) if rows else None

    def pieces(self, run_id: str, digests: Sequence[str]) -> dict[str, Any]:
        """Return pieces of a snapshot by their digests, as far as they are there."""
        p = self._dialect.parameter
        places = ", ".join([p] * len(digests))
        query = f"SELECT digest, body FROM snapshot_pieces WHERE run_id = {p} AND digest IN ({places})"
        return dict(self._fetch(query, (run_id, *digests)))
