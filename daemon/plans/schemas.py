"""JSON Schema: whether the schemas in a plan are any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...domain.control import bodies_of
from ...domain.control.bodies import step_label
from ...domain.control.fields import key_of
from ...domain.problems import JsonPath, Problem, did_you_mean

_SCHEMA_TOOLS = ("agent", "ask")
_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")


def schema_problems(document: Any) -> list[Problem]:
    """Return what is wrong with the schemas in a document: of inputs, and of what agents and people answer.

    Args:
        document: JSON values; the rest of it may be wrong as well.
    """
    found = []
    if isinstance(document, dict):
        if isinstance(document.get("input_schema"), dict):
            found += _problems_of(document["input_schema"], ("input_schema",), "")
        for path, step, label in _steps(document.get("steps"), ("steps",)):
            tool, input = step.get(key_of(step, "tool_name")), step.get("input")
            if tool in _SCHEMA_TOOLS and isinstance(input, dict):
                key = key_of(input, "output_schema")
                if isinstance(input.get(key), dict):
                    found += _problems_of(input[key], (*path, "input", key), label)
    return found


def _steps(steps: Any, path: JsonPath) -> Iterator[tuple[JsonPath, dict[str, Any], str]]:
    """Return every step and call there is, bodies included, with its place and how messages call it."""
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        if isinstance(step, dict):
            yield from _step(step, (*path, index), step_label(step, index))


def _step(step: dict[str, Any], path: JsonPath, label: str) -> Iterator[tuple[JsonPath, dict[str, Any], str]]:
    yield path, step, label
    tool, input = step.get(key_of(step, "tool_name")), step.get("input")
    if not isinstance(tool, str) or not isinstance(input, dict):
        return
    for name in bodies_of(tool):
        body = input.get(name)
        if isinstance(body, dict):
            yield from _step(body, (*path, "input", name), label)
        yield from _steps(body, (*path, "input", name))


def _problems_of(schema: Mapping[str, Any], path: JsonPath, step: str) -> list[Problem]:
    import jsonschema_rs

    try:
        jsonschema_rs.Draft202012Validator(dict(schema), offline=True)
    except jsonschema_rs.ValidationError as error:
        where = (*path, *error.instance_path)
        return [Problem(f"is no JSON Schema: {_said(error.message, where, error.instance)}", where, step)]
    except (jsonschema_rs.ReferencingError, ValueError) as error:
        return [Problem(f"is no JSON Schema that can be used: {_first_line(error)}", path, step)]
    return []


def _said(message: str, where: JsonPath, value: Any) -> str:
    """Return what is wrong with a schema, and what types there are where a type is none."""
    if where[-1:] == ("type",) and isinstance(value, str):
        hint = did_you_mean(value, _TYPES, otherwise=f"there are: {', '.join(_TYPES)}")
        return f"there is no type {value!r}{hint}"
    return message


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
