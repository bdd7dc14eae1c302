"""An engine as other threads see it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from ..domain.errors import ReplanAnswer
from ..domain.view import RunState
from ..store import RunFilter, RunPage
from .handle import RunHandle
from .outcome import Outcome

if TYPE_CHECKING:
    from .attention import RunAttention
    from .engine import Engine

T = TypeVar("T")
_EVERYTHING = RunFilter()


class ThreadsafeEngine:
    """The calls of an engine for threads other than that of its event loop.

    Every method returns a `concurrent.futures.Future` at once: call its ``result()`` to wait, but never on
    the event loop itself, which would wait for itself.

    Args:
        engine: the engine.
        loop: its event loop.
    """

    def __init__(self, engine: Engine, loop: asyncio.AbstractEventLoop) -> None:
        self._engine = engine
        self._loop = loop

    def start(self, *args: Any, **options: Any) -> Future[ThreadsafeRun]:
        """As `Engine.start`, with the same arguments."""

        async def start() -> ThreadsafeRun:
            return ThreadsafeRun(await self._engine.start(*args, **options), self._loop)

        return _submit(start(), self._loop)

    def run(self, run_id: str) -> ThreadsafeRun:
        """As `Engine.run`."""
        return ThreadsafeRun(self._engine.run(run_id), self._loop)

    def runs(
        self, filters: RunFilter = _EVERYTHING, *, limit: int = 100, cursor: str = ""
    ) -> Future[RunPage]:
        """As `Engine.runs`."""
        return _submit(self._engine.runs(filters, limit=limit, cursor=cursor), self._loop)

    def attention(self, *, limit: int = 100) -> Future[list[RunAttention]]:
        """As `Engine.attention`."""
        return _submit(self._engine.attention(limit=limit), self._loop)


class ThreadsafeRun:
    """The calls of a `RunHandle`, with the same arguments, for other threads.

    Args:
        handle: the run.
        loop: the event loop of its engine.
    """

    def __init__(self, handle: RunHandle, loop: asyncio.AbstractEventLoop) -> None:
        self._handle = handle
        self._loop = loop

    @property
    def id(self) -> str:
        """The run's id."""
        return self._handle.id

    def state(self) -> Future[RunState]:
        """As `RunHandle.state`."""
        return self._call(self._handle.state())

    def outcome(self, *, timeout_s: float | None = None) -> Future[Outcome]:
        """As `RunHandle.outcome`."""
        return self._call(self._handle.outcome(timeout_s=timeout_s))

    def signal(self, name: str, payload: Any = None, **options: Any) -> Future[None]:
        """As `RunHandle.signal`."""
        return self._call(self._handle.signal(name, payload, **options))

    def cancel(self, reason: str = "", *, by: str = "") -> Future[None]:
        """As `RunHandle.cancel`."""
        return self._call(self._handle.cancel(reason, by=by))

    def settle(self, operation: str, **options: Any) -> Future[None]:
        """As `RunHandle.settle`."""
        return self._call(self._handle.settle(operation, **options))

    def approve(self, subject: str, *, by: str = "") -> Future[None]:
        """As `RunHandle.approve`."""
        return self._call(self._handle.approve(subject, by=by))

    def deny(self, subject: str, *, by: str = "", reason: str = "") -> Future[None]:
        """As `RunHandle.deny`."""
        return self._call(self._handle.deny(subject, by=by, reason=reason))

    def propose(self, *args: Any, **options: Any) -> Future[int]:
        """As `RunHandle.propose`."""
        return self._call(self._handle.propose(*args, **options))

    def replan(self, reason: str, **options: Any) -> Future[ReplanAnswer]:
        """As `RunHandle.replan`."""
        return self._call(self._handle.replan(reason, **options))

    def compensate(self, operation: str, **options: Any) -> Future[None]:
        """As `RunHandle.compensate`."""
        return self._call(self._handle.compensate(operation, **options))

    def _call(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return _submit(work, self._loop)


def _submit(work: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> Future[T]:
    return asyncio.run_coroutine_threadsafe(work, loop)
