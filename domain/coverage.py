"""Whether the requirements of a goal have evidence in what a run has done."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from .authority import matches
from .expressions import ExpressionError, holds
from .facts import Gap, OpinionGiven
from .goal import Requirement
from .run import Run


def gap_in(run: Run, requirement: Requirement, judged: OpinionGiven | None) -> Gap | None:
    """Return what is missing for a requirement, or nothing where it has its evidence.

    Args:
        run: the run.
        requirement: the requirement.
        judged: what the judge has said of it, where its evidence is a judgement.
    """
    if requirement.operation:
        return _operation_gap(run, requirement)
    if requirement.expr:
        return _expression_gap(run, requirement)
    return _judgement_gap(run, requirement, judged)


def _operation_gap(run: Run, requirement: Requirement) -> Gap | None:
    glob = requirement.operation
    if any(matches(glob, entry.tool) or fnmatchcase(entry.key, glob) for entry in run.standing()):
        return None
    return Gap(requirement.id, f"no committed operation is like {glob!r}")


def can_show(requirement: Requirement, tool: str) -> bool:
    """Whether an operation of a tool may be evidence for a requirement that names operations.

    A glob over keys is compared up to the colon: what follows is known only once a step was started.
    """
    glob, colon, _ = requirement.operation.partition(":")
    return matches(glob if colon else requirement.operation, tool)


def _expression_gap(run: Run, requirement: Requirement) -> Gap | None:
    try:
        if holds(requirement.expr, _values(run)):
            return None
    except ExpressionError as error:
        return Gap(requirement.id, str(error))
    return Gap(requirement.id, f"{requirement.expr!r} does not hold")


def _values(run: Run) -> Mapping[str, Any]:
    """Return what expressions see: what stands in the ledger as a list, the board, and the inputs."""
    ledger = [
        {
            "operation": entry.key,
            "tool": entry.tool,
            "step": entry.step,
            "input": entry.input,
            "result": entry.receipt.result,
            "effect": entry.effect,
        }
        for entry in run.standing()
    ]
    return {"ledger": ledger, "board": run.board, "input": run.goal.inputs}


def _judgement_gap(run: Run, requirement: Requirement, judged: OpinionGiven | None) -> Gap | None:
    if judged is None or judged.verdict != "ok":
        why = judged.reason if judged is not None else ""
        return Gap(requirement.id, f"the judge finds it open: {why or 'it gave no reason'}")
    standing = {entry.key for entry in run.standing()}
    if not judged.cites:
        return Gap(requirement.id, "the judge finds it met and cites nothing in the ledger")
    wrong = [key for key in judged.cites if key not in standing]
    if wrong:
        return Gap(requirement.id, f"the judge cites {wrong[0]!r}, which is not in the ledger or was undone")
    return None
