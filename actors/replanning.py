"""Tools that ask for another plan by themselves.

Each of these takes a tool and returns one with the same contract, to be registered instead of it; they can be
put around each other, and then all of them are asked. What they look at is the final result of a call, as the
function returned it (of a `Receipt` its ``result``), on the event loop: so they only compute. The receipt is
recorded whatever they say, and also when one raises: that is a failure, which a planner's plan answers with a
new plan, and a person's by failing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ..domain.errors import ToolDefinitionError
from ..domain.tools import USER_PREFIX
from .rules import ReplanDecision, ReplanRule
from .tools import Tool, as_tool, is_async

AnyTool = Tool | Callable[..., Any]


def replan_always(tool: AnyTool, *, reason: str = "") -> Tool:
    """Return a tool after whose every call another plan is asked for, be it done or failed, retries included.

    Args:
        tool: the tool, or a function.
        reason: why, for the planner and for people.
    """
    inner = as_tool(tool)
    replans = reason or f"{inner.name} asks for another plan after every call"
    return Tool(
        inner.function,
        msgspec.structs.replace(inner.spec, replans=replans),
        probe=inner.probe,
        rules=inner.rules,
    )


def replan_when(tool: AnyTool, predicate: Callable[[Any], object], *, reason: str = "") -> Tool:
    """Return a tool that asks for another plan if a predicate holds on its result.

    Args:
        tool: the tool, or a function.
        predicate: takes the result.
        reason: why, for the planner and for people.

    Raises:
        ToolDefinitionError: the predicate is no plain function.
    """

    def judge(result: Any) -> ReplanDecision | None:
        holds = predicate(result)
        return ReplanDecision(why) if holds else None

    inner = as_tool(tool)
    why = reason or f"the result of {inner.name} calls for another plan"
    return _with_rule(inner, "replan_when", predicate, judge)


def replan_and_add(tool: AnyTool, compute: Callable[[Any], Any], *, name: str = "", reason: str = "") -> Tool:
    """Return a tool that puts a computed value onto the board, and has a plan made with it.

    Args:
        tool: the tool, or a function.
        compute: takes the result; returns a JSON value, or ``None`` for no value and no plan.
        name: what the value is called on the board; by default the bare name of the tool.
        reason: why, for the planner and for people.

    Raises:
        ToolDefinitionError: ``compute`` is no plain function.
    """

    def judge(result: Any) -> ReplanDecision | None:
        value = compute(result)
        return None if value is None else ReplanDecision(why, {key: value})

    inner = as_tool(tool)
    key = name or inner.name.removeprefix(USER_PREFIX)
    why = reason or f"{inner.name} found out {key}"
    return _with_rule(inner, "replan_and_add", compute, judge)


def conditional_replan(tool: AnyTool, decider: Callable[[Any], ReplanDecision | None]) -> Tool:
    """Return a tool whose results a decider looks at.

    Args:
        tool: the tool, or a function.
        decider: takes the result; returns a `ReplanDecision`, or ``None`` for no other plan. It is not asked
            where there is no result.

    Raises:
        ToolDefinitionError: the decider is no plain function.
    """

    def judge(result: Any) -> ReplanDecision | None:
        return None if result is None else decider(result)

    return _with_rule(as_tool(tool), "conditional_replan", decider, judge)


def _with_rule(
    inner: Tool, name: str, function: Callable[[Any], Any], judge: Callable[[Any], ReplanDecision | None]
) -> Tool:
    if is_async(function):
        raise ToolDefinitionError(
            f"tool {inner.name!r}: {name} takes a plain function of the result, not {function!r}; what has "
            "to wait for something belongs in the tool, which may raise RequestReplan"
        )
    return Tool(inner.function, inner.spec, probe=inner.probe, rules=(*inner.rules, ReplanRule(name, judge)))
