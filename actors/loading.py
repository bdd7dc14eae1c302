"""Runs out of the journal: folded in slices, so that the host's loop has its turns in between."""

from __future__ import annotations

from typing import NamedTuple

from ..domain.evolve import evolve
from ..domain.run import Run
from ..store import GENESIS, Journal, RunIndex

_SLICE = 128
"""Records read, decoded and folded between two turns of the loop: about a millisecond."""


class Loaded(NamedTuple):
    """A run as its facts have it.

    Attributes:
        run: the state.
        hash: hash of the last record.
        index: its row in the index.
    """

    run: Run
    hash: str
    index: RunIndex


async def load(journal: Journal, run_id: str, *, until: int | None = None) -> Loaded | None:
    """Fold a run; return ``None`` if there is no such run.

    Args:
        journal: where its facts are.
        run_id: the run.
        until: version of the last fact to take in; ``None`` for all.

    Raises:
        JournalError: a record cannot be read.
    """
    run, hash_ = Run(run_id), GENESIS
    async for batch in journal.batches(run_id, until=until, size=_SLICE):
        for record in batch:
            evolve(run, record.fact)
        hash_ = batch[-1].hash
    index = await journal.get_index(run_id)
    if index is None or not run.version:
        return None
    return Loaded(run, hash_, index)
