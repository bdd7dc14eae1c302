"""Facts about waits: of steps that wait, and of tools."""

from __future__ import annotations

from typing import Any

from .base import Fact


class WaitStarted(Fact):
    """A step waits until ``due`` (seconds since the epoch), or for a signal, or for whichever comes first."""

    step: str
    due: float | None = None
    signal: str = ""


class WaitEnded(Fact):
    """What a step waited for has come.

    Args:
        step: the step, which is done.
        result: its result.
        received: version of the fact that the signal came with; 0 where the time has come.
    """

    moves_epoch = True
    step: str
    result: Any = None
    received: int = 0


class AttemptSuspended(Fact):
    """A tool waits: its next attempt begins when ``due`` is there, or the signal, or whichever is first.

    Args:
        operation: its operation.
        attempt: the attempt that said so.
        due: in seconds since the epoch; ``None`` for never.
        signal: name of the signal; empty for none.
        details: what the next attempt is told.
        reply: what the sender of the signal is told that this attempt was begun with.
        no_effect: the tool vouches that nothing happened outside so far.
        children: ids of child runs that all have to end first.
    """

    operation: str
    attempt: int
    due: float | None = None
    signal: str = ""
    details: Any = None
    reply: Any = None
    no_effect: bool = False
    children: tuple[str, ...] = ()
