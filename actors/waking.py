"""What makes an engine take up a run that nobody asked for: its time has come, or others wrote to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from ..domain.messages import Advance, CatchUp
from ..store import FINAL_STATUSES, IndexedRun, Journal, JournalError, Reads, RunFilter
from ._pykka import Envelope
from .directory import Directory
from .errors import RunParkedError
from .loading import SLICE, Loaded, load
from .outcome import outcome_of
from .timers import HORIZON_S

_PAGE = 100

_FOLDED_AT_ONCE = SLICE // 2
"""Records of short runs that are folded between two turns of the loop; the last run may have a slice more."""


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
        if directory.places.is_waiting(run_id):
            return
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
        cursor = ""
        while True:
            with directory.journal.frozen() as view:
                reads = view or directory.journal
                page = await reads.list(RunFilter(statuses=statuses), limit=_PAGE, cursor=cursor)
                await asyncio.sleep(0)
                if not await _take_up(directory, view, page.runs):
                    return
            cursor = page.cursor
            if not cursor:
                break


async def _take_up(directory: Directory, view: Reads | None, runs: Sequence[IndexedRun]) -> bool:
    """Take up the runs of a page; return whether there may be more."""
    folded = 0
    for run in runs:
        if directory.knows(run.run_id):
            continue
        loaded = None if view is None else await _read(directory, view, run.run_id)
        if directory.is_draining or directory.is_paused:
            return False
        if directory.knows(run.run_id):
            continue
        if loaded is None:
            directory.activate(run.run_id)
            # The load has to ask for its place first; then wait behind it, so that no more queue up.
            await asyncio.sleep(0)
            async with directory.slots:
                continue
        if directory.places.admit(loaded.run):
            await _activate(directory, loaded)
        folded += run.version
        if folded >= _FOLDED_AT_ONCE:
            folded = 0
            await asyncio.sleep(0)
    return True


async def _activate(directory: Directory, loaded: Loaded) -> None:
    """Take up a run as a view has it, or have it read anew if others have written to it since.

    Their writing may have been noticed while nobody knew the run; once it is active, no more goes unnoticed.
    """
    run_id, version = loaded.run.id, loaded.run.version
    reconciler = directory.activate(run_id, loaded)
    head = await directory.journal.head(run_id)
    if head is None or head.version != version:
        reconciler.is_behind = True


async def _read(directory: Directory, view: Reads, run_id: str) -> Loaded | None:
    """Fold a run; one that cannot be read is left to its reconciler, which says what is wrong with it."""
    async with directory.slots:
        try:
            return await load(view, run_id)
        except Exception:  # noqa: BLE001 - a boundary: what cannot be read ends no other run
            return None


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
