"""The tasks of an engine: somebody owns each, and the error of one is noticed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any


class Tasks:
    """Tasks that end with their engine.

    Args:
        broken: told when one of them failed: its name, and why.
    """

    def __init__(self, broken: Callable[[str, BaseException], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._broken = broken
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[Any, Any, None], *, name: str) -> None:
        """Run work in a task, in a context of its own."""
        task = self._loop.create_task(work, name=f"midcourse: {name}", context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._ended, context=Context())

    async def cancel(self) -> None:
        """Cancel them all, and wait until they have ended."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._broken(task.get_name(), error)
