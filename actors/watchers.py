"""Who waits for a run: for its end, or for its next fact."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from .outcome import Outcome


class Watchers:
    """Those who wait, by run; a run nobody watches costs nothing."""

    def __init__(self) -> None:
        self.moved: dict[str, set[asyncio.Event]] = {}
        self.ended: dict[str, set[asyncio.Future[Outcome]]] = {}

    @contextmanager
    def following(self, run_id: str) -> Iterator[asyncio.Event]:
        """Yield an event that is set with each commit of a run, and when no further ones will come."""
        event = asyncio.Event()
        events = self.moved.setdefault(run_id, set())
        events.add(event)
        try:
            yield event
        finally:
            events.discard(event)
            if not events and self.moved.get(run_id) is events:
                del self.moved[run_id]

    @contextmanager
    def awaiting(self, run_id: str) -> Iterator[asyncio.Future[Outcome]]:
        """Yield a future that is given the outcome of a run."""
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        futures = self.ended.setdefault(run_id, set())
        futures.add(future)
        try:
            yield future
        finally:
            futures.discard(future)
            if not futures and self.ended.get(run_id) is futures:
                del self.ended[run_id]
            if future.done() and not future.cancelled():
                future.exception()  # seen, whether or not somebody still waits for it

    def move(self, run_id: str) -> None:
        """A run has new facts."""
        for event in self.moved.get(run_id, ()):
            event.set()

    def end(self, run_id: str, outcome: Outcome) -> None:
        """A run has ended."""
        for future in self.ended.pop(run_id, ()):
            if not future.done():
                future.set_result(outcome)

    def fail(self, run_id: str, error: BaseException) -> None:
        """A run will not go on here."""
        _fail(self.ended.pop(run_id, ()), error)
        self.move(run_id)

    def close(self, error: BaseException) -> None:
        """No run goes on here."""
        for run_id in (*self.ended, *self.moved):
            self.fail(run_id, error)


def _fail(futures: Iterable[asyncio.Future[Outcome]], error: BaseException) -> None:
    for future in futures:
        if not future.done():
            future.set_exception(error)
