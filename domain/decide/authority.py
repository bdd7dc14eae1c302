"""Whether a step may start: what its planner may use, what is left of limits, who has to agree."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from .. import facts as f
from ..authority import ToolLimit, matches
from ..plan import Author, Plan, Step
from ..run import Run
from ..tools import Catalog, ToolSpec
from . import approvals
from .approval_rules import needs_approval
from .compensation import undo_input
from .decision import Decision


def hold_up(
    run: Run, step: Step, spec: ToolSpec, input: Mapping[str, Any], digest: str, catalog: Catalog
) -> Decision | None:
    """Decide what becomes of a step that may not start now, or return ``None`` where it may.

    Args:
        run: the run.
        step: the step whose turn it is.
        spec: its tool.
        input: its rendered arguments.
        digest: their digest.
        catalog: the tools, and the authority they are used under.
    """
    problem = _not_offered(run.author, spec.name, catalog)
    if problem:
        return _fail(step, "authority", problem, digest)
    problem = _over_limit(run, spec, catalog)
    if problem:
        return _fail(step, "limit", problem, digest)
    approval = run.approvals.get(step.id)
    if approval is not None:
        if (approval.revision, approval.digest) == (run.revision, digest):
            return None
        why = f"the step was to be approved with other arguments (digest {approval.digest}, now {digest})"
        return Decision((f.ApprovalVoided(approval.subject, why),))
    why = needs_approval(run, spec, input, catalog, author=run.author, step=step.id)
    return Decision((approvals.ask_for_step(run, step, input, digest, why, catalog),)) if why else None


def problems_of_planned(run: Run, plan: Plan, author: Author, catalog: Catalog) -> tuple[str, ...]:
    """Return what a proposal contains that its author may not do, as far as that shows before it runs."""
    if author != "planner" or not catalog.guards_steps:
        return ()
    problems = []
    for step in plan.steps:
        problem = _not_offered(author, step.tool_name, catalog)
        if problem:
            problems.append(f"step {step.id}: {problem}")
    for key, spec, _ in _undos(run, plan, catalog):
        problem = _not_offered(author, spec.name, catalog) or _over_limit(run, spec, catalog)
        if problem:
            problems.append(f"undo of {key}: {problem}")
    return tuple(problems)


def plan_needs_approval(run: Run, plan: Plan, author: Author, catalog: Catalog) -> str:
    """Return why a proposal needs a person's approval before it is accepted, or nothing where it does not.

    A person's own plan is approved by its author. What a planner takes back is part of its plan, so what an
    undo needs, the plan needs.
    """
    if author == "human":
        return ""
    reasons = ["interactive mode asks for every plan of a planner"] if run.mode == "interactive" else []
    for key, spec, input in _undos(run, plan, catalog):
        why = needs_approval(run, spec, input, catalog, author=author)
        if why:
            reasons.append(f"it takes back {key}: {why}")
    return "; ".join(reasons)


def _undos(run: Run, plan: Plan, catalog: Catalog) -> Iterator[tuple[str, ToolSpec, Mapping[str, Any]]]:
    for key in plan.undo:
        entry = run.ledger[key]
        spec = catalog.get(entry.undo)
        if spec is not None:
            yield key, spec, undo_input(entry, catalog)


def _not_offered(author: Author | None, tool: str, catalog: Catalog) -> str:
    authority = catalog.authority
    if author != "planner" or not authority.restricts_planners or authority.lets_planners_use(tool):
        return ""
    denied = f", but not {', '.join(authority.deny)}" if authority.deny else ""
    return f"planners may not use {tool} (they may use {', '.join(authority.allow) or 'nothing'}{denied})"


def _over_limit(run: Run, spec: ToolSpec, catalog: Catalog) -> str:
    for limit in catalog.authority.limits:
        if matches(limit.tool, spec.name):
            problem = _calls_over(limit, run) or _cost_over(limit, run, spec, catalog)
            if problem:
                return problem
    return ""


def _calls_over(limit: ToolLimit, run: Run) -> str:
    most = limit.calls_per_run
    if most is None:
        return ""
    begun = sum(calls for tool, calls in run.calls.items() if matches(limit.tool, tool))
    return f"the run has made {begun} of {most} calls of {limit.tool!r}" if begun >= most else ""


def _cost_over(limit: ToolLimit, run: Run, spec: ToolSpec, catalog: Catalog) -> str:
    most = limit.cost_per_run
    if most is None:
        return ""
    spent = 0.0
    for tool, calls in run.calls.items():
        known = catalog.get(tool)
        if known is not None and matches(limit.tool, tool):
            spent += calls * known.cost
    total = spent + spec.cost
    if total <= most or math.isclose(total, most):
        return ""
    return f"a call of {spec.name} costs {spec.cost:g}, and {spent:g} of {most:g} for {limit.tool!r} is spent"


def _fail(step: Step, kind: str, problem: str, digest: str) -> Decision:
    failure = f.Failure(kind, problem, step.id, step.tool_name, digest=digest)
    return Decision((f.StepFailed(step.id, "", 0, failure),))
