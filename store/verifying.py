"""Verifying a run: its chain, its head and its row in the index have to agree that it exists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from .backend import Reader
from .chain import Problem, check_chain
from .codec import decode
from .errors import CorruptRecordError, JournalFailedError, NewerRecordError
from .index import COLUMNS
from .streams import is_run

_SLICE = 256

_TYPES: tuple[Any, ...] = (str, str, float, str, str, str, float | None, int, float | None, str)
"""Of :data:`COLUMNS`."""


def check_run(run_id: str, reader: Reader) -> Problem | None:
    """Return the first thing of a run that does not fit, or ``None`` if all does."""
    is_text: bool = isinstance(run_id, str)  # SQLite stores any type in any column
    if not is_text:
        return Problem(repr(run_id), 0, "has an id that is not a text: it was written from outside")
    try:
        return _check(run_id, reader)
    except JournalFailedError as error:
        return Problem(run_id, 0, f"cannot be read: {error}")


def _check(run_id: str, reader: Reader) -> Problem | None:
    unreadable: list[Problem] = []
    head, row = reader.head(run_id), reader.index_row(run_id)
    rows = _noting_unreadable(run_id, _all_rows(reader, run_id), unreadable)
    problem = check_chain(run_id, rows, head)
    if problem is not None and problem.version == 0 and row is not None and head is None:
        return Problem(
            run_id, 0, "is missing with all others: the index knows this run, the table of heads does not"
        )
    if problem is not None or unreadable:
        return problem or unreadable[0]
    return _check_index(run_id, row)


def _check_index(run_id: str, row: Sequence[Any] | None) -> Problem | None:
    """Return what is wrong with a run's row in the index."""
    if row is None and not is_run(run_id):
        return None
    if row is None:
        return Problem(run_id, 0, "is not in the index: engines and lists do not know this run")
    for name, value, type_ in zip(COLUMNS, row, _TYPES, strict=True):
        try:
            msgspec.convert(value, type_)
            if name == "tags":
                msgspec.json.decode(value, type=dict[str, str])
        except (msgspec.MsgspecError, RecursionError) as error:
            return Problem(run_id, 0, f"has a damaged row in the index: {name} is {value!r} ({error})")
    return None


def _noting_unreadable(
    run_id: str, rows: Iterator[tuple[int, str, bytes]], unreadable: list[Problem]
) -> Iterator[tuple[int, str, bytes]]:
    """Pass rows on, and note the records that fit the chain or not, but hold no fact.

    A record of a newer version is no problem: it is as it was written.
    """
    for version, topic, state in rows:
        try:
            decode(run_id, version, topic, state)
        except NewerRecordError:
            pass
        except CorruptRecordError as error:
            unreadable.append(Problem(run_id, version, f"does not read: {error.what}"))
        yield version, topic, state


def _all_rows(reader: Reader, run_id: str) -> Iterator[tuple[int, str, bytes]]:
    after = 0
    while rows := reader.rows(run_id, after, None, _SLICE):
        for _, version, topic, state in rows:
            yield version, topic, state
            after = version
