"""Putting the questions of ``ask`` steps to the person at the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ...domain.errors import MessageRefused
from ...domain.questions import problems_of
from .output import note, one_line

if TYPE_CHECKING:
    from ...actors.handle import RunHandle
    from ...domain.facts import QuestionAsked
    from .lines import Lines

_TRUE = ("y", "yes", "true")
_FALSE = ("n", "no", "false")


class _DeclinedError(Exception):
    """The person gives no answer."""


async def put(handle: RunHandle, question: QuestionAsked, lines: Lines, *, by: str) -> None:
    """Ask for an answer until there is one that fits, or until the person declines by an end of file."""
    note("")
    note(f"Step {question.step} asks: {question.prompt}")
    note("(Ctrl-D declines)")
    try:
        while True:
            answer = await _filled_in(question.output_schema, lines)
            problems = _problems(answer, question.output_schema)
            if not problems:
                break
            note(f"That is no answer: {'; '.join(problems)}")
    except _DeclinedError:
        note("Declined")
        await _tell(handle.answer(question.step, decline=True, by=by))
        return
    await _tell(handle.answer(question.step, answer, by=by))


async def _tell(said: Any) -> None:
    try:
        await said
    except MessageRefused as refused:  # somebody else was quicker
        note(f"Not taken: {refused}")


def _problems(answer: Mapping[str, Any], schema: Mapping[str, Any]) -> Sequence[str]:
    from ...actors.plan_inputs import input_problems

    return problems_of(answer, schema) or input_problems(schema, answer)


async def _filled_in(schema: Mapping[str, Any], lines: Lines) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        while True:
            note(f"  {name} ({_kind(field, is_required=name in required)}):")
            line = await lines.read()
            if line is None:
                raise _DeclinedError
            value = _read(line.strip(), field)
            if value is msgspec.UNSET and name not in required:
                break
            if value is not msgspec.UNSET:
                problems = problems_of({name: value}, {"properties": {name: field}})
                if not problems:
                    answer[name] = value
                    break
                note(f"  {'; '.join(problems)}")
    return answer


def _kind(field: Mapping[str, Any], *, is_required: bool) -> str:
    choices = _choices(field)
    said = " or ".join(_shown(each) for each in choices) if choices else str(field.get("type", "value"))
    if said == "boolean":
        said = "yes or no"
    if "default" in field:
        said += f"; {_shown(field['default'])} if left empty"
    elif not is_required:
        said += "; may be left empty"
    about = field.get("description")
    return f"{one_line(about)}: {said}" if isinstance(about, str) and about else said


def _choices(field: Mapping[str, Any]) -> list[Any]:
    return [field["const"]] if "const" in field else list(field.get("enum", ()))


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _read(text: str, field: Mapping[str, Any]) -> Any:
    """Return what a line means for a property, or else the line itself; UNSET where it is empty."""
    if not text:
        return field.get("default", msgspec.UNSET)
    for choice in _choices(field):
        if _shown(choice) == text:
            return choice
    kind = field.get("type")
    if kind == "boolean" and text.lower() in (*_TRUE, *_FALSE):
        return text.lower() in _TRUE
    if kind in ("number", "integer"):
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError:
            return text
    return text
