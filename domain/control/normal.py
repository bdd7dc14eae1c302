"""Steps in the order and the spelling of the plan language, whatever they were written in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .bodies import STEP_FIELDS
from .fields import CAMEL_CASE
from .model import CONTROLS
from .parse import FIELDS, bodies_of

_CONDITIONS = ("when", "if", "where")
_CONDITION_FIELDS = ("value", "op", "to", "expr")


def normal_step(value: Any) -> Any:
    """Return a step, or a call in a body; what is neither comes back as it is."""
    if not isinstance(value, Mapping):
        return value
    ordered = in_order(value, STEP_FIELDS)
    tool, input = ordered.get("tool_name"), ordered.get("input")
    if isinstance(tool, str) and isinstance(input, Mapping):
        ordered["input"] = normal_input(tool, input)
    return ordered


def normal_input(tool: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the input of a control step with its fields in order; that of another tool is the tool's own."""
    if tool not in CONTROLS:
        return value
    ordered = in_order(value, FIELDS[tool])
    for name in bodies_of(tool):
        body = ordered.get(name)
        if isinstance(body, list):
            ordered[name] = [normal_step(each) for each in body]
        elif name in ordered:
            ordered[name] = normal_step(body)
    for name in _CONDITIONS:
        if isinstance(ordered.get(name), Mapping):
            ordered[name] = in_order(ordered[name], _CONDITION_FIELDS)
    return ordered


def in_order(value: Mapping[str, Any], fields: Iterable[str]) -> dict[str, Any]:
    """Return an object with these fields first, in snake case; what is none of them comes last, as it is."""
    spelled = {CAMEL_CASE.get(key, key): each for key, each in value.items()}
    ordered = {name: spelled.pop(name) for name in fields if name in spelled}
    return ordered | spelled
