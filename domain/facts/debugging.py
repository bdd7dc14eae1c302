"""Facts about runs that are held for a person, and about what the person puts in the place of results."""

from __future__ import annotations

from typing import Any

from .base import Fact


class BreakpointsSet(Fact):
    """The run is held where these say; without any it is held nowhere. See `Breakpoints`."""

    steps: tuple[str, ...] = ()
    on_error: bool = False


class StepHeld(Fact):
    """Nothing more is begun, and this step comes next, until a person says so."""

    step: str


class StepReleased(Fact):
    """A person lets a held step begin; the failure of one that failed stands."""

    step: str


class ResultInjected(Fact):
    """A person gave a step its result. It is no receipt: nothing ran, or what ran failed.

    Args:
        step: the step.
        result: its result.
        by: who gave it.
        reason: why.
        had_failed: it takes the place of a failure, and not of a call.
    """

    moves_epoch = True
    step: str
    result: Any = None
    by: str = ""
    reason: str = ""
    had_failed: bool = False
