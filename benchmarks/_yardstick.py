"""The yardstick: sqlite3 alone, writing the very rows a store holds, in the order they were written.

What a store of ours took is read back from its file (the tables, the records, the heads, the index), and
written to a new file by the plainest code there is: no actors, no threads, no hashes, no encoding; all
parameters are made before the clock starts. The benchmarks call it *raw*.
"""

from __future__ import annotations

import gc
import itertools
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from _bench import median, ratio

_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA wal_autocheckpoint = 4000",  # as the store has it
)
_MOST_ROWS = 256


class Unit(NamedTuple):
    """What belongs in one commit: the rows of one append, or of several.

    Args:
        records: rows of ``stored_events``.
        heads: rows of ``run_heads``.
        runs: rows of ``runs``, the index.
        topics: kinds of the facts.
    """

    records: list[tuple[Any, ...]]
    heads: list[tuple[Any, ...]]
    runs: list[tuple[Any, ...]]
    topics: tuple[str, ...]


class Written(NamedTuple):
    """What a store holds.

    Args:
        tables: the statements that made its tables.
        appends: what was written, one append after the other.
    """

    tables: list[str]
    appends: list[Unit]


class Timing(NamedTuple):
    """How long something took.

    Args:
        wall_s: on the wall clock, in seconds.
        cpu_s: of all threads, user and system, in seconds.
    """

    wall_s: float
    cpu_s: float


class Sides:
    """What ours, raw and grouped took for the same rows, round by round."""

    def __init__(self) -> None:
        self.ours: list[Timing] = []
        self.raw: list[Timing] = []
        self.grouped: list[Timing] = []

    def compare(self, folder: Path, ours: Timing, written: Written, commits: Sequence[Unit]) -> None:
        """Take in a round of ours, and have sqlite3 alone write the same commits, one by one and grouped."""
        self.ours.append(ours)
        self.raw.append(write(folder / "raw.db", written.tables, commits))
        self.grouped.append(write(folder / "grouped.db", written.tables, grouped(commits)))

    def values(self, what: str, count: int) -> dict[str, Any]:
        """Return the rates of ``count`` pieces of work, the ratios, and the CPU time of each piece."""
        named = {"": self.ours, "raw_": self.raw, "grouped_": self.grouped}
        walls = {name: [timing.wall_s for timing in side] for name, side in named.items()}
        cpus = {name: [timing.cpu_s for timing in side] for name, side in named.items()}
        return {
            what: count,
            f"{what}_per_s": median(count / wall for wall in walls[""]),
            "raw_per_s": median(count / wall for wall in walls["raw_"]),
            "grouped_per_s": median(count / wall for wall in walls["grouped_"]),
            "against_raw": ratio(walls["raw_"], walls[""]),
            "against_grouped": ratio(walls["grouped_"], walls[""]),
            **{f"{name}cpu_us": median(cpu / count * 1e6 for cpu in side) for name, side in cpus.items()},
            "cpu_against_raw": ratio(cpus[""], cpus["raw_"]),
            "cpu_against_grouped": ratio(cpus[""], cpus["grouped_"]),
            "each_per_s": [count / wall for wall in walls[""]],
            "each_raw_per_s": [count / wall for wall in walls["raw_"]],
        }


class _Stamp(msgspec.Struct):
    at: float
    prev: str


_stamp = msgspec.json.Decoder(_Stamp).decode


