"""Laps: planners that look again after every step, and mostly find that their plan stands.

Such a planner is asked when something has been learned and nothing is in flight. What it proposes then is a
new revision only if it is another plan than what is left of the present one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import asdict

from .. import facts as f
from ..briefing import brief
from ..goap.inputs import with_step_ids
from ..ids import canonical
from ..orders import MakePlan
from ..plan import Plan, Step
from ..readiness import edges
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
    if not run.unmet or run.running or run.reviews or run.is_draining:
        return None
    if ("planner", run.planner) in run.missing:
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
    if (plan.output, plan.compensate_on_failure) != (run.output, run.compensates):
        return False
    names = {new.id: old.id for old, new in zip(left, plan.steps, strict=True)}
    if any(_said(old, {}) != _said(new, names) for old, new in zip(left, plan.steps, strict=True)):
        return False
    return _waits_left(run, left) == _waits_of(run, plan.steps, names)


def _said(step: Step, names: Mapping[str, str]) -> bytes:
    """Return what a step says to do, its id, order and reasoning aside, with other steps by other names."""
    said: dict[str, Any] = asdict(step)
    del said["id"], said["reasoning"], said["needs"]
    return canonical(with_step_ids(said, names))


def _waits_left(run: Run, left: Sequence[Step]) -> dict[str, frozenset[str]]:
    """Return for the open steps of the present plan which of them each waits for."""
    waits: dict[str, set[str]] = {step.id: set() for step in left}
    for need, dependents in run.needed_by.items():
        for step in dependents:
            if step in waits:
                waits[step].add(need)
    return {step: frozenset(needs) for step, needs in waits.items()}


def _waits_of(run: Run, tail: Sequence[Step], names: Mapping[str, str]) -> dict[str, frozenset[str]]:
    return {
        names[step]: frozenset(names.get(need, need) for need in needs if need not in run.done)
        for step, needs in edges(tail).items()
    }
