"""The planner itself, without a shell: from a context to a plan, or to the reason why there is none."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TypeAlias

from ..errors import InvalidInputError
from ..plan import GoalReached, NoPlan, Plan
from ..planning import PlanningContext
from .beliefs import Condition
from .costs import LENGTH_BITS, Cost
from .explain import described, why_unreachable
from .problem import Problem, Situation
from .search import search
from .steps import proposal

Answer: TypeAlias = Plan | NoPlan | GoalReached

DEFAULT_NODE_LIMIT = 10_000
MAX_NODE_LIMIT = (1 << LENGTH_BITS) - 1


class Goap:
    """Goal-oriented action planning: the cheapest way to the first goal that can be reached.

    Tools are actions: their ``pre`` must hold before, their ``post`` holds after, their ``cost`` is paid. A
    standing reversible operation may be taken back first, for the cost of its undo tool; then what it brought
    about no longer holds. What is irreversible stays. A tool that is the undo of another is never a step.

    Tools in ``context.excluded`` are left out, and used only if no goal can be reached without them.

    Args:
        goals: condition values wanted, the best goal first; the first that can be reached is planned for.
        conditions: functions of the context, or values that hold until something says otherwise, by
            condition. A function is asked twice, as things are and with all that can be undone taken back; if
            the answers differ, it is asked for each case that is considered, else it is taken not to depend
            on undos.
        costs: costs that depend on the state, by full or bare name of the tool, in place of its ``cost``.
        node_limit: states to look at before giving up on a goal.

    Raises:
        InvalidInputError: a goal is empty, a value is not a boolean, or the limit is out of range.
    """

    def __init__(
        self,
        goals: Sequence[Mapping[str, bool]],
        *,
        conditions: Mapping[str, Condition] | None = None,
        costs: Mapping[str, Cost] | None = None,
        node_limit: int = DEFAULT_NODE_LIMIT,
    ) -> None:
        self.goals = _checked_goals(goals)
        self.conditions = _checked_conditions(conditions or {})
        self.costs = dict(costs or {})
        if not 1 <= node_limit <= MAX_NODE_LIMIT:
            raise InvalidInputError(f"node_limit is {node_limit}; it must be between 1 and {MAX_NODE_LIMIT}")
        self.node_limit = node_limit

    def plan(self, context: PlanningContext) -> Answer:
        """Return a plan, the reason why there is none, or that nothing is left to do.

        Raises:
            ToolDefinitionError: a cost is negative or not a finite number.
            UnknownTool: a cost is given for a tool that is not in the catalog.
            InvalidInputError: a condition's function answered something else than true, false or ``None``.
        """
        deliberation = self.deliberate(context)
        while True:
            try:
                next(deliberation)
            except StopIteration as end:
                answer: Answer = end.value
                return answer

    def deliberate(self, context: PlanningContext) -> Generator[None, None, Answer]:
        """Do the same in small portions: yield after each, return the answer."""
        situation = Situation(context, goals=self.goals, conditions=self.conditions, costs=self.costs)
        excluded = context.excluded & {action.spec.name for action in situation.actions}
        refusals: list[list[str]] = []
        for without in (excluded, frozenset[str]()) if excluded else (excluded,):
            refusals.clear()
            wanted = 0
            for number in range(len(self.goals)):
                problem = Problem(situation, self.goals[number], without=without)
                wanted |= problem.wanted
                outcome = yield from search(problem, node_limit=self.node_limit)
                if outcome.moves is not None:
                    reason = "; ".join(
                        [self._named(number), *_left_out(without), *(why[0] for why in refusals)]
                    )
                    if not outcome.moves:
                        return GoalReached(f"reached: {reason}")
                    return proposal(situation, outcome.moves, reason=reason, wanted=wanted)
                if not outcome.exhausted:
                    return NoPlan(self._limit_reached(number))
                first, *further = why_unreachable(situation, problem, without=without)
                refusals.append([f"{self._named(number)} cannot be reached: {first}", *further])
        return NoPlan("; ".join(clause for clauses in refusals for clause in clauses))

    def _named(self, number: int) -> str:
        of = f" {number + 1} of {len(self.goals)}" if len(self.goals) > 1 else ""
        return f"goal{of} ({described(self.goals[number])})"

    def _limit_reached(self, number: int) -> str:
        return (
            f"{self._named(number)}: no plan found among the first {self.node_limit} states; there may be "
            "one further on: raise node_limit, or give the tools narrower pre and post"
        )


def _left_out(without: frozenset[str]) -> list[str]:
    return [f"without {', '.join(sorted(without))}, which the last plan stumbled over"] if without else []


def _checked_goals(goals: Sequence[Mapping[str, bool]]) -> tuple[Mapping[str, bool], ...]:
    if not goals or isinstance(goals, Mapping):
        raise InvalidInputError(
            'goals must be a list of goals, the best first, such as [{"delivered": True}]'
        )
    for number, goal in enumerate(goals, 1):
        if not isinstance(goal, Mapping):
            raise InvalidInputError(
                f'goal {number} is {goal!r}; it maps conditions to values, such as {{"delivered": True}}'
            )
        if not goal:
            raise InvalidInputError(f"goal {number} is empty; name the condition values it wants")
        for name, value in goal.items():
            if not isinstance(value, bool):
                raise InvalidInputError(f"goal {number}: {name!r} is {value!r}; it must be True or False")
    return tuple(dict(goal) for goal in goals)


def _checked_conditions(conditions: Mapping[str, Condition]) -> dict[str, Condition]:
    for name, rule in conditions.items():
        if not (callable(rule) or rule is None or isinstance(rule, bool)):
            raise InvalidInputError(
                f"condition {name!r} is {rule!r}; it must be a function of the context, True, False or None"
            )
    return dict(conditions)
