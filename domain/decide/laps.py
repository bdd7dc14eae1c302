"""Laps: planners that look again after every step, and mostly find that their plan stands.

Such a planner is asked when something has been learned and nothing is in flight. What it proposes then is a
new revision only if it is another plan than what is left of the present one.
"""

from __future__ import annotations

from .. import facts as f
from ..briefing import brief
from ..ids import canonical
from ..orders import MakePlan
from ..plan import Plan
from ..run import Run
from ..tools import Catalog
from .decision import NOTHING, Decision


def is_lap(run: Run) -> bool:
    """Whether a planner that answers now was asked after a step, and not because a plan is owed."""
    return run.owed is None and run.revision > 0 and run.goal_found is None


def look_again(run: Run, catalog: Catalog) -> Decision | None:
    """Ask the planner of a run what it makes of what was learned; ``None`` where that is no question."""
    if run.planner not in catalog.observers or run.author != "planner" or run.observed == run.epoch:
        return None
    if not run.unmet or run.running or run.is_draining or ("planner", run.planner) in run.missing:
        return None
    if run.asked is not None:
        return NOTHING
    requested = f.PlanRequested(run.epoch, run.planner, "a step was done")
    return Decision((requested,), (MakePlan(run.planner, brief(run, catalog)),))


def is_unchanged(run: Run, plan: Plan) -> bool:
    """Whether a plan is what is left of the present one, whatever its steps are called."""
    left = [run.steps[step] for step in run.order if step in run.unmet]
    if plan.undo or len(left) != len(plan.steps):
        return False
    return all(
        (old.tool_name, canonical(old.input)) == (new.tool_name, canonical(new.input))
        for old, new in zip(left, plan.steps, strict=True)
    )
