"""The calls that a plan makes, in its steps and in their bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ..control import bodies_of
from ..control.bodies import step_label
from ..problems import JsonPath
from .model import PlanFile


class Call(msgspec.Struct, frozen=True):
    """A call that a plan makes, in a step or in a body of one.

    Args:
        tool: the tool name as written.
        input: its arguments as written.
        path: where the step or call stands.
        step: id of the step.
    """

    tool: str
    input: Mapping[str, Any]
    path: JsonPath
    step: str


def calls_of(plan: PlanFile) -> Iterator[Call]:
    """Return every call of a plan, control steps included, those in bodies behind the step they are in."""
    for index, step in enumerate(plan.steps):
        yield Call(step.tool_name, step.input, ("steps", index), step.id)
        yield from _body_calls(step.tool_name, step.input, ("steps", index), step.id)


def _body_calls(tool: str, input: Mapping[str, Any], path: JsonPath, step: str) -> Iterator[Call]:
    for name in bodies_of(tool):
        body = input.get(name)
        if isinstance(body, Mapping):
            yield _call(body, (*path, "input", name), step)
        for index, each in enumerate(body if isinstance(body, (list, tuple)) else ()):
            yield _call(each, (*path, "input", name, index), step_label(each, index))


def _call(value: Mapping[str, Any], path: JsonPath, step: str) -> Call:
    return Call(value["tool_name"], value.get("input", {}), path, step)
