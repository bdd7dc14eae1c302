"""Writing a plan file: one order of fields and one spelling. Comments are not part of the document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ..control import CONTROLS, bodies_of
from ..control.bodies import STEP_FIELDS
from ..control.fields import CAMEL_CASE
from ..control.parse import FIELDS as CONTROL_FIELDS
from .document import FIELDS
from .model import PlanFile

_CONDITIONS = ("when", "if", "where")
_CONDITION_FIELDS = ("value", "op", "to", "expr")
_SOLVER_FIELDS = ("query_to_answer", "system_prompt", "data")


def written(plan: PlanFile) -> dict[str, Any]:
    """Return a plan as the document of its file."""
    document: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(plan))
    document["steps"] = [{"input": {}, **step} for step in document["steps"]]
    return normal_document(document)


def normal_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with its fields in order and in snake case; what does not belong there comes last."""
    ordered = _in_order(document, FIELDS)
    if isinstance(ordered.get("steps"), list):
        ordered["steps"] = [normal_step(each) for each in ordered["steps"]]
    if isinstance(ordered.get("solver"), Mapping):
        ordered["solver"] = _in_order(ordered["solver"], _SOLVER_FIELDS)
    return ordered


def normal_step(value: Any) -> Any:
    """Return a step, or a call in a body, in the order and the spelling of the plan language."""
    if not isinstance(value, Mapping):
        return value
    ordered = _in_order(value, STEP_FIELDS)
    tool, input = ordered.get("tool_name"), ordered.get("input")
    if isinstance(tool, str) and tool in CONTROLS and isinstance(input, Mapping):
        ordered["input"] = _control(tool, input)
    return ordered


def _control(tool: str, value: Mapping[str, Any]) -> dict[str, Any]:
    ordered = _in_order(value, CONTROL_FIELDS[tool])
    for name in bodies_of(tool):
        body = ordered.get(name)
        if isinstance(body, list):
            ordered[name] = [normal_step(each) for each in body]
        elif name in ordered:
            ordered[name] = normal_step(body)
    for name in _CONDITIONS:
        if isinstance(ordered.get(name), Mapping):
            ordered[name] = _in_order(ordered[name], _CONDITION_FIELDS)
    return ordered


def _in_order(value: Mapping[str, Any], fields: Iterable[str]) -> dict[str, Any]:
    spelled = {CAMEL_CASE.get(key, key): each for key, each in value.items()}
    ordered = {name: spelled.pop(name) for name in fields if name in spelled}
    return ordered | spelled
