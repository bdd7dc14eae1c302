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


def schema_problem(schema: Any) -> str:
    """Return why people cannot fill in what a schema asks for, or nothing where they can.

    Args:
        schema: what stands in the place of a JSON Schema.
    """
    if not isinstance(schema, Mapping):
        return f"it must be a JSON Schema, which is an object, not {schema!r}"
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        return "'properties' must be an object"
    if schema.get("type", "object") != "object" or ("type" not in schema and "properties" not in schema):
        return "it must say 'type: object', or have 'properties'"
    if not isinstance(schema.get("required", []), (list, tuple)):
        return "'required' must be a list"
    return next(filter(None, (property_problem(name, each) for name, each in properties.items())), "")


def property_problem(name: str, field: Any) -> str:
    """Return why people cannot fill in a property, or nothing where they can."""
    if isinstance(field, Mapping):
        if isinstance(field.get("enum"), (list, tuple)) or "const" in field:
            return ""
        kind = field.get("type")
        if isinstance(kind, str) and kind in _TYPES:
            return ""
    return (
        f"property {name!r} of what is asked must be a string, number, integer, boolean or enum, so that a "
        "person can fill it in"
    )


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
    """Return what a value would have to be, or nothing where it fits."""
    choices = (field["const"],) if "const" in field else field.get("enum")
    if isinstance(choices, (list, tuple)):
        if any(value == each and isinstance(value, bool) is isinstance(each, bool) for each in choices):
            return ""
        return f"is one of {', '.join(map(repr, choices))}"
    kind = field.get("type", "")
    types = _TYPES.get(kind)
    if types is not None:
        fits = isinstance(value, types) and (kind == "boolean" or not isinstance(value, bool))
        if not fits:
            return f"is a {kind}"
    return _out_of_bounds(value, field)


def _out_of_bounds(value: Any, field: Mapping[str, Any]) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        size, bounds, words = float(value), ("minimum", "maximum"), ""
    elif isinstance(value, str):
        size, bounds, words = float(len(value)), ("minLength", "maxLength"), " characters"
    else:
        return ""
    least, most = (field.get(each) for each in bounds)
    if isinstance(least, (int, float)) and size < least:
        return f"has {least}{words} at least" if words else f"is {least} or more"
    if isinstance(most, (int, float)) and size > most:
        return f"has {most}{words} at most" if words else f"is {most} or less"
    return ""
