"""Planners and tools that do what a test says, in order, and remember what they were asked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from ...domain.plan import GoalReached, NoPlan, Plan
from ...domain.planning import PlanningContext
from ..context import ToolContext
from ..control import ToolError
from ..planners.function import FunctionPlanner, PlanningFunction
from ..tools import Tool, tool

PlannedAnswer: TypeAlias = Plan | NoPlan | GoalReached | Exception | PlanningFunction


class ScriptEndedError(ToolError):
    """Something scripted was asked once more than its script foresees."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False)


class ScriptedPlanner:
    """A planner that gives one answer after the other.

    Args:
        answers: plans and other answers, errors to raise, or functions of the context (async ones may wait).

    Attributes:
        contexts: what it was asked with.
    """

    def __init__(self, *answers: PlannedAnswer) -> None:
        self._answers = list(answers)
        self.contexts: list[PlanningContext] = []

    async def plan(self, context: PlanningContext) -> Plan | NoPlan | GoalReached:
        """Return the next answer.

        Raises:
            ScriptEndedError: there is no further one.
        """
        self.contexts.append(context)
        if len(self.contexts) > len(self._answers):
            raise ScriptEndedError(
                f"the planner has a script of {len(self._answers)} answers, and was asked again"
            )
        answer = self._answers[len(self.contexts) - 1]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, (Plan, NoPlan, GoalReached)):
            return answer
        return await FunctionPlanner(answer, name="scripted").plan(context)


class ToolCall(NamedTuple):
    """One call of a scripted tool.

    Attributes:
        operation: the operation key.
        attempt: number of the attempt.
        arguments: what it was called with.
    """

    operation: str
    attempt: int
    arguments: Mapping[str, Any]


class ScriptedTool(Tool):
    """A tool with a script; make it with `scripted_tool`.

    Attributes:
        calls: what it was called with.
    """

    __slots__ = ("calls",)

    calls: list[ToolCall]


def scripted_tool(
    name: str, *outcomes: Any, arguments: Iterable[str] = (), receipt: bool = False, **terms: Any
) -> ScriptedTool:
    """Make a tool that has one outcome after the other.

    Args:
        name: its name.
        outcomes: values and receipts to return, errors to raise, or functions of the `ToolContext` and the
            arguments (async ones may wait). Without any, every call returns ``None``.
        arguments: names of the arguments it takes, of any JSON value, each optional.
        receipt: it undoes another tool and takes the receipt of what it takes back.
        terms: the terms of its contract, as for ``@tool``.
    """
    calls: list[ToolCall] = []

    async def play(context: ToolContext, **given: Any) -> Any:
        calls.append(ToolCall(context.operation, context.attempt, given))
        if not outcomes:
            return None
        if len(calls) > len(outcomes):
            raise ScriptEndedError(
                f"tool {name!r} has a script of {len(outcomes)} outcomes, and was called again"
            )
        return await _come_out(outcomes[len(calls) - 1], context, given)

    names = [*arguments, *(["receipt"] if receipt else [])]
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=ToolContext)
    ]
    parameters += [inspect.Parameter(each, kind, default=None, annotation=Any) for each in names]
    play.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    play.__annotations__ = {each.name: each.annotation for each in parameters}
    made = tool(name=name, **terms)(play)
    scripted = ScriptedTool(made.function, made.spec, probe=made.probe)
    scripted.calls = calls
    return scripted


async def _come_out(outcome: Any, context: ToolContext, given: Mapping[str, Any]) -> Any:
    if isinstance(outcome, Exception):
        raise outcome
    if not isinstance(outcome, Callable):  # type: ignore[arg-type]  # the class is one for isinstance
        return outcome
    result = outcome(context, **given)
    return await result if inspect.isawaitable(result) else result
