"""Before a run is delivered: requirements without evidence are counted, and a plan is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .. import facts as f
from ..control import tools_called
from ..coverage import can_show, gap_in
from ..errors import InvalidInputError
from ..expressions import ExpressionError, check
from ..goal import Goal, Requirement
from ..ids import digest
from ..opinions import FAILED, JUDGE
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
            if judged.verdict == FAILED:
                return _not_judged(requirement, judged)
        gap = gap_in(run, requirement, judged)
        gaps += [gap] if gap is not None else []
    if not gaps:
        return None
    reason = "; ".join(f"requirement {gap.requirement!r} has no evidence: {gap.why}" for gap in gaps)
    # Judges word the same verdict differently each time: what is open makes two requests the same, and what
    # was read since makes them different.
    asked = request_replan(
        run, "coverage", reason, alike=" ".join(gap.requirement for gap in gaps), found=_read(run)
    )
    return Decision((f.CoverageChecked(tuple(gaps)), *asked))


def _not_judged(requirement: Requirement, judged: f.OpinionGiven) -> Decision:
    """A judge that cannot be asked has found no gap: that is for a person, and undoes nothing."""
    why = f"requirement {requirement.id!r} could not be judged: {judged.reason}"
    return Decision((f.RunStuck(why, f.Failure("judge", why)),))


def _read(run: Run) -> list[str]:
    """Return what reads have found, so that the same values again make no difference."""
    reads = (entry for entry in run.ledger.values() if entry.effect == "read")
    return sorted({digest([entry.tool, entry.input, entry.receipt.result]) for entry in reads})


def delivered(run: Run, result: Any, reason: str) -> Decision:
    """Complete a run that has no gaps; that they were counted is said where there is something to count."""
    completed = f.RunCompleted(result, reason)
    return Decision((f.CoverageChecked(), completed) if run.goal.requirements else (completed,))


def unserved(run: Run, plan: Plan, catalog: Catalog) -> Iterator[str]:
    """Yield the open requirements that a plan which was asked for because of them does nothing for.

    Only those are looked at that planners have a tool for.
    """
    if run.owed is None or run.owed.cause != "coverage":
        return
    open_ids = {gap.requirement for gap in run.gaps}
    called, offered = {*_called_by(plan, catalog, set())}, [spec.name for spec in catalog.for_planners()]
    for requirement in run.goal.requirements:
        if requirement.id not in open_ids or not requirement.operation:
            continue
        if _is_shown_by(requirement, offered) and not _is_shown_by(requirement, called):
            yield (
                f"requirement {requirement.id!r} needs an operation like {requirement.operation!r}, and no "
                "step of the plan calls such a tool"
            )


def _is_shown_by(requirement: Requirement, tools: Iterable[str]) -> bool:
    return any(can_show(requirement, tool) for tool in tools)


def _called_by(plan: Plan, catalog: Catalog, seen: set[str]) -> Iterator[str]:
    """Yield the tools that a plan calls, those in bodies and in plans that it calls among them."""
    for step in plan.steps:
        for tool in tools_called(step.tool_name, step.input):
            yield tool
            if tool in catalog.plans and tool not in seen:
                seen.add(tool)
                yield from _called_by(catalog.plans[tool], catalog, seen)


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
