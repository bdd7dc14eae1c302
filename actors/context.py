"""What a running tool is told, and how it says that it is alive."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..domain.budget import Spent
from ..domain.children import ChildView
from ..domain.errors import InvalidInputError
from ..domain.facts import Limits
from ..domain.goal import Goal
from ..domain.orders import Letter
from ..domain.plan import Plan
from .clock import Timers
from .json_values import readable

if TYPE_CHECKING:
    from .offspring import Offspring

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
        offspring: starts child runs; a context made by hand starts none.
    """

    __slots__ = (
        "_log",
        "_offspring",
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
        offspring: Offspring | None = None,
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
        self._offspring = offspring
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

    async def start_child(
        self,
        goal: Goal | str,
        *,
        name: str = "",
        planner: str = "",
        plan: Plan | None = None,
        limits: Limits | None = None,
    ) -> ChildView:
        """Start a child run, once: a later attempt that asks again gets the same one, as it stands then.

        Wait for it with ``raise WaitFor(children=[…])``: the tool is called again once all of them have
        ended, and finds their results here. A child that is completed is an entry of the ledger by itself,
        undone with the rest of its parent; one that still runs when the step of this tool ends without
        success is stopped.

        Args:
            goal: what it is for; a text is a goal without inputs.
            name: what tells the children of one call apart. Left out, two with the same terms are the same.
            planner: name of its planner; that of this run, or the only one there is, if it is left out.
            plan: its plan, instead.
            limits: its own limits.

        Raises:
            MessageRefused: its name was used for something else, or the plan of this step is being left.
            InvalidInputError: its terms cannot be used; the text says why.
        """
        if self._offspring is None:
            raise InvalidInputError("start_child: an undo, and a context made by hand, starts no child runs")
        return await self._offspring.start(goal, name=name, planner=planner, plan=plan, limits=limits)

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
