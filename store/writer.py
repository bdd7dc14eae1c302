"""Who commits: one thread, which takes all appends that wait."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Protocol

from .backend import Backend
from .commit import Pending, Result
from .doorbell import Doorbell
from .errors import JournalFailedError

THREAD_NAME = "midcourse-journal"
POLL_S = 0.1
"""How often an idle writer looks for appends of others, in seconds."""

Report = Callable[[Sequence[tuple[Pending, Result]], Sequence[str]], None]
"""Takes, on the loop's thread, what became of appends, and the runs others have appended to."""


Aside = Callable[[Backend], Callable[[], None]]
"""Something else to write, between two batches; returns what is then called on the loop's thread."""


class Writer(Protocol):
    """Commits batches and reports on the loop's thread."""

    def put_aside(self, aside: Aside) -> None:
        """Take over what may wait for the batches that are there already. It raises nothing."""
        ...

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
    try:
        return list(zip(batch, backend.commit(batch), strict=True))
    except Exception as error:  # noqa: BLE001 - an unanswered append would leave its run waiting for ever
        failed = _failed_inside(error)
        return [(pending, failed) for pending in batch]


def poll(backend: Backend) -> Sequence[str]:
    """Return the runs others have appended to; a backend that cannot tell takes no appends any more."""
    try:
        return backend.poll()
    except Exception as error:  # noqa: BLE001 - a thread that ends here would leave all appends unanswered
        backend.refuse(_failed_inside(error))
        return ()


def _failed_inside(error: Exception) -> JournalFailedError:
    failed = JournalFailedError(
        f"the journal failed inside: {type(error).__name__}: {error}. "
        "Whether the last facts were recorded is not known: check the disk, then open the store again"
    )
    failed.__cause__ = error
    return failed


MakeWriter = Callable[[Backend, asyncio.AbstractEventLoop, Report], Writer]


class ThreadWriter:
    """One thread that takes all appends waiting at a moment and commits them in one transaction.

    Args:
        backend: the database.
        loop: the event loop that is told.
        report: whom to tell there.
    """

    def __init__(self, backend: Backend, loop: asyncio.AbstractEventLoop, report: Report) -> None:
        self._backend = backend
        self._report = report
        self._queue: SimpleQueue[list[Pending] | Aside | None] = SimpleQueue()
        self._asides: deque[Aside] = deque()
        self._loop = loop
        self._told: deque[
            tuple[Sequence[tuple[Pending, Result]], Sequence[str]] | Callable[[], None] | None
        ] = deque()
        self._ended = asyncio.Event()
        self._doorbell = Doorbell(loop, self._answer)
        self._thread = threading.Thread(target=self._run, name=THREAD_NAME, daemon=True)
        self._thread.start()

    def put(self, batch: list[Pending]) -> None:
        """Take a batch over."""
        self._queue.put(batch)

    def put_aside(self, aside: Aside) -> None:
        """Take over what may wait for the batches that are there already."""
        self._queue.put(aside)

    def stop(self) -> None:
        """End after what was put has been committed."""
        self._queue.put(None)

    def join(self) -> None:
        """Block until it has ended; if the loop is still there, report what it did."""
        self._thread.join()
        if self._loop.is_running():
            self._answer()
        self._doorbell.close()

    async def ended(self) -> None:
        """Wait until it has ended."""
        await self._ended.wait()

    def _run(self) -> None:
        backend, get = self._backend, self._queue.get
        stopping = False
        while not stopping:
            try:
                batch = get(timeout=POLL_S)
            except Empty:
                foreign = poll(backend)
                if foreign or backend.refusal is not None:
                    self._tell((), foreign)
                continue
            if batch is None:
                break
            if isinstance(batch, list):
                stopping = self._take_more(batch)
                self._tell(commit(backend, batch), backend.take_foreign())
            else:
                self._asides.append(batch)
            while self._asides:
                self._told.append(self._asides.popleft()(backend))
                self._doorbell.ring()
        self._told.append(None)
        self._doorbell.ring()

    def _take_more(self, batch: list[Pending]) -> bool:
        """Add what else is waiting; return whether to stop after it."""
        while not self._queue.empty():
            more = self._queue.get()
            if more is None:
                return True
            if isinstance(more, list):
                batch += more
            else:
                self._asides.append(more)
        return False

    def _tell(self, done: Sequence[tuple[Pending, Result]], foreign: Sequence[str]) -> None:
        self._told.append((done, foreign))
        self._doorbell.ring()

    def _answer(self) -> None:
        """Report, on the loop's thread."""
        told = self._told
        while told:
            report = told.popleft()
            if report is None:
                self._ended.set()
            elif callable(report):
                report()
            else:
                self._report(*report)
