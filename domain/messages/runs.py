"""What engines tell runs: that they begin, are taken up, or may have something due."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ..breakpoints import Breakpoints
from ..children import Parent
from ..facts import Limits, Mode
from ..fairness import Priority
from ..goal import Goal
from ..plan import Plan
from .base import Message


class StartRun(Message, kw_only=True):
    """Begin a run: with a person's plan, or with a planner to ask."""

    goal: Goal
    lineage: str
    plan: Plan | None = None
    planner: str = ""
    mode: Mode = "autonomous"
    key: str = ""
    tags: Mapping[str, str] = msgspec.field(default_factory=dict)
    limits: Limits = Limits()
    breakpoints: Breakpoints | None = None
    priority: Priority = "normal"
    parent: Parent | None = None


class Activate(Message, kw_only=True):
    """An engine took the run up: what was in flight before is lost, what is owed is ordered again.

    Args:
        planners: names of the planners this engine has.
    """

    planners: frozenset[str] = frozenset()


class CatchUp(Message, kw_only=True):
    """Another process wrote to the run."""


class Advance(Message, kw_only=True):
    """Look at the clock: whatever is due now is done now."""
