"""Questions of a plan at the terminal, asked one at a time."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from .output import note

if TYPE_CHECKING:
    from ...domain.facts import QuestionAsked

_NUMBERS: Mapping[str, Any] = {"integer": int, "number": float}
_TRUTH: Mapping[str, bool] = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}


def is_terminal() -> bool:
    """Whether somebody is there to be asked: input and messages are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: QuestionAsked) -> dict[str, Any] | None:
    """Put a question to the person at the terminal; ``None`` where they decline, by end of input.

    Args:
        question: what is asked; each field of its schema is asked for until it fits.
    """
    from ...domain.questions import problems_of

    while True:
        note("")
        note(f"{question.prompt}  (step {question.step}; end of input, Ctrl-D, declines)")
        try:
            answer = _fields(question.output_schema)
        except click.Abort:
            return None
        problems = problems_of(answer, question.output_schema)
        if not problems:
            return answer
        for problem in problems:
            note(f"  {problem}")


def _fields(schema: Mapping[str, Any]) -> dict[str, Any]:
    required = schema.get("required", ())
    answer: dict[str, Any] = {}
    for name, field in schema.get("properties", {}).items():
        value = _field(name, field, is_required=name in required)
        if value is not None:
            answer[name] = value
    return answer


def _field(name: str, field: Mapping[str, Any], *, is_required: bool) -> Any:
    """Ask for one field until it can be read; an empty answer leaves an optional one out."""
    text = f"  {name}: {field['description']}" if "description" in field else f"  {name}"
    default = None if is_required else ""
    while True:
        given = click.prompt(text, type=str, default=default, show_default=False, err=True)
        if given == "" and not is_required:
            return None
        try:
            return _read(given, field)
        except ValueError as problem:
            note(f"  {name} {problem}")


def _read(given: str, field: Mapping[str, Any]) -> Any:
    choices = field.get("enum")
    if choices is not None:
        for choice in choices:
            if given == str(choice):
                return choice
        raise ValueError(f"is one of {', '.join(map(str, choices))}")
    kind = field.get("type", "string")
    if kind == "boolean":
        if given.lower() not in _TRUTH:
            raise ValueError("is yes or no")
        return _TRUTH[given.lower()]
    if kind in _NUMBERS:
        try:
            return _NUMBERS[kind](given)
        except ValueError:
            raise ValueError(f"is a {kind}") from None
    return given
