"""Facts about what a run spends, and about pauses."""

from __future__ import annotations

from typing import Literal

from ..budget import Budget, WhenSpent
from .base import Fact

PausedBy = Literal["person", "budget", "parent"]


class UsageRecorded(Fact):
    """A call of a tool (of a step) or of a planner used something up."""

    tokens: int = 0
    cost: float = 0.0
    step: str = ""


class BudgetSpent(Fact):
    """Nothing more is begun: a budget is spent, or a policy says so. The first one is named."""

    measure: str
    why: str
    then: WhenSpent


class BudgetChanged(Fact):
    """A person said what the run may spend from here on; ``budgets`` are all that are in force."""

    budgets: tuple[Budget, ...]
    reason: str = ""


class RunPaused(Fact):
    """Nothing more is begun until the run is unpaused; what is under way ends and is recorded."""

    reason: str
    by: PausedBy = "person"


class RunUnpaused(Fact):
    """The run goes on where it was paused."""

    reason: str = ""
