"""A question to the probe of a tool: what became of an operation?"""

from __future__ import annotations

import inspect
import logging
from typing import Any

from ..domain.messages import Report, ReportProbe
from ..domain.orders import Probe
from .clock import Clock
from .json_values import receipt_of, text
from .tools import Tool, is_async
from .work import CLOSING, Work

_log = logging.getLogger("midcourse.actors")


class Question(Work):
    """One question to a tool's probe: what became of an operation?"""

    __slots__ = ("order", "tool")

    def __init__(self, run_id: str, order: Probe, tool: Tool, clock: Clock) -> None:
        key = (run_id, order.operation, order.attempt, "probe")
        super().__init__(run_id, key, clock, is_async=tool.probe is not None and is_async(tool.probe))
        self.order = order
        self.tool = tool

    def __str__(self) -> str:
        return f"probe of {self.order.operation} (tool {self.order.tool})"

    def call(self) -> Any:
        """Ask the probe."""
        if self.tool.probe is None:
            raise LookupError(f"tool {self.order.tool!r} has no probe")
        return self.tool.probe(self.order.operation)

    def ask_to_stop(self, why: str) -> None:
        """Note why it should stop."""
        self.stop = why

    def not_begun(self) -> Report:
        """Return that it is still not known."""
        return self.lost()

    def lost(self) -> Report:
        """Return that it is still not known."""
        return self._found(None, why=f"the probe did not answer: {self.stop}")

    def returned(self, result: Any) -> Report:
        """Return what the probe found."""
        if result is None:
            return self._found(False)
        if result is False:
            why = "the probe returned False, which may mean either; return None for 'did not happen'"
            return self._found(None, why=why)
        if not self.is_async and inspect.isawaitable(result):
            if inspect.iscoroutine(result):
                result.close()
            return self._found(None, why="the probe returned an awaitable; declare it with async def")
        return self._found(True, result=result)

    def raised(self, error: BaseException) -> Report | None:
        """Return that it is still not known, and why."""
        if self.is_given_up or self.stop == CLOSING:
            return None
        if self.stop:
            return self.lost()
        _log.info("%s raised", self, exc_info=error)
        return self._found(None, why=f"the probe raised {type(error).__qualname__}: {text(error)}")

    def _found(self, happened: bool | None, *, result: Any = None, why: str = "") -> ReportProbe:
        return ReportProbe(
            at=self.clock(),
            operation=self.order.operation,
            attempt=self.order.attempt,
            happened=happened,
            receipt=receipt_of(result) if happened else None,
            why=why,
        )
