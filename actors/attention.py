"""The runs that wait for a person, with what they wait for."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable

import msgspec

from ..domain.summary import Attention, attention
from ..store import IndexedRun, JournalError
from .directory import Directory

_log = logging.getLogger("midcourse.actors")


class RunAttention(msgspec.Struct, frozen=True):
    """A run that waits for a person.

    Args:
        run: its row in the index.
        items: what it waits for.
    """

    run: IndexedRun
    items: tuple[Attention, ...]


async def waiting(directory: Directory, runs: Iterable[IndexedRun]) -> AsyncIterator[RunAttention]:
    """Yield what runs wait for; one that cannot be read is left out, with a warning that names it."""
    for run in runs:
        try:
            items = attention((await directory.loaded(run.run_id)).run)
        except JournalError as error:
            _log.warning("run %s waits for a person, and cannot be read: %s", run.run_id, error)
        else:
            yield RunAttention(run, tuple(items))
