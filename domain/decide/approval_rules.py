"""Which calls need the approval of a person: what the rules say of one, when its turn comes and before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..authority import ApprovalRule, matches
from ..expressions import ExpressionError, holds
from ..plan import Author
from ..run import Run
from ..tools import Catalog, ToolSpec


class Foreseen(NamedTuple):
    """An approval that a step of a plan will need, as far as that shows before it runs.

    Attributes:
        is_certain: it will be asked for; else the arguments, or the run, decide.
        why: the rule.
    """

    is_certain: bool
    why: str


def needs_approval(
    run: Run,
    spec: ToolSpec,
    input: Mapping[str, Any],
    catalog: Catalog,
    *,
    author: Author | None,
    step: str = "",
) -> str:
    """Return why a call needs a person's approval, or nothing where it does not."""
    rules = catalog.authority.approvals
    if run.mode == "interactive" and author == "planner":
        rules = (*rules, *catalog.authority.interactive)
    for rule in rules:
        if _is_about(rule, spec):
            why = _why(rule, run, spec, input, author, step)
            if why:
                return why
    return ""


def foreseen_approval(
    spec: ToolSpec,
    input: Mapping[str, Any] | None,
    catalog: Catalog,
    *,
    inputs: Mapping[str, Any] | None,
    step: str,
) -> Foreseen | None:
    """Return the approval that a step of a person's plan will need, or ``None`` where it will need none.

    Args:
        spec: its tool.
        input: its arguments, if all of them are known beforehand.
        catalog: the tools, and the authority they are used under.
        inputs: the inputs of the run, if they are known.
        step: its path.
    """
    perhaps = None
    for rule in catalog.authority.approvals:
        if not _is_about(rule, spec):
            continue
        outlook = _outlook(rule, spec, input, inputs, step)
        if outlook:
            return Foreseen(True, f"a rule asks for it ({_terms(rule)})")
        if outlook is None and perhaps is None:
            perhaps = Foreseen(False, f"a rule decides about it when it is due ({_terms(rule)})")
    return perhaps


def _outlook(
    rule: ApprovalRule,
    spec: ToolSpec,
    input: Mapping[str, Any] | None,
    inputs: Mapping[str, Any] | None,
    step: str,
) -> bool | None:
    """Return whether a rule will ask, or ``None`` while that is open."""
    if not rule.when:
        return True
    if input is None:
        return None
    run = {"mode": "autonomous", "author": "human", "planner": ""}
    known = run if inputs is None else {**run, "inputs": dict(inputs)}
    try:
        return holds(rule.when, _values(spec, input, step, known))
    except ExpressionError:  # it asks for what only the run knows, or it will fail then, too
        return None


def _is_about(rule: ApprovalRule, spec: ToolSpec) -> bool:
    return matches(rule.tool, spec.name) and rule.effect in (None, spec.effect)


def _terms(rule: ApprovalRule) -> str:
    terms = [] if rule.tool == "*" else [f"tool {rule.tool!r}"]
    terms += [] if rule.effect is None else [f"effect {rule.effect}"]
    terms += [rule.when] if rule.when else []
    return ", ".join(terms) or "every call"


def _why(
    rule: ApprovalRule, run: Run, spec: ToolSpec, input: Mapping[str, Any], author: Author | None, step: str
) -> str:
    why = f"a rule asks for it ({_terms(rule)})"
    if not rule.when:
        return why
    about = {
        "id": run.id, "mode": run.mode, "author": author or "", "planner": run.planner,
        "started_by": run.started_by, "tags": dict(run.tags), "inputs": dict(run.goal.inputs),
    }  # fmt: skip
    try:
        return why if holds(rule.when, _values(spec, input, step, about)) else ""
    except ExpressionError as error:
        return f"a rule that decides about it failed: {error}"


def _values(spec: ToolSpec, input: Mapping[str, Any], step: str, run: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "tool": {
            "name": spec.name, "effect": spec.effect, "idempotent": spec.idempotent, "cost": spec.cost,
        },
        "input": dict(input),
        "step": {"id": step},
        "run": run,
    }  # fmt: skip
