"""The start of a run: with a person's plan, or with a planner to ask."""

from __future__ import annotations

from .. import facts as f
from .. import messages as m
from ..errors import MessageRefused
from ..run import Run
from ..tools import Catalog
from .decision import Decision
from .delivery import check_requirements
from .limits import check_budgets
from .proposals import accept
from .starting_plan import first_draft


def start_run(run: Run, message: m.StartRun, catalog: Catalog) -> Decision:
    """Begin a run; a plan that cannot be used is refused before anything is recorded."""
    if run.version:
        raise MessageRefused(f"run {run.id} was started already")
    if message.plan is None and not message.planner:
        raise MessageRefused(f"run {run.id}: give it a plan or name a planner")
    check_requirements(message.goal, message.planner, catalog)
    check_budgets(message.limits.budgets, catalog)
    started = f.RunStarted(
        message.goal, message.planner, message.mode, message.key, message.lineage, message.tags,
        message.limits, catalog.digest, message.actor, message.at, message.priority, message.parent,
    )  # fmt: skip
    if message.plan is None:
        return Decision((started, *_breakpoints(message)))
    draft = first_draft(message.plan, catalog)
    held = _breakpoints(message)
    return Decision((started, *accept(run, draft, "human", run.version + 1, catalog), *held))


def _breakpoints(message: m.StartRun) -> tuple[f.BreakpointsSet, ...]:
    asked = message.breakpoints
    return () if asked is None else (f.BreakpointsSet(asked.steps, asked.on_error),)
