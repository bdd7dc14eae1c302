"""Changes to the document of a plan file: pure, on JSON values that may be wrong in other places."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ..control import bodies_of, sites_of
from ..control.fields import CAMEL_CASE
from ..errors import InvalidInputError
from ..plan import Step
from ..problems import JsonPath, did_you_mean
from .document import FIELDS

_TEXT_OR_NAME: Final = r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<![\w.]){name}(?!\w)"""
_TAG: Final = r"(\{{\{{\s*[#^/]?\s*){name}(?=[.\s}}])"


def with_field(document: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
    """Return the document with a field of its top level set, or left out where the value is ``None``.

    Raises:
        InvalidInputError: a plan file has no such field, or it is ``steps``.
    """
    if name == "steps":
        raise InvalidInputError("steps are changed one by one: midcourse plan step add, update, rename, rm")
    if name not in FIELDS:
        hint = did_you_mean(name, FIELDS, otherwise=f"it has: {', '.join(FIELDS)}")
        raise InvalidInputError(f"a plan file has no field {name!r}{hint}")
    changed = dict(document)
    changed.pop(name, None)
    return changed if value is None else changed | {name: value}


def with_step(
    document: Mapping[str, Any], step: Mapping[str, Any], *, before: str = "", after: str = ""
) -> dict[str, Any]:
    """Return the document with one more step: before or after another, or at the end.

    Raises:
        InvalidInputError: there is no such other step.
    """
    steps = _steps(document)
    position = len(steps)
    if before or after:
        position = _top_index(steps, before or after) + (1 if after else 0)
    return {**document, "steps": [*steps[:position], dict(step), *steps[position:]]}


def with_changed_step(
    document: Mapping[str, Any], step_id: str, changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the document with fields of a step set, and those whose value is ``None`` left out.

    Raises:
        InvalidInputError: there is no such step, or the changes have an id.
    """
    if "id" in changes:
        raise InvalidInputError(
            "an id is changed by: midcourse plan step rename, which rewrites what refers to it"
        )
    changed = copy.deepcopy(dict(document))
    step = _find(changed, step_id)
    for name, value in changes.items():
        name = CAMEL_CASE.get(name, name)  # noqa: PLW2901 - the same field in its written spelling
        for key in [key for key in step if CAMEL_CASE.get(key, key) == name]:
            del step[key]
        if value is not None:
            step[name] = value
    return changed


def without_step(document: Mapping[str, Any], step_id: str) -> dict[str, Any]:
    """Return the document without a step.

    Raises:
        InvalidInputError: there is no such step.
    """
    changed = copy.deepcopy(dict(document))
    step = _find(changed, step_id)
    for steps in _lists(changed):
        steps[:] = [each for each in steps if each is not step]
    return changed


def with_renamed_step(document: Mapping[str, Any], step_id: str, new: str) -> dict[str, Any]:
    """Return the document with another id of a step, in ``needs``, templates and expressions too.

    Raises:
        InvalidInputError: there is no such step.
    """
    changed = copy.deepcopy(dict(document))
    _find(changed, step_id)["id"] = new
    for steps in _lists(changed):
        for step in steps:
            if isinstance(step, dict) and isinstance(step.get("needs"), list):
                step["needs"] = [new if each == step_id else each for each in step["needs"]]
    in_tags, in_expression = _in_tags(step_id, new), _in_expressions(step_id, new)
    for step in _steps(changed):
        if not isinstance(step, dict):
            continue
        tool = step.get("tool_name", step.get("toolName", ""))
        read = Step(tool_name=str(tool), input=step.get("input") or {}, operation=step.get("operation") or "")
        for site in sites_of(read):
            rewrite = in_expression if site.is_expression else in_tags
            _put(step, site.path, _rewritten(site.value, rewrite))
    for name in ("solver", "output"):
        if name in changed:
            changed[name] = _rewritten(changed[name], in_tags)
    return changed


def _in_tags(name: str, new: str) -> Callable[[str], str]:
    tag = re.compile(_TAG.format(name=re.escape(name)))
    return lambda text: tag.sub(lambda match: match[1] + new, text)


def _in_expressions(name: str, new: str) -> Callable[[str], str]:
    token = re.compile(_TEXT_OR_NAME.replace("{name}", re.escape(name)))
    return lambda text: token.sub(lambda match: match[1] or new, text)


def _rewritten(value: Any, rewrite: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return rewrite(value)
    if isinstance(value, Mapping):
        return {key: _rewritten(each, rewrite) for key, each in value.items()}
    return [_rewritten(each, rewrite) for each in value] if isinstance(value, list) else value


def _put(step: dict[str, Any], path: JsonPath, value: Any) -> None:
    place: Any = step
    for key in path[:-1]:
        place = place[key]
    if path[-1] in place or isinstance(path[-1], int):
        place[path[-1]] = value


def _steps(document: Mapping[str, Any]) -> list[Any]:
    steps = document.get("steps")
    return steps if isinstance(steps, list) else []


def _lists(document: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Return every list of steps there is: that of the plan, and those of bodies."""
    pending = [_steps(document)]
    while pending:
        steps = pending.pop()
        yield steps
        for step in steps:
            if isinstance(step, dict) and isinstance(step.get("input"), dict):
                tool = step.get("tool_name", step.get("toolName"))
                bodies = (step["input"].get(name) for name in bodies_of(str(tool)))
                pending += [body for body in bodies if isinstance(body, list)]


def _find(document: Mapping[str, Any], step_id: str) -> dict[str, Any]:
    ids = []
    for steps in _lists(document):
        for step in steps:
            if isinstance(step, dict):
                if step.get("id") == step_id:
                    return step
                ids.append(str(step.get("id")))
    raise _no_step(step_id, ids)


def _top_index(steps: list[Any], step_id: str) -> int:
    ids = [step.get("id") if isinstance(step, dict) else None for step in steps]
    if step_id not in ids:
        raise _no_step(step_id, [str(each) for each in ids])
    return ids.index(step_id)


def _no_step(step_id: str, ids: list[str]) -> InvalidInputError:
    hint = did_you_mean(step_id, ids, otherwise=f"it has: {', '.join(ids) or 'none'}")
    return InvalidInputError(f"the plan has no step {step_id!r}{hint}")
