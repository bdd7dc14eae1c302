"""The tools that steps and the bodies of control steps call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .parse import bodies_of


def with_names(tool: str, input: Any, rename: Callable[[str], str]) -> Any:
    """Return the input of a step with the tools in its bodies renamed; that of other tools is left as it is.

    Args:
        tool: the name of the step's tool.
        input: its input.
        rename: returns the new name of a tool.
    """
    bodies = bodies_of(tool)
    if not bodies or not isinstance(input, Mapping):
        return input
    named = dict(input)
    for name in bodies:
        body = named.get(name)
        if isinstance(body, (list, tuple)):
            named[name] = [_renamed(call, rename) for call in body]
        elif body is not None:
            named[name] = _renamed(body, rename)
    return named


def tools_called(tool: str, input: Any) -> Iterator[str]:
    """Yield the tool of a step, and those that its bodies call."""
    yield tool
    if not isinstance(input, Mapping):
        return
    for name in bodies_of(tool):
        body = input.get(name)
        for call in body if isinstance(body, (list, tuple)) else (body,):
            if isinstance(call, Mapping) and isinstance(call.get("tool_name"), str):
                yield from tools_called(call["tool_name"], call.get("input"))


def _renamed(call: Any, rename: Callable[[str], str]) -> Any:
    if not isinstance(call, Mapping) or not isinstance(call.get("tool_name"), str):
        return call
    name = rename(call["tool_name"])
    return {**call, "tool_name": name, "input": with_names(name, call.get("input"), rename)}
