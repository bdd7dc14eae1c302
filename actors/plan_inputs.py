"""The inputs of plans: defaults, and whether they fit the schema of their plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..domain.plan import Plan
from ..domain.plan_file import PlanFile, plans_by_name
from ..domain.tools import TakeInputs
from .json_schemas import problems_of, validator_of


def plans_to_call(plans: Iterable[PlanFile]) -> tuple[dict[str, Plan], dict[str, TakeInputs]]:
    """Return plans, and what takes the inputs of those that have a schema for them, by their names as tools.

    Raises:
        ToolDefinitionError: two have one identifier, or one asks for what is not carried out.
    """
    listed = tuple(plans)
    takers = {each.tool_name: _taker(each.input_schema) for each in listed if each.input_schema}
    return plans_by_name(listed), takers


def _taker(schema: Mapping[str, Any]) -> TakeInputs:
    def take(given: Mapping[str, Any]) -> tuple[Mapping[str, Any], Sequence[str]]:
        inputs = with_defaults(schema, given)
        return inputs, input_problems(schema, inputs)

    return take


def with_defaults(schema: Mapping[str, Any] | None, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs with the defaults of their schema for those that are left out."""
    properties = schema.get("properties", {}) if schema else {}
    filled = dict(inputs)
    for name, each in properties.items():
        if isinstance(each, Mapping) and name not in filled and "default" in each:
            filled[name] = each["default"]
    return filled


def input_problems(schema: Mapping[str, Any] | None, inputs: Mapping[str, Any]) -> Sequence[str]:
    """Return everything that keeps inputs from fitting a schema that is one, each with its path."""
    if not schema:
        return []
    return problems_of(validator_of(schema), dict(inputs))
