"""What a running tool is told, and how it says that it is alive."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from .clock import Timers
from .json_values import readable

_EMPTY: Mapping[str, Any] = MappingProxyType({})


class Pulse:
    """What a running call and the executor tell each other; each field is written whole, from any thread.

    Attributes:
        beat_at: the monotonic time of the last sign of life.
        details: what the last heartbeat said, else what the attempt before had said.
        stop: why the call should stop; empty while it should not.
    """

    __slots__ = ("beat_at", "details", "stop", "timers")

    def __init__(self, timers: Timers | None = None, details: Any = None) -> None:
        self.timers = timers
        self.details = details
        self.beat_at = 0.0
        self.stop = ""


class ToolContext:
    """Handed to a tool that declares a parameter of this type; usable from any thread.

    Args:
        operation: the operation key, the same in every attempt: hand it on to services that take one.
        attempt: number of this attempt, from 1.
        tool: full name of the tool.
        step: id of the step; empty for an undo.
        run_id: the run.
        details: the last heartbeat details of the attempt before.
        board: the named values that earlier tools and signals left, read-only.
        pulse: the link to the executor; a context made by hand, for a test, needs none.
    """

    __slots__ = ("_log", "_pulse", "attempt", "board", "details", "operation", "run_id", "step", "tool")

    def __init__(
        self,
        operation: str,
        attempt: int = 1,
        *,
        tool: str = "",
        step: str = "",
        run_id: str = "",
        details: Any = None,
        board: Mapping[str, Any] = _EMPTY,
        pulse: Pulse | None = None,
    ) -> None:
        self.operation = operation
        self.attempt = attempt
        self.tool = tool
        self.step = step
        self.run_id = run_id
        self.details = details
        self.board = board
        self._pulse = Pulse() if pulse is None else pulse
        self._log: Any = None

    @property
    def cancelled(self) -> bool:
        """Whether this attempt was asked to stop."""
        return self._pulse.stop != ""

    def heartbeat(self, details: Any = None) -> None:
        """Say that the tool is alive, and stop here if it was asked to.

        Args:
            details: a JSON value that says how far it is; should this attempt be lost, the next one finds it
                in ``details``.

        Raises:
            asyncio.CancelledError: the attempt was asked to stop; let it through after cleaning up.
        """
        pulse = self._pulse
        if details is not None:
            pulse.details = readable(details)
        if pulse.timers is not None:
            pulse.beat_at = pulse.timers.time()
        if pulse.stop:
            raise asyncio.CancelledError(f"the attempt was asked to stop: {pulse.stop}")

    @property
    def log(self) -> Any:
        """A structlog logger that carries run, operation, attempt, step and tool."""
        if self._log is None:
            import structlog

            self._log = structlog.get_logger("midcourse.tools").bind(
                run=self.run_id,
                operation=self.operation,
                attempt=self.attempt,
                step=self.step,
                tool=self.tool,
            )
        return self._log
