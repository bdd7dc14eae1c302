"""What waits for people, and since when."""

from __future__ import annotations

import logging
from collections.abc import Iterable

import msgspec

from ..domain.evolve import evolve
from ..domain.run import Run
from ..domain.summary import Attention, attention, needs_attention
from ..store import IndexedRun, Journal, JournalError, Record, RunFilter

_log = logging.getLogger("midcourse.actors")
_SLICE = 128
"""Records folded between two turns of the loop: about a millisecond."""


class RunAttention(msgspec.Struct, frozen=True):
    """A run that waits for a person.

    Args:
        run: its row in the index.
        items: what it waits for, each with the time it began to wait.
    """

    run: IndexedRun
    items: tuple[Attention, ...]


class Waits:
    """Folds a run's records, and keeps in mind since when each thing waits for a person.

    Args:
        run_id: the run.
    """

    def __init__(self, run_id: str) -> None:
        self.run = Run(run_id)
        self._since: dict[tuple[str, str], float] = {}

    def take(self, records: Iterable[Record]) -> None:
        """Fold the next records."""
        run = self.run
        for record in records:
            evolve(run, record.fact)
            if needs_attention(run):
                before = self._since
                keys = ((item.kind, item.subject) for item in attention(run))
                self._since = {key: before.get(key, record.at) for key in keys}
            elif self._since:
                self._since = {}

    def items(self) -> tuple[Attention, ...]:
        """Return what waits now, the oldest first."""
        items = [
            msgspec.structs.replace(item, since=self._since.get((item.kind, item.subject)))
            for item in attention(self.run)
        ]
        return tuple(sorted(items, key=lambda item: item.since or 0.0))


async def list_attention(journal: Journal, *, limit: int) -> list[RunAttention]:
    """Return the runs that wait for a person, newest first, with what each waits for.

    A run whose facts cannot be read is left out, with a warning that names it.

    Args:
        journal: where they are.
        limit: how many at most.

    Raises:
        JournalError: the list cannot be read.
    """
    page = await journal.list(RunFilter(attention=True), limit=limit)
    found: list[RunAttention] = []
    for row in page.runs:
        try:
            waiting = await attention_of(journal, row)
        except JournalError as error:
            _log.warning("run %s waits for a person, and cannot be read: %s", row.run_id, error)
        else:
            found += [waiting] if waiting.items else []  # it may have been answered since the list was read
    return found


async def attention_of(journal: Journal, row: IndexedRun) -> RunAttention:
    """Return what a run waits for.

    Args:
        journal: where it is.
        row: its row in the index.

    Raises:
        JournalError: it cannot be read.
    """
    waits = Waits(row.run_id)
    async for batch in journal.batches(row.run_id, size=_SLICE):
        waits.take(batch)
    return RunAttention(row, waits.items())
