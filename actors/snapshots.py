"""Snapshots of long runs: made in the background of what the journal has, where they pay.

A snapshot is made from durable facts alone, from the one before and what came since, beside the run and never
out of the state in its hands, which runs ahead of the journal. So it is in nobody's way: it takes slices of
the loop, one run at a time and with a rest after each, and its pieces are written between commits of facts.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Final

from ..domain.snapshot import SnapshotError, pack
from ..store import Journal, Snapshot, digest_of
from .loading import LONG, load

_log = logging.getLogger("midcourse.actors")

AT_WORK: Final = 8_000
"""Facts that a run which is at work appends at least between two snapshots: folding them takes 60 ms."""

REST: Final = 19
"""How much longer than making a snapshot the rest after it is: all together take a twentieth of the time."""

CLOSING_S: Final = 2.0
"""How long an engine that closes goes on making snapshots, in seconds."""


def due_after(version: int) -> int:
    """Return when a run that is at work has its next snapshot: each costs as much as the run is long."""
    return version + max(AT_WORK, version // 2)


def is_worth(version: int, kept: int) -> bool:
    """Whether a run that rests deserves a new snapshot: it may be opened many times, or stay as it is."""
    return version - kept >= max(LONG, version // 16)


class Snapshots:
    """Makes the snapshots of an engine.

    Args:
        journal: the store.
        spawn: runs work in a task that somebody owns.
    """

    def __init__(self, journal: Journal, spawn: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        self._journal = journal
        self._spawn = spawn
        self._wanted: dict[str, None] = {}
        self._without: set[str] = set()
        self._one_at_a_time = asyncio.Lock()
        self._is_working = False

    def ask(self, run_id: str, version: int) -> int:
        """Have a snapshot made if one is due; return the version at which to ask again."""
        if run_id not in self._without:
            self._wanted[run_id] = None
        if self._wanted and not self._is_working:
            self._is_working = True
            self._spawn(self._work())
        return due_after(version)

    async def finish(self, run_ids: Iterable[str]) -> None:
        """Make the snapshots of runs that rest because their engine closes, for a while."""
        self._wanted |= dict.fromkeys(run_ids)
        try:
            async with asyncio.timeout(CLOSING_S):
                await self._make_next()  # which waits for the one that is being made
                while self._wanted:
                    await self._make_next()
        except TimeoutError:
            _log.info("the engine closes without looking at %d runs for their snapshots", len(self._wanted))

    async def _work(self) -> None:
        time = asyncio.get_running_loop().time
        try:
            while self._wanted:
                start = time()
                await self._make_next()
                await asyncio.sleep(REST * (time() - start))
        finally:
            self._is_working = False

    async def _make_next(self) -> None:
        async with self._one_at_a_time:
            if self._wanted:
                run_id = next(iter(self._wanted))
                del self._wanted[run_id]
                await self._make(run_id)

    async def _make(self, run_id: str) -> None:
        try:
            await make_snapshot(self._journal, run_id)
        except SnapshotError as error:
            self._without.add(run_id)
            _log.warning("run %s has no snapshots, and takes longer to open: %s", run_id, error)
        except Exception as error:  # noqa: BLE001 - a boundary: a run goes on without a snapshot
            _log.warning("run %s has no new snapshot, and takes longer to open: %s", run_id, error)


async def make_snapshot(journal: Journal, run_id: str) -> Snapshot | None:
    """Keep the state of a run as its facts have it; return ``None`` where it would not pay.

    Raises:
        JournalError: it could not be written.
        SnapshotError: the state holds something that has no bytes.
    """
    head = await journal.head(run_id)
    before = await journal.latest_snapshot(run_id)
    if head is None or not is_worth(head.version, 0 if before is None else before.version):
        return None
    loaded = await load(journal, run_id)
    if loaded is None:
        return None
    known = frozenset(() if loaded.snapshot is None else loaded.snapshot.pieces)
    digests: list[str] = []
    new: dict[str, bytes] = {}
    for piece in pack(loaded.run):
        digest = digest_of(piece)
        digests.append(digest)
        if digest not in known:
            new[digest] = piece
        await asyncio.sleep(0)
    snapshot = Snapshot(run_id, loaded.run.version, loaded.hash, tuple(digests))
    await journal.keep_snapshot(snapshot, new)
    return snapshot
