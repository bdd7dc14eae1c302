"""Costs as exact integers, so that equal plans compare equal whatever the order of their steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ..errors import ToolDefinitionError
from ..planning import PlanningContext

Cost = Callable[[PlanningContext], float]
"""Computes a tool's cost from the state of a run."""

LENGTH_BITS = 20
"""Low bits of a weight count actions: of two plans that cost the same, the shorter one is cheaper."""


def costs_of_tools(context: PlanningContext, computed: Mapping[str, Cost]) -> dict[str, float]:
    """Return the cost of one call of every tool of the catalog.

    Args:
        context: the run as it is.
        computed: costs that depend on the state, by full or bare name of the tool.

    Raises:
        UnknownTool: a computed cost is for no tool of the catalog.
        ToolDefinitionError: a cost is not a finite number of at least 0.
    """
    costs = {spec.name: _checked(spec.cost, spec.name, "its declared cost") for spec in context.tools}
    for name in sorted(computed):
        tool = context.tools.resolve(name).name
        costs[tool] = _checked(computed[name](context), tool, "the cost computed for it")
    return costs


def weights(costs: Mapping[str, float]) -> dict[str, int]:
    """Return each cost as an integer, all in the same unit, with one action in the low bits."""
    ratios = {tool: cost.as_integer_ratio() for tool, cost in costs.items()}
    # Floats are fractions over powers of two, so the greatest denominator is a multiple of all others.
    unit = max((denominator for _, denominator in ratios.values()), default=1)
    return {
        tool: numerator * (unit // denominator) << LENGTH_BITS | 1
        for tool, (numerator, denominator) in ratios.items()
    }


def _checked(cost: object, tool: str, which: str) -> float:
    if isinstance(cost, bool) or not isinstance(cost, (int, float)) or not math.isfinite(cost) or cost < 0:
        raise ToolDefinitionError(f"tool {tool!r}: {which} is {cost!r}; use a finite number of at least 0")
    return float(cost)
