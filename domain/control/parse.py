"""Reading the input of a control step into what the engine carries out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from ..children import PLAN_AND_EXECUTE
from ..expressions import ExpressionError, names_in
from ..problems import Place
from ..questions import problems_of, property_problem, schema_problem
from ..templates import is_literal
from ..templates.paths import kind_of
from . import fields as f
from .bodies import NOT_IN_BODIES, read_body, step_label
from .model import COMPARISONS, CONTROLS, ORDERINGS, UNARY, Body, Condition, Control

_GATE: Final = {"infer": f.WORDS, "model": f.WORDS}
_ITEMS: Final = {"over": f.ITEMS.needed()}

FIELDS: Final[Mapping[str, Mapping[str, f.Field]]] = {
    "exit": {
        "when": f.OBJECT, **_GATE, "status": f.choice("success", "error").needed(), "message": f.TEXT,
        "output": f.OBJECT,
    },
    "decide": {"if": f.OBJECT, **_GATE, "then": f.BODY.needed(), "else": f.BODY},
    "filter": {**_ITEMS, "where": f.OBJECT, **_GATE, "concurrency": f.COUNT},
    "map": {**_ITEMS, "do": f.BODY.needed(), "concurrency": f.COUNT},
    "reduce": {**_ITEMS, "do": f.BODY.needed(), "initial": f.ANY},
    "agent": {
        "prompt": f.WORDS.needed(), "output_schema": f.SCHEMA.needed(), "tools": f.TEXTS,
        "max_iterations": f.COUNT, "model": f.WORDS, "system_prompt": f.TEXT,
    },
    "ask": {
        "prompt": f.WORDS.needed(), "output_schema": f.SCHEMA_LATER.needed(),
        "when_unanswered": f.choice("fail", "default"), "default": f.ANY,
    },
    "wait": {
        "until": f.WORDS, "for_s": f.SECONDS_LATER, "signal": f.WORDS, "timeout_s": f.SECONDS_LATER,
    },
}  # fmt: skip
"""The fields of every control step's input, in the order they are written in."""

_NAMES: Final = {
    tool: {field.encode_name: field.name for field in msgspec.structs.fields(kind)}
    for tool, kind in CONTROLS.items()
}
_CONDITION: Final = {"value": f.ANY, "op": f.choice(*COMPARISONS), "to": f.ANY, "expr": f.WORDS}
_CONDITIONS: Final = {"exit": "when", "decide": "if", "filter": "where"}
_BODIES: Final = {"decide": ("then", "else"), "map": ("do",), "reduce": ("do",)}


def bodies_of(tool: str) -> tuple[str, ...]:
    """Return the names of the fields that hold bodies, for a control step or any other tool."""
    return _BODIES.get(tool, ())


def parse_control(tool: str, value: Any, place: Place) -> Control | None:
    """Return what a control step is to do.

    Templates in it are left as they are; their syntax and what they refer to is looked at elsewhere.

    Args:
        tool: one of ``CONTROLS``.
        value: the input of the step.
        place: where the input stands; takes the problems.

    Returns:
        The step's input, read; ``None`` if there was a problem.
    """
    before = len(place.found)
    read = f.read_object(value, FIELDS[tool], place, f"the input of {tool!r}")
    if read is None:
        return None
    for name in bodies_of(tool):
        if name in read:
            raw = read[name]
            read[name] = read_body(raw, place.at(name), name)
            _check_inner(raw, place.at(name))
    if tool in _CONDITIONS:
        _read_gate(tool, read, value, place)
    check = _CHECKS.get(tool)
    if check is not None:
        check(read, value, place)
    if any(problem.is_error for problem in place.found[before:]):
        return None
    return _build(tool, read)


def _check_inner(body: Any, place: Place) -> None:
    """Read the control steps of a body, for their problems."""
    calls: list[tuple[Place, Any]] = [(place, body)]
    if isinstance(body, list):
        calls = [(place.at(index, step=step_label(each, index)), each) for index, each in enumerate(body)]
    for where, each in calls:
        tool = each.get(f.key_of(each, "tool_name")) if isinstance(each, dict) else None
        if isinstance(tool, str) and tool in CONTROLS and tool not in NOT_IN_BODIES:
            input = each.get("input")
            if isinstance(input, dict):
                parse_control(tool, input, where.at("input"))


def _build(tool: str, read: Mapping[str, Any]) -> Control:
    names = _NAMES[tool]
    made: Control = CONTROLS[tool](**{names[name]: _as_tuple(each) for name, each in read.items()})
    return made


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _read_gate(tool: str, read: dict[str, Any], value: Mapping[str, Any], place: Place) -> None:
    name = _CONDITIONS[tool]
    if name in value and "infer" in value:
        place.at("infer").say(f"{name!r} and 'infer' exclude each other; leave one of them out")
    elif tool != "exit" and name not in value and "infer" not in value:
        place.say(f"the input of {tool!r} needs {name!r} or 'infer', to decide by")
    if name in read:
        read[name] = _read_condition(read[name], place.at(name))


