"""What a running tool is told, and how it says that it is alive."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..domain.budget import Spent
from ..domain.errors import InvalidInputError
from ..domain.orders import Letter
from .clock import Timers
from .json_values import readable

_SPENDING = threading.Lock()
"""Held while an amount is added up: a tool may tell what it spends from several threads."""
_EMPTY: Mapping[str, Any] = MappingProxyType({})


class Pulse:
    """What a running call and the executor tell each other; each field is written whole, from any thread.

    Attributes:
        beat_at: the monotonic time of the last sign of life.
        details: what the last heartbeat said, else what the attempt before had said.
        stop: why the call should stop; empty while it should not.
        tokens: tokens of models that it has used.
        cost: what it has cost besides.
    """

    __slots__ = ("beat_at", "cost", "details", "stop", "timers", "tokens")

    def __init__(self, timers: Timers | None = None, details: Any = None) -> None:
        self.timers = timers
        self.details = details
        self.beat_at = 0.0
        self.stop = ""
        self.tokens = 0
        self.cost = 0.0

    @property
    def spent(self) -> Spent | None:
        """What the call has used up, if it told of anything."""
        return Spent(self.tokens, self.cost) if self.tokens or self.cost else None


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
        signal: the signal that the attempt before waited for (`WaitFor`), if it has come.
        pulse: the link to the executor; a context made by hand, for a test, needs none.
    """

    __slots__ = (
        "_log",
        "_pulse",
        "attempt",
        "board",
        "details",
        "operation",
        "run_id",
        "signal",
        "step",
        "tool",
    )

    def __init__(  # noqa: PLR0913 - a call has as many sides
        self,
        operation: str,
        attempt: int = 1,
        *,
        tool: str = "",
        step: str = "",
        run_id: str = "",
        details: Any = None,
        board: Mapping[str, Any] = _EMPTY,
        signal: Letter | None = None,
        pulse: Pulse | None = None,
    ) -> None:
        self.operation = operation
        self.attempt = attempt
        self.tool = tool
        self.step = step
        self.run_id = run_id
        self.details = details
        self.board = board
        self.signal = signal
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

    def spend(self, *, tokens: int = 0, cost: float = 0.0) -> None:
        """Tell what this attempt has used up; it counts against the budgets of the run, however it ends.

        Args:
            tokens: tokens of models, from 0 up.
            cost: money or any other unit, the same in the whole run, from 0 up.

        Raises:
            InvalidInputError: it is no number from 0 up.
        """
        if not (tokens >= 0 and cost >= 0 and math.isfinite(cost)):
            raise InvalidInputError(f"spend: tokens={tokens!r}, cost={cost!r}; both are numbers from 0 up")
        with _SPENDING:
            self._pulse.tokens += tokens
            self._pulse.cost += cost

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
