"""Who commits: a thread of its own, or the event loop itself for a store in memory."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Protocol

from .backend import Backend
from .commit import Pending, Result
from .errors import JournalFailedError

THREAD_NAME = "midcourse-journal"
POLL_S = 0.1
"""How often an idle writer looks for appends of others, in seconds."""

Report = Callable[[Sequence[tuple[Pending, Result]], Sequence[str]], None]
"""Takes, on the loop's thread, what became of appends, and the runs others have appended to."""


class Writer(Protocol):
    """Commits batches and reports on the loop's thread."""

    def put(self, batch: list[Pending]) -> None:
        """Take a batch over."""
        ...

    def stop(self) -> None:
        """End after what was put has been committed."""
        ...

    def join(self) -> None:
        """Block until it has ended."""
        ...

    async def ended(self) -> None:
        """Wait until it has ended."""
        ...


def commit(backend: Backend, batch: list[Pending]) -> list[tuple[Pending, Result]]:
    """Commit a batch; whatever happens, every append of it gets an answer."""
    results: Sequence[Result]
    try:
        results = backend.commit(batch)
    except Exception as error:  # noqa: BLE001 - an unanswered append would leave its run waiting for ever
        failed = JournalFailedError(f"the journal failed inside: {type(error).__name__}: {error}")
        failed.__cause__ = error
        results = [failed] * len(batch)
    return list(zip(batch, results, strict=True))


class ThreadWriter:
    """One thread that takes all appends waiting at a moment and commits them in one transaction.

    Args:
        backend: the database.
        loop: the event loop that is told.
        report: whom to tell there.
    """

    def __init__(self, backend: Backend, loop: asyncio.AbstractEventLoop, report: Report) -> None:
        self._backend = backend
        self._loop = loop
        self._report = report
        self._queue: SimpleQueue[list[Pending] | None] = SimpleQueue()
        self._ended = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name=THREAD_NAME, daemon=True)
        self._thread.start()

    def put(self, batch: list[Pending]) -> None:
        """Take a batch over."""
        self._queue.put(batch)

    def stop(self) -> None:
        """End after what was put has been committed."""
        self._queue.put(None)

    def join(self) -> None:
        """Block until it has ended."""
        self._thread.join()

    async def ended(self) -> None:
        """Wait until it has ended."""
        await self._ended.wait()
        self._thread.join()

    def _run(self) -> None:
        queue, backend = self._queue, self._backend
        stopping = False
        while not stopping:
            try:
                batch = queue.get(timeout=POLL_S)
            except Empty:
                if foreign := backend.poll():
                    self._tell((), foreign)
                elif backend.refusal is not None:
                    self._tell((), ())
                continue
            if batch is None:
                break
            while not queue.empty():
                more = queue.get()
                if more is None:
                    stopping = True
                else:
                    batch += more
            self._tell(commit(backend, batch), backend.take_foreign())
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._ended.set)

    def _tell(self, done: Sequence[tuple[Pending, Result]], foreign: Sequence[str]) -> None:
        # A loop that is closed has nobody left to tell; what is committed stays committed.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._report, done, foreign)


class LoopWriter:
    """Commits in the loop's next callback; for stores that never block."""

    def __init__(self, backend: Backend, loop: asyncio.AbstractEventLoop, report: Report) -> None:
        self._backend = backend
        self._loop = loop
        self._report = report
        self._waiting: list[Pending] = []

    def put(self, batch: list[Pending]) -> None:
        """Take a batch over."""
        if not self._waiting:
            self._loop.call_soon(self._commit)
        self._waiting += batch

    def _commit(self) -> None:
        batch, self._waiting = self._waiting, []
        if batch:
            self._report(commit(self._backend, batch), self._backend.take_foreign())

    def stop(self) -> None:
        """End after what was put has been committed."""
        self._commit()

    def join(self) -> None:
        """Block until it has ended."""

    async def ended(self) -> None:
        """Wait until it has ended."""
