"""The index of runs: what lists and timers need to know without folding facts.

A row is written in the same transaction as the facts that changed it, and only when one of its fields
changed. Where a run stands (version, hash, time of its last fact) changes with every append and is kept in
a narrow table beside it.
"""

from __future__ import annotations

# ruff: noqa: S608 - queries are made of constants, values are parameters
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

FINAL_STATUSES = ("completed", "failed", "cancelled")
"""The statuses a run never leaves."""


class RunIndex(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """What is known of a run without reading it.

    Args:
        run_id: the run.
        status: what it is doing.
        created: when it was started, in seconds since the epoch.
        goal: the text of its goal.
        key: the idempotency key it was started with; empty for none.
        planner: name of its planner.
        wake_at: when it next has to act by itself, in seconds since the epoch.
        attention: how many things in it wait for a person.
        attention_since: since when the oldest of them waits.
        tags: free names and values.
    """

    run_id: str
    status: str
    created: float
    goal: str = ""
    key: str = ""
    planner: str = ""
    wake_at: float | None = None
    attention: int = 0
    attention_since: float | None = None
    tags: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])


class IndexedRun(RunIndex, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """A row of the index with where the run stands.

    Args:
        version: version of its last record.
        hash: hash of its last record.
        updated: time of its last record, in seconds since the epoch.
    """

    version: int
    hash: str
    updated: float


class RunFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs to list; every condition given must hold.

    Args:
        statuses: one of these statuses; empty for any.
        active: only runs that have not ended.
        attention: only runs that wait for a person.
        key: the idempotency key.
        tags: each of these tags has this value.
        text: contained in the goal, upper and lower case alike for ASCII letters.
        created_from: started at or after, in seconds since the epoch.
        created_until: started before, in seconds since the epoch.
        due_by: has to act by itself at or before, in seconds since the epoch.
    """

    statuses: tuple[str, ...] = ()
    active: bool = False
    attention: bool = False
    key: str = ""
    tags: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    text: str = ""
    created_from: float | None = None
    created_until: float | None = None
    due_by: float | None = None


class RunPage(msgspec.Struct, frozen=True):
    """Runs, newest first, and where the next page begins.

    Args:
        runs: at most as many as asked for.
        cursor: hand it to the next call; empty on the last page.
    """

    runs: Sequence[IndexedRun]
    cursor: str = ""


COLUMNS = (
    "run_id",
    "status",
    "created",
    "goal",
    "run_key",
    "planner",
    "wake_at",
    "attention",
    "attention_since",
    "tags",
)
"""Columns of the table ``runs``, in the order of :func:`to_row`."""

FIXED_COLUMNS = ("run_id", "created", "run_key")
"""Columns written once, at the start of a run."""

IS_ACTIVE = "status NOT IN ({})".format(", ".join(f"'{status}'" for status in FINAL_STATUSES))
"""Spelt the same in the partial index and in queries, so that the one serves the other."""

_NUMBERS = {
    "created": "DOUBLE PRECISION",
    "wake_at": "DOUBLE PRECISION",
    "attention": "BIGINT",
    "attention_since": "DOUBLE PRECISION",
}

SELECT = (
    "SELECT "
    + ", ".join(
        f"CAST(r.{each} AS {_NUMBERS[each]})" if each in _NUMBERS else f"r.{each}" for each in COLUMNS
    )
    + ", CAST(h.version AS BIGINT), h.hash, CAST(h.updated AS DOUBLE PRECISION)"
    " FROM runs r JOIN run_heads h ON h.run_id = r.run_id"
)
"""Numbers are cast because SQLite keeps a text in their place: one bad row must not hide the others."""


def to_row(index: RunIndex) -> tuple[Any, ...]:
    """Return the values of the columns."""
    return (
        index.run_id,
        index.status,
        index.created,
        index.goal,
        index.key,
        index.planner,
        index.wake_at,
        index.attention,
        index.attention_since,
        msgspec.json.encode(index.tags).decode(),
    )


def from_row(row: Sequence[Any]) -> IndexedRun:
    """Return a row of :data:`SELECT` as a value."""
    run_id, status, created, goal, key, planner, wake_at, attention, since, tags, version, hash_, updated = (
        row
    )
    return IndexedRun(
        run_id=run_id,
        status=status,
        created=created,
        goal=goal,
        key=key,
        planner=planner,
        wake_at=wake_at,
        attention=attention,
        attention_since=since,
        tags=_tags(tags),
        version=version,
        hash=hash_,
        updated=updated,
    )


_read_tags = msgspec.json.Decoder(dict[str, str]).decode


def _tags(text: str) -> dict[str, str]:
    """Return tags; a row with others than texts is shown all the same, so that it hides no other run."""
    try:
        return _read_tags(text)
    except msgspec.MsgspecError:
        return {"unreadable": str(text)}


class Dialect(msgspec.Struct, frozen=True):
    """Where SQLite and PostgreSQL differ in the queries of the index.

    Args:
        parameter: the placeholder.
        position: the column with a record's place among all.
        state: a record's bytes, whatever type somebody stored in their place.
        tag: the value of the tag named by a parameter.
        contains: true if the goal contains a parameter.
        plain_id: an id that is compared character by character.
        blob: the type of a column of bytes.
        has_table: counts the tables of the name given by a parameter.
    """

    parameter: str
    position: str
    state: str
    tag: str
    contains: str
    plain_id: str
    blob: str
    has_table: str


SQLITE = Dialect(
    "?",
    "rowid",
    "CAST(ifnull(state, '') AS BLOB)",
    "(SELECT t.value FROM json_each(r.tags) t WHERE t.key = ?)",
    "instr(lower(r.goal), lower(?)) > 0",
    "run_id",
    "BLOB",
    "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?",
)
POSTGRES = Dialect(
    "%s",
    "notification_id",
    "state",
    "(r.tags::json ->> %s)",
    "strpos(lower(r.goal), lower(%s)) > 0",
    'run_id COLLATE "C"',
    "bytea",
    "SELECT count(to_regclass(%s))",
)


def where(filters: RunFilter, cursor: str, dialect: Dialect) -> tuple[str, list[Any]]:
    """Return the condition of a list query and its parameters; ``cursor`` ends the page before."""
    p = dialect.parameter
    conditions: list[tuple[str, list[Any]]] = []
    if cursor:
        conditions.append((f"r.run_id < {p}", [cursor]))
    if filters.statuses:
        conditions.append((f"r.status IN ({', '.join([p] * len(filters.statuses))})", [*filters.statuses]))
    if filters.active:
        conditions.append((f"r.{IS_ACTIVE}", []))
    if filters.attention:
        conditions.append(("r.attention > 0", []))
    if filters.key:
        conditions.append((f"r.run_key = {p} AND r.run_key <> ''", [filters.key]))
    conditions += [(f"{dialect.tag} = {p}", [name, value]) for name, value in filters.tags.items()]
    if filters.text:
        conditions.append((dialect.contains, [filters.text]))
    if filters.created_from is not None:
        conditions.append((f"r.created >= {p}", [filters.created_from]))
    if filters.created_until is not None:
        conditions.append((f"r.created < {p}", [filters.created_until]))
    if filters.due_by is not None:
        conditions.append((f"r.wake_at IS NOT NULL AND r.wake_at <= {p}", [filters.due_by]))
    text = " AND ".join(condition for condition, _ in conditions) or "1 = 1"
    return text, [parameter for _, parameters in conditions for parameter in parameters]
