"""Who is let in to an engine: nobody from another event loop, and nobody once it closes or has failed."""

from __future__ import annotations

import asyncio

from .errors import EngineClosedError, WrongLoopError
from .watchers import Watchers


class Door:
    """Lets those in who ask something of an engine, and tells the others why not.

    Attributes:
        refusal: why nothing is admitted any more.
        is_over: no run goes on any more.
        watchers: who waits for runs.
    """

    def __init__(self) -> None:
        self.refusal: Exception | None = None
        self.is_over = False
        self.watchers = Watchers()
        self._loop = asyncio.get_running_loop()

    def admit(self) -> None:
        """Raise the reason, if nothing is admitted any more, or from here."""
        self.check_loop()
        if self.refusal is not None:
            raise self.refused()

    def check_open(self) -> None:
        """Raise the reason, if nothing happens any more, or is seen from here; closing is worth watching."""
        self.check_loop()
        if self.is_over:
            raise self.refused()

    def check_loop(self) -> None:
        """Refuse whoever is in another event loop: there, waits for this one would not end."""
        if asyncio.get_running_loop() is not self._loop:
            raise WrongLoopError

    def fail(self, error: Exception) -> None:
        """Admit nothing any more, for a reason that everyone who asks is told."""
        if self.refusal is None:
            self.refusal = error
            self.is_over = True
            self.watchers.close(self.refused())

    def refused(self) -> EngineClosedError:
        """Return an error of its own for each who is refused: a raised one is tied to where it was raised."""
        error = EngineClosedError(str(self.refusal or "the engine is closed"))
        error.__cause__ = self.refusal
        return error