def _read_condition(value: Any, place: Place) -> Condition | None:
    read = f.read_object(value, _CONDITION, place, "a condition")
    if read is None:
        return None
    if "expr" in value:
        others = [name for name in ("value", "op", "to") if name in value]
        if others:
            place.say(
                f"a condition is {{value, op, to}} or {{expr}}, not both; leave {', '.join(others)} out"
            )
        if "expr" in read:
            _check_expression(read["expr"], place.at("expr"))
        return Condition(**read)
    missing = [name for name in ("value", "op") if name not in value]
    if missing:
        place.say(f"a condition needs {' and '.join(map(repr, missing))}: {{value, op, to}}, or {{expr}}")
    op = read.get("op")
    if op and op not in UNARY and "to" not in value:
        place.say(f"a condition with 'op: {op}' needs the field 'to': what the value is compared to")
    if op in ORDERINGS:
        for name in ("value", "to"):
            each = read.get(name, 0)
            if not f.is_template(each) and kind_of(each) != "number":
                place.at(name).say(f"condition: ordering ops need numbers, got {kind_of(each)}")
    return Condition(**read)


def _check_expression(text: str, place: Place) -> None:
    if "{{" in text:
        place.say("an expression holds no templates; write the path itself: E0.count > 3")
        return
    try:
        names_in(text)
    except ExpressionError as error:
        place.say(f"{text!r} is not a CEL expression: {error}")


def _check_agent(read: dict[str, Any], _value: Mapping[str, Any], place: Place) -> None:
    if read.get("tools") == []:
        place.at("tools").say(
            "'tools' is empty; name tools or globs such as 'user__*', or leave it out for all"
        )
    for index, each in enumerate(read.get("tools", ())):
        if each == PLAN_AND_EXECUTE:
            place.at("tools", index).say(f"an agent cannot call {PLAN_AND_EXECUTE!r}; name other tools")
    schema = read.get("output_schema")
    if schema is not None and schema.get("type") != "object" and "properties" not in schema:
        place.at("output_schema").say("'output_schema' must say 'type: object', or have 'properties'")


def _check_ask(read: dict[str, Any], value: Mapping[str, Any], place: Place) -> None:
    schema = read.get("output_schema")
    where = place.at(f.key_of(value, "output_schema"))
    if isinstance(schema, dict):
        _check_flat(schema, where)
    unanswered = f.key_of(value, "when_unanswered")
    if read.get("when_unanswered") == "default":
        if "default" not in value:
            place.at(unanswered).say("'when_unanswered: default' needs the field 'default': the answer then")
        elif not isinstance(read.get("default"), dict) and not f.is_template(read.get("default")):
            place.at("default").say("'default' must be an object that fits 'output_schema', or a template")
        elif isinstance(schema, dict) and not schema_problem(schema) and is_literal(read["default"]):
            for problem in problems_of(read["default"], schema):
                place.at("default").say(f"'default' does not fit 'output_schema': {problem}")
    elif "default" in value:
        place.at("default").say(
            "'default' counts only with 'when_unanswered: default'; add that, or leave it out"
        )


def _check_flat(schema: Mapping[str, Any], place: Place) -> None:
    if schema.get("type") != "object" and "properties" not in schema:
        place.say("'output_schema' must say 'type: object', or have 'properties'")
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        return  # what is no schema at all is said where schemas are checked
    for name, each in properties.items():
        if problem := property_problem(name, each):
            place.at("properties", name).say(problem)


def _check_wait(read: dict[str, Any], value: Mapping[str, Any], place: Place) -> None:
    named = [name for name in ("until", "for_s", "signal") if name in value]
    if len(named) != 1:
        told = f"not {' and '.join(map(repr, named))}" if named else "and has none of them"
        place.say(f"the input of 'wait' needs one of 'until', 'for_s' and 'signal', {told}")
    if "timeout_s" in value and "signal" not in value:
        place.at("timeout_s").say("'timeout_s' belongs to 'signal'; leave it out")
    until = read.get("until", "")
    if until and not f.is_template(until) and not _is_time(until):
        place.at("until").say(
            f"'until' must be a time with its zone such as '2030-01-31T09:00:00Z', not {until!r}"
        )


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


_CHECKS: Final[Mapping[str, Callable[[dict[str, Any], Mapping[str, Any], Place], None]]] = {
    "agent": _check_agent,
    "ask": _check_ask,
    "wait": _check_wait,
}


def as_control(tool: str, value: Any) -> Control:
    """Return the input of a control step that was checked before.

    Raises:
        ValueError: there is a problem with it.
    """
    found: list[Any] = []
    control = parse_control(tool, value, Place(found))
    if control is None:
        raise ValueError("; ".join(map(str, found)))
    return control


__all__ = ["FIELDS", "Body", "as_control", "bodies_of", "parse_control"]
