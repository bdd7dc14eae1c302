"""A planner made of any Python callable."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, cast

from ...domain.errors import InvalidInputError
from ...domain.plan import GoalReached, NoPlan, Plan, Step
from ...domain.planning import PlanningContext

FunctionAnswer: TypeAlias = Plan | NoPlan | GoalReached | list[Step]
PlanningFunction: TypeAlias = Callable[[PlanningContext], FunctionAnswer | Awaitable[FunctionAnswer]]

_MAX_SHOWN = 200


class PlannerAnswerError(InvalidInputError):
    """A planner answered something that is no plan.

    Args:
        planner: name of the planner.
        answer: what it answered.
        problem: what is wrong with it, as the rest of a sentence that begins with the answer.
    """

    def __init__(self, planner: str, answer: object, problem: str) -> None:
        self.planner = planner
        self.answer = answer
        super().__init__(
            f"planner {planner!r} answered {_shown(answer)}, {problem}; it must return a Plan, a non-empty "
            "list of Step, NoPlan(reason) or GoalReached()"
        )


class FunctionPlanner:
    """Plans by calling a function with the context.

    An async callable is awaited. A sync one is called on the event loop itself, which waits for it: it should
    only compute, for milliseconds. A planner that blocks or reads from elsewhere belongs in an async
    callable, which may use a thread of its own.

    Args:
        function: takes the context; returns a plan, or its steps as a list, or ``NoPlan`` or ``GoalReached``.
        name: what errors call it; the function's own name if left out.
    """

    def __init__(self, function: PlanningFunction, *, name: str = "") -> None:
        self._function = function
        self._name = name or getattr(function, "__qualname__", type(function).__name__)

    async def plan(self, context: PlanningContext) -> Plan | NoPlan | GoalReached:
        """Return the function's answer; what the function raises is raised.

        Raises:
            PlannerAnswerError: the answer is no plan and no reason why there is none.
        """
        answer: Any = self._function(context)
        if inspect.isawaitable(answer):
            answer = await answer
        if isinstance(answer, (Plan, NoPlan, GoalReached)):
            return answer
        return Plan(tuple(self._steps(answer)))

    def _steps(self, answer: object) -> list[Step]:
        if not isinstance(answer, list):
            raise PlannerAnswerError(self._name, answer, f"which is {_kind(answer)}")
        if not answer:
            raise PlannerAnswerError(self._name, answer, "which does not say whether the goal is reached")
        for position, step in enumerate(answer):
            if not isinstance(step, Step):
                raise PlannerAnswerError(self._name, answer, f"whose item {position} is {_kind(step)}")
        return cast(list[Step], answer)


def _kind(value: object) -> str:
    return "nothing" if value is None else f"of type {type(value).__name__}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
