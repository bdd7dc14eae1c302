"""Before a run is delivered: requirements without evidence are counted, and a plan is asked for."""

from __future__ import annotations

from collections.abc import Iterator

from .. import facts as f
from ..authority import matches
from ..coverage import gap_in
from ..errors import InvalidInputError
from ..expressions import ExpressionError, check
from ..goal import Goal, Requirement
from ..opinions import JUDGE
from ..plan import Plan
from ..run import Run
from ..tools import Catalog
from .decision import NOTHING, Decision
from .opinions import ask
from .replan import request_replan


def check_coverage(run: Run) -> Decision | None:
    """Return what keeps a run from being delivered, or ``None`` where every requirement has its evidence."""
    gaps: list[f.Gap] = []
    for requirement in run.goal.requirements:
        judged = None
        if requirement.judge:
            key = f"judge/{requirement.id}/{run.epoch}"
            judged = run.opinions.get(key)
            if judged is None:
                is_asked = key in run.consulting
                return NOTHING if is_asked else ask(run, key, "requirement", JUDGE, requirement.id)
        gap = gap_in(run, requirement, judged)
        gaps += [gap] if gap is not None else []
    if not gaps:
        return None
    reason = "; ".join(f"requirement {gap.requirement!r} has no evidence: {gap.why}" for gap in gaps)
    return Decision((f.CoverageChecked(tuple(gaps)), *request_replan(run, "coverage", reason)))


def unserved(run: Run, plan: Plan) -> Iterator[str]:
    """Yield the open requirements that a plan which was asked for because of them does nothing for."""
    if run.owed is None or run.owed.cause != "coverage":
        return
    open_ids = {gap.requirement for gap in run.gaps}
    for requirement in run.goal.requirements:
        if requirement.id in open_ids and requirement.operation and not _serves(plan, requirement):
            yield (
                f"requirement {requirement.id!r} needs an operation like {requirement.operation!r}, and no "
                "step of the plan calls such a tool"
            )


def _serves(plan: Plan, requirement: Requirement) -> bool:
    return any(matches(requirement.operation, step.tool_name) for step in plan.steps)


def check_requirements(goal: Goal, planner: str, catalog: Catalog) -> None:
    """Look whether the requirements of a goal can be used, and whether its planner would review itself.

    Raises:
        InvalidInputError: one cannot; the text names it.
    """
    if planner and planner in catalog.plan_reviewers:
        raise InvalidInputError(f"planner {planner!r} reviews plans, and would review its own; name another")
    seen: set[str] = set()
    for requirement in goal.requirements:
        problem = _problem_of(requirement, catalog)
        if requirement.id in seen:
            problem = "its id is taken; ids are unique"
        if problem:
            raise InvalidInputError(f"requirement {requirement.id!r}: {problem}")
        seen.add(requirement.id)


def _problem_of(requirement: Requirement, catalog: Catalog) -> str:
    kinds = [*requirement.evidence]
    if len(kinds) != 1 or kinds[0] not in _EVIDENCE:
        told = " and ".join(map(repr, kinds)) or "nothing"
        return f"its evidence is one of {', '.join(_EVIDENCE)}, not {told}"
    if not requirement.evidence[kinds[0]]:
        return f"its evidence {kinds[0]!r} is empty"
    if requirement.judge and JUDGE not in catalog.reviewers:
        return "its evidence is a judgement, and this engine has no judge"
    try:
        if requirement.expr:
            check(requirement.expr)
    except ExpressionError as error:
        return str(error)
    return ""


_EVIDENCE = ("operation", "expr", "judge")
