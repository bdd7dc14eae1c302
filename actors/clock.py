"""Time, as it is handed to the actors: none of them looks at a clock of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

Clock = Callable[[], float]
"""Returns the time in seconds since the epoch, as facts record it."""


class Timer(Protocol):
    """Something that will happen unless it is cancelled."""

    def cancel(self) -> None:
        """Let it not happen."""


class Timers(Protocol):
    """Makes things happen later. An asyncio event loop is one; so is a clock that a test moves by hand."""

    def time(self) -> float:
        """Return a monotonic time in seconds; called from any thread."""

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> Timer:
        """Call ``callback(*args)`` on the event loop in ``delay`` seconds."""
