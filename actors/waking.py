"""What makes an engine take up a run that nobody asked for: its time has come, or others wrote to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from ..domain.messages import Advance, CatchUp
from ..store import FINAL_STATUSES, IndexedRun, Journal, JournalError, RunFilter
from ._pykka import Envelope
from .directory import Directory
from .errors import RunParkedError
from .outcome import outcome_of
from .timers import HORIZON_S

_PAGE = 100


class Waking:
    """Wakes the runs of a directory.

    Args:
        directory: the runs.
    """

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        directory.wake_ups.start(wake=self._wake, look_ahead=self._look_ahead)
        directory.journal.on_foreign(self._foreign)

    def _wake(self, run_id: str, at: float) -> None:
        directory = self._directory
        if not (directory.is_draining or directory.is_paused) and run_id not in directory.parked:
            # The time that was waited for has passed, even if the clock was set back meanwhile.
            directory.tell(run_id, Advance(at=max(at, directory.clock())))

    def _look_ahead(self, until: float) -> None:
        self._directory.spawn(self._hold_due(until), name="look ahead")

    def unpause(self) -> None:
        """Let everything go on that an engine left alone while it was paused."""
        directory = self._directory
        directory.unpause()
        directory.spawn(recover(directory), name="recover")
        self._look_ahead(directory.clock() + HORIZON_S)

    async def _hold_due(self, until: float) -> None:
        directory = self._directory
        async for run in pages(directory.journal, RunFilter(active=True, due_by=until)):
            if run.wake_at is not None and not directory.knows(run.run_id):
                directory.wake_ups.hold(run.run_id, run.wake_at)

    def _foreign(self, run_ids: Sequence[str]) -> None:
        directory = self._directory
        for run_id in run_ids:
            directory.watchers.move(run_id)
            reconciler = directory.active.get(run_id)
            if reconciler is not None:
                reconciler.is_behind = True
                reconciler.actor_inbox.put(Envelope(CatchUp(at=directory.clock())))
            elif run_id not in directory.parked and not directory.is_draining:
                directory.spawn(self._look_at(run_id), name=f"look at {run_id}")

    async def _look_at(self, run_id: str) -> None:
        """Take up a run that goes on, or tell those who wait for its end."""
        directory = self._directory
        index = await directory.journal.get_index(run_id)
        if index is None:
            return
        if index.status not in FINAL_STATUSES:
            if not directory.knows(run_id):
                directory.activate(run_id)
        elif run_id in directory.watchers.ended:
            try:
                outcome = outcome_of((await directory.loaded(run_id)).run)
            except JournalError as error:
                directory.watchers.fail(run_id, RunParkedError(run_id, error))
            else:
                directory.watchers.end(run_id, outcome)


async def recover(directory: Directory) -> None:
    """Take up the runs an earlier engine left in flight, a few at a time, while new ones are served.

    A run that only waits is left where it is: its wake-up time is in the index, and a signal takes it up.
    Those that wait for a person come last; a tool or planner that they were missing may be there again.
    """
    for statuses in (("planning", "running", "compensating"), ("attention",)):
        async for run in pages(directory.journal, RunFilter(statuses=statuses)):
            if directory.is_draining or directory.is_paused:
                return
            if not directory.knows(run.run_id):
                directory.activate(run.run_id)
                # The load has to ask for its place first; then wait behind it, so that no more queue up.
                await asyncio.sleep(0)
                async with directory.slots:
                    pass


async def pages(journal: Journal, filters: RunFilter) -> AsyncIterator[IndexedRun]:
    """Yield all runs that fit, newest first, letting the loop turn between pages."""
    cursor = ""
    while True:
        page = await journal.list(filters, limit=_PAGE, cursor=cursor)
        for run in page.runs:
            yield run
        cursor = page.cursor
        if not cursor:
            return
        await asyncio.sleep(0)
