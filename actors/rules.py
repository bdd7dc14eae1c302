"""Rules that look at the results of a tool for a reason to plan anew.

All of them are asked about every result, and what they say is put together.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ..domain.facts import Failure
from .json_values import text


class ReplanDecision(msgspec.Struct, frozen=True):
    """That another plan is wanted.

    Args:
        reason: why, for the planner and for people.
        updates: JSON values to put on the board for the planner.
    """

    reason: str
    updates: Mapping[str, Any] = {}


class ReplanRule(NamedTuple):
    """Looks at the result of a call for a reason to plan anew.

    Args:
        name: what it is called in errors.
        judge: takes the result; returns the decision, or ``None`` where the plan is as good as it was.
    """

    name: str
    judge: Callable[[Any], ReplanDecision | None]


class Judgement(NamedTuple):
    """What the rules say together.

    Args:
        reason: why another plan is wanted.
        updates: values for the board.
        failure: the first rule that raised; the others were asked all the same.
    """

    reason: str
    updates: Mapping[str, Any]
    failure: Failure | None


def judge(rules: Sequence[ReplanRule], tool: str, result: Any) -> Judgement | None:
    """Ask a tool's rules about a result; return ``None`` where none of them wants another plan.

    Whatever a rule raises, the operation is committed: it becomes a failure beside the receipt.
    """
    reasons: list[str] = []
    updates: dict[str, Any] = {}
    failure: Failure | None = None
    for rule in rules:
        try:
            decision = _checked(rule.judge(result))
        except Exception as error:  # noqa: BLE001 - a boundary: a rule raises what it likes
            failure = failure or _failure(tool, rule, error)
            continue
        if decision is not None:
            reasons.append(decision.reason)
            updates |= decision.updates
    if not reasons and failure is None:
        return None
    return Judgement("; ".join(reasons), updates, failure)


def _checked(decision: Any) -> ReplanDecision | None:
    if inspect.iscoroutine(decision):
        decision.close()
    if decision is None or isinstance(decision, ReplanDecision):
        return decision
    raise TypeError(
        f"it answered {decision!r:.100}, a {type(decision).__qualname__}; answer a ReplanDecision or None"
    )


def _failure(tool: str, rule: ReplanRule, error: Exception) -> Failure:
    problem = f"{type(error).__qualname__}: {text(error)}".removesuffix(": ")
    message = f"{rule.name} on {tool} raised {problem}; the receipt of the call stands"
    return Failure("replan_rule", message, error_type=type(error).__qualname__)