def read_back(path: Path) -> Written:
    """Read what a closed store holds.

    Facts recorded together are neighbours of one run and have one time. The head of a run after an append is
    what its next record holds as ``prev``. Its index row is written when it starts and when it ends.
    """
    connection = sqlite3.connect(path)
    try:
        tables = [sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")]
        rows = connection.execute(
            "SELECT originator_id, originator_version, topic, state FROM stored_events ORDER BY rowid"
        ).fetchall()
        heads = dict(connection.execute("SELECT run_id, hash FROM run_heads").fetchall())
        index = {row[0]: row for row in connection.execute("SELECT * FROM runs")}
    finally:
        connection.close()
    stamps = [_stamp(row[3]) for row in rows]
    previous = {(row[0], row[1]): stamp.prev for row, stamp in zip(rows, stamps, strict=True)}
    appends = []
    for (run_id, at), group in itertools.groupby(
        zip(rows, stamps, strict=True), key=lambda pair: (pair[0][0], pair[1].at)
    ):
        records = [row for row, _ in group]
        version, topics = records[-1][1], tuple(row[2] for row in records)
        head = (run_id, version, previous.get((run_id, version + 1), heads[run_id]), at)
        changed = "run_started" in topics or "run_completed" in topics
        appends.append(Unit(records, [head], [index[run_id]] if changed else [], topics))
    return Written(tables, appends)


def a_step_each(appends: Sequence[Unit]) -> list[Unit]:
    """Return one commit for each completed step; what starts a run travels with the step that follows."""
    commits: list[Unit] = []
    waiting: list[Unit] = []
    for append in appends:
        waiting.append(append)
        if "step_completed" in append.topics:
            commits.append(together(waiting))
            waiting = []
    return commits


def grouped(units: Sequence[Unit], size: int = 256) -> list[Unit]:
    """Return the same rows with ``size`` commits made one."""
    return [together(units[start : start + size]) for start in range(0, len(units), size)]


def together(units: Sequence[Unit]) -> Unit:
    """Return one commit of several."""
    return Unit(
        [row for unit in units for row in unit.records],
        [row for unit in units for row in unit.heads],
        [row for unit in units for row in unit.runs],
        tuple(topic for unit in units for topic in unit.topics),
    )


def write(path: Path, tables: Iterable[str], commits: Sequence[Unit]) -> Timing:
    """Write commits to a new file with sqlite3 alone."""
    return write_timed(path, tables, commits)[0]


def write_timed(path: Path, tables: Iterable[str], commits: Sequence[Unit]) -> tuple[Timing, list[float]]:
    """The same, with the moment after each commit, in seconds."""
    connection = sqlite3.connect(path, isolation_level=None, cached_statements=1024)
    try:
        for statement in (*_PRAGMAS, *tables):
            connection.execute(statement)
        columns = [row[1] for row in connection.execute("PRAGMA table_info(runs)")]
        prepared = [list(_statements(unit, columns)) for unit in commits]
        gc.collect()
        execute, clock, moments = connection.execute, time.perf_counter, []
        cpu, start = time.process_time(), clock()
        for statements in prepared:
            execute("BEGIN IMMEDIATE")
            for sql, parameters in statements:
                execute(sql, parameters)
            execute("COMMIT")
            moments.append(clock())
        timing = Timing(clock() - start, time.process_time() - cpu)
    finally:
        connection.close()
    return timing, moments


def _statements(unit: Unit, columns: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
    """Yield INSERTs of many rows each: no slower than a row at a time, and faster in large commits."""
    record_columns = ("originator_id", "originator_version", "topic", "state")
    yield from _inserts("stored_events", record_columns, unit.records, "")
    yield from _inserts("run_heads", ("run_id", "version", "hash", "updated"), unit.heads, "run_id")
    yield from _inserts("runs", columns, unit.runs, "run_id")


def _inserts(
    table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], key: str
) -> Iterator[tuple[str, list[Any]]]:
    update = ", ".join(f"{column} = excluded.{column}" for column in columns if column != key)
    conflict = f" ON CONFLICT ({key}) DO UPDATE SET {update}" if key else ""
    for start in range(0, len(rows), _MOST_ROWS):
        part = rows[start : start + _MOST_ROWS]
        row = f"({', '.join('?' * len(columns))})"
        values = ", ".join([row] * len(part))
        sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES {values}{conflict}"
        yield sql, [value for row_values in part for value in row_values]
