"""Reading the fields of an object in a plan file: names, spellings and types, every problem at its place."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from ..problems import Place, did_you_mean
from ..templates.paths import kind_of

CAMEL_CASE: Final[Mapping[str, str]] = {
    "toolName": "tool_name",
    "queryToAnswer": "query_to_answer",
    "outputSchema": "output_schema",
    "maxIterations": "max_iterations",
    "systemPrompt": "system_prompt",
    "whenUnanswered": "when_unanswered",
}
"""Spellings that are read, and never written."""

_MOST_SHOWN: Final = 40


class Field(NamedTuple):
    """What a field may hold.

    Args:
        allowed: in words, behind "must be".
        fits: whether a value is one.
        required: the object cannot do without it.
        may_be_null: null is a value; elsewhere it means that the field is left out.
    """

    allowed: str
    fits: Callable[[Any], bool]
    required: bool = False
    may_be_null: bool = False

    def needed(self) -> Field:
        """Return the same field where it is required."""
        return self._replace(required=True)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def is_template(value: Any) -> bool:
    """Whether a value is a text with a tag in it, so that its type is known only when it is rendered."""
    return isinstance(value, str) and "{{" in value


def choice(*values: str) -> Field:
    """Return a field that holds one of some words."""
    return Field(" or ".join(map(repr, values)), lambda value: isinstance(value, str) and value in values)


TEXT = Field("a text", lambda value: isinstance(value, str))
WORDS = Field("a text that is not empty", lambda value: isinstance(value, str) and bool(value.strip()))
TEXTS = Field(
    "a list of texts", lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value)
)
FLAG = Field("true or false", lambda value: isinstance(value, bool))
COUNT = Field("a whole number, 1 or more", _is_count)
SECONDS = Field("a number of seconds above 0", lambda value: _is_number(value) and value > 0)
SECONDS_LATER = Field(
    "a number of seconds above 0, or a template", lambda value: is_template(value) or SECONDS.fits(value)
)
OBJECT = Field("an object", lambda value: isinstance(value, dict))
SCHEMA = Field("a JSON Schema, which is an object", lambda value: isinstance(value, dict))
SCHEMA_LATER = Field(
    "a JSON Schema, which is an object, or a template",
    lambda value: is_template(value) or isinstance(value, dict),
)
LIST = Field("a list", lambda value: isinstance(value, list))
ANY = Field("a value", lambda _: True, may_be_null=True)
ITEMS = Field(
    "a list, or a template such as '{{E0.values}}'",
    lambda value: is_template(value) or isinstance(value, list),
)
BODY = Field(
    "one tool call {tool_name, input}, or a list of steps", lambda value: isinstance(value, (dict, list))
)


def read_object(value: Any, fields: Mapping[str, Field], place: Place, what: str) -> dict[str, Any] | None:
    """Return the fields of an object that are as they should be, by their written names.

    Args:
        value: what stands there.
        fields: what may stand there.
        place: where it stands; takes the problems.
        what: what the object is, in words.

    Returns:
        The fields that fit; ``None`` if it is no object.
    """
    if not isinstance(value, dict):
        place.say(f"{what} must be an object, not {shown(value)}")
        return None
    read: dict[str, Any] = {}
    spelled: dict[str, str] = {}
    for key, each in value.items():
        name = CAMEL_CASE.get(key, key)
        field = fields.get(name)
        if field is None:
            hint = did_you_mean(name, fields, otherwise=f"it has: {', '.join(fields)}")
            place.at(key).say(f"{what} has no field {key!r}{hint}")
        elif name in spelled:
            place.at(key).say(f"{spelled[name]!r} and {key!r} are the same field; write {name!r} alone")
        else:
            spelled[name] = key
            if each is None and not field.may_be_null:
                continue
            if field.fits(each):
                read[name] = each
            else:
                place.at(key).say(f"{name!r} must be {field.allowed}, not {shown(each)}")
    for name, field in fields.items():
        is_null = name in spelled and value[spelled[name]] is None and not field.may_be_null
        if field.required and (name not in spelled or is_null):
            place.say(f"{what} needs the field {name!r}: {field.allowed}")
    return read


def key_of(value: Mapping[str, Any], name: str) -> str:
    """Return how a field is spelled in an object, for its place."""
    if name in value:
        return name
    return next((key for key in value if CAMEL_CASE.get(key) == name), name)


def shown(value: Any) -> str:
    """Return a value as a message shows it: what it is, and what it says if that is short."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    if value is None:
        return "null"
    text = repr(value) if isinstance(value, str) else str(value).lower()
    text = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
    return f"the {kind_of(value)} {text}"
