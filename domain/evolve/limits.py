"""What facts about budgets and pauses change."""

from __future__ import annotations

import msgspec

from .. import facts as f
from ..run import Run
from .planning import unstick


def usage_recorded(run: Run, fact: f.UsageRecorded) -> None:
    run.tokens += fact.tokens
    run.cost += fact.cost


def budget_spent(run: Run, fact: f.BudgetSpent) -> None:
    run.spent = fact


def budget_changed(run: Run, fact: f.BudgetChanged) -> None:
    run.budgets = fact.budgets
    run.spent = None
    replans = [budget.replans for budget in fact.budgets if budget.replans is not None]
    if replans and min(replans) > run.limits.replans:
        run.limits = msgspec.structs.replace(run.limits, replans=min(replans))
        if run.stuck_on is not None and run.stuck_on.kind == "budget":
            unstick(run)


def run_paused(run: Run, fact: f.RunPaused) -> None:
    run.paused = fact


def run_unpaused(run: Run, _fact: f.RunUnpaused) -> None:
    run.paused = None
