"""Runs out of the journal: folded in slices, so that the host's loop has its turns in between."""

from __future__ import annotations

import asyncio
import logging
from typing import NamedTuple

from ..domain.evolve import evolve
from ..domain.run import Run
from ..domain.snapshot import SnapshotError, Unpacking
from ..store import GENESIS, Journal, JournalError, Reads, RunIndex, Snapshot

_log = logging.getLogger("midcourse.actors")

SLICE = 128
"""Records read, decoded and folded between two turns of the loop: about a millisecond."""

LONG = 2_000
"""Facts that are folded in less time than a snapshot of them is worth."""

_PIECES = 8
"""Pieces of a snapshot that are read at once; each is put in place by itself."""


class Loaded(NamedTuple):
    """A run as its facts have it.

    Attributes:
        run: the state.
        hash: hash of the last record.
        row: its row in the index.
        snapshot: what it was opened with, where that was not its facts alone.
    """

    run: Run
    hash: str
    row: RunIndex
    snapshot: Snapshot | None = None


async def load(journal: Reads, run_id: str, *, until: int | None = None) -> Loaded | None:
    """Fold a run; return ``None`` if there is no such run.

    A long run is opened with its snapshot, if it has a good one; as it was at a time, it is folded from its
    first fact.

    Args:
        journal: where its facts are; the journal or a view of it.
        run_id: the run.
        until: version of the last fact to take in; ``None`` for all.

    Raises:
        JournalError: a record cannot be read.
    """
    head = await journal.head(run_id)
    opened = None
    if head is not None and head.version >= LONG and until is None:
        opened = await _open(journal, run_id)
    run, snapshot = opened or (Run(run_id), None)
    hash_ = await _fold(journal, run, GENESIS if snapshot is None else snapshot.hash, until)
    row = await journal.get_index(run_id)
    if row is None or not run.version:
        return None
    return Loaded(run, hash_, row, snapshot)


async def _open(journal: Reads, run_id: str) -> tuple[Run, Snapshot] | None:
    """Return the state that a run's snapshot has; ``None`` if there is no good one."""
    try:
        snapshot = await journal.latest_snapshot(run_id)
        if snapshot is None:
            return None
        unpacking = Unpacking(run_id)
        for start in range(0, len(snapshot.pieces), _PIECES):
            for piece in await journal.pieces(run_id, snapshot.pieces[start : start + _PIECES]):
                unpacking.put(piece)
                await asyncio.sleep(0)
    except (JournalError, SnapshotError) as error:
        _log.warning("run %s is opened without its snapshot, from its first fact: %s", run_id, error)
        return None
    return unpacking.run, snapshot


async def catch_up(journal: Journal, known: Loaded) -> Loaded:
    """Take in what was appended to a run since it was read; its state is changed.

    Args:
        journal: where its facts are.
        known: the run as it was, with nothing in its state that is not durable.

    Raises:
        JournalError: a record cannot be read.
    """
    hash_ = await _fold(journal, known.run, known.hash, None)
    return Loaded(known.run, hash_, await journal.get_index(known.run.id) or known.row)


async def load_or_error(
    journal: Journal, run_id: str, known: Loaded | None = None
) -> Loaded | Exception | None:
    """Fold a run, or what is new since ``known``; return the error that keeps it from being read."""
    try:
        return await (load(journal, run_id) if known is None else catch_up(journal, known))
    except Exception as error:  # noqa: BLE001 - a boundary: what cannot be read ends no other run
        return error


async def load_newest(journal: Journal, run_id: str) -> Loaded | None:
    """Fold a run that may be moving: what came while it was folded is taken in, too.

    Raises:
        JournalError: a record cannot be read.
    """
    loaded = await load(journal, run_id)
    if loaded is None:
        return None
    run, hash_, row, _ = loaded
    while True:
        version = run.version
        hash_ = await _fold(journal, run, hash_, None)
        if run.version == version:
            return Loaded(run, hash_, row)
        row = await journal.get_index(run_id) or row


async def _fold(journal: Reads, run: Run, hash_: str, until: int | None) -> str:
    async for batch in journal.batches(run.id, after=run.version, until=until, size=SLICE):
        for record in batch:
            evolve(run, record.fact)
        hash_ = batch[-1].hash
    return hash_
