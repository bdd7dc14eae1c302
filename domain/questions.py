"""Questions to people, and whether an answer fits: flat objects of primitive values, as forms have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
}


def problems_of(answer: Any, schema: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with an answer; all of it, each with its field.

    Args:
        answer: the answer.
        schema: a JSON Schema of an object whose properties have primitive types or are enums.
    """
    if not isinstance(answer, Mapping):
        return [f"an answer is an object with {', '.join(schema.get('properties', {})) or 'no fields'}"]
    return [*_problems(answer, schema)]


def _problems(answer: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    properties: Mapping[str, Any] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in answer:
            yield f"{name} is missing"
    for name, value in answer.items():
        if name not in properties:
            yield f"{name} is no field (there are: {', '.join(properties) or 'none'})"
        elif problem := _misfit(value, properties[name]):
            yield f"{name} {problem}, not {value!r}"


def _misfit(value: Any, field: Mapping[str, Any]) -> str:
    choices = field.get("enum")
    if choices is not None:
        return "" if value in choices else f"is one of {', '.join(map(repr, choices))}"
    kind = field.get("type", "")
    types = _TYPES.get(kind)
    if types is None:
        return ""
    fits = isinstance(value, types) and (kind == "boolean" or not isinstance(value, bool))
    return "" if fits else f"is a {kind}"
