"""The default planner: a search over what tools declare, on the host's event loop in small portions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from ...domain.goap import DEFAULT_NODE_LIMIT, Answer, Condition, Cost, Goap
from ...domain.planning import PlanningContext

TURN_S = 0.002
"""How long the search holds the event loop before others have a turn."""


class GoapPlanner:
    """Plans the cheapest way to the first of several goals that can be reached.

    Tools take part through ``pre``, ``post``, ``cost`` and ``input`` of their contracts. Nothing but the
    context is looked at, so the same context always gives the same plan.

    Args:
        goals: condition values wanted, the best goal first.
        conditions: functions of the context, or values that hold until something says otherwise, by
            condition; a condition without one follows from the ledger, the board and the inputs.
        costs: costs that depend on the state of the run, by tool.
        node_limit: states to look at before giving up on a goal.
        observes: look again after every step, from what was observed; a plan that stands is no new revision.

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
        observes: bool = True,
    ) -> None:
        self.observes = observes
        self._goap = Goap(goals, conditions=conditions, costs=costs, node_limit=node_limit)

    async def plan(self, context: PlanningContext) -> Answer:
        """Return a plan, the reason why there is none, or that nothing is left to do.

        Raises:
            ToolDefinitionError: a cost is negative or not a finite number.
            UnknownTool: a cost is given for a tool that is not in the catalog.
            InvalidInputError: a condition's function answered something else than true, false or ``None``.
        """
        now = asyncio.get_running_loop().time
        deliberation = self._goap.deliberate(context)
        turn_ends = now() + TURN_S
        while True:
            try:
                next(deliberation)
            except StopIteration as end:
                answer: Answer = end.value
                return answer
            if now() >= turn_ends:
                await asyncio.sleep(0)
                turn_ends = now() + TURN_S
