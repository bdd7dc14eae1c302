"""Threads for tools that are plain functions."""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
from collections.abc import Callable
from contextvars import Context
from queue import SimpleQueue
from typing import Any

_log = logging.getLogger("midcourse.actors")


class Call:
    """One call in a thread.

    Args:
        function: called without arguments.
        context: the context variables it sees.
        done: called on the event loop with what it returned and what it raised (one of them ``None``).
        name: what it is, for the log.
    """

    __slots__ = ("context", "done", "function", "name")

    def __init__(
        self,
        function: Callable[[], Any],
        *,
        context: Context,
        done: Callable[[Any, BaseException | None], None],
        name: str,
    ) -> None:
        self.function = function
        self.context = context
        self.done = done
        self.name = name


class ToolThreads:
    """Threads that are started when they are needed and kept for the next call.

    They are daemons: a call that never returns does not hold up the end of the process. How many calls run at
    the same time is the business of the caller; a thread whose call was given up is simply not free again
    until that call returns. Use it on one event loop.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._free: list[SimpleQueue[Call | None]] = []
        self._numbers = itertools.count(1)
        self._is_closed = False

    def run(self, call: Call) -> None:
        """Run a call in a free thread, or a new one."""
        if self._free:
            self._free.pop().put(call)
            return
        calls: SimpleQueue[Call | None] = SimpleQueue()
        calls.put(call)
        name = f"midcourse-tool-{next(self._numbers)}"
        threading.Thread(target=self._work, args=(calls,), name=name, daemon=True).start()

    def close(self) -> None:
        """End the threads that are free now, and each other one when its call returns."""
        self._is_closed = True
        while self._free:
            self._free.pop().put(None)

    def _work(self, calls: SimpleQueue[Call | None]) -> None:
        while (call := calls.get()) is not None:
            result, error = None, None
            try:
                result = call.context.run(call.function)
            except BaseException as raised:  # noqa: BLE001 - a boundary: the executor reports whatever it was
                error = raised
            try:
                self._loop.call_soon_threadsafe(self._finish, calls, call, result, error)
            except RuntimeError:
                _log.warning("%s ended after its engine had; its outcome is not recorded", call.name)
                return
            if self._is_closed:
                return
            # An idle thread must not keep the last result alive.
            del call, result, error

    def _finish(
        self, calls: SimpleQueue[Call | None], call: Call, result: Any, error: BaseException | None
    ) -> None:
        if self._is_closed:
            calls.put(None)
        else:
            self._free.append(calls)
        call.done(result, error)
