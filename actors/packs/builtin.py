"""Making built-in tools: their names begin with ``builtin__``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ...domain.builtins import BUILTIN_PREFIX
from ...domain.tools import ToolSpec
from ..tools import Tool


def builtin(function: Callable[..., Any], **terms: Any) -> Tool:
    """Return the built-in tool of a function, with its name and the first paragraph of its docstring.

    Args:
        function: what is called; a parameter annotated `ToolContext` is given one.
        terms: the other fields of its contract, as in `ToolSpec`.
    """
    summary = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())
    spec = ToolSpec(name=BUILTIN_PREFIX + function.__name__, description=summary, **terms)
    return Tool(function, spec)


def record(**types: str) -> dict[str, Any]:
    """Return the JSON Schema of a result with these fields, each of a JSON type; ``any`` is anything."""
    properties = {name: {} if kind == "any" else {"type": kind} for name, kind in types.items()}
    return {
        "type": "object",
        "properties": properties,
        "required": list(types),
        "additionalProperties": False,
    }
