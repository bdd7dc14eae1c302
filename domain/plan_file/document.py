"""The first layer: whether a document is a plan file, all problems at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from ..control import CONTROLS, PlanStep, parse_control
from ..control import fields as f
from ..control.bodies import check_id, read_step, step_label
from ..control.normal import normal_input
from ..goal import Requirement
from ..problems import Place, Problem
from .model import PlanFile, Solver
from .references import check_references

FIELDS: Final = {
    "identifier": f.WORDS.needed(),
    "name": f.WORDS.needed(),
    "description": f.WORDS.needed(),
    "exemplars": f.TEXTS,
    "requires_servers": f.TEXTS,
    "input_schema": f.SCHEMA,
    "steps": f.LIST.needed(),
    "solver": f.OBJECT,
    "output": f.OBJECT,
    "requirements": f.LIST,
    "compensate_on_failure": f.FLAG,
    "undo": f.TEXTS,
}
"""The fields of a plan file, in the order they are written in."""

_SOLVER: Final = {"query_to_answer": f.WORDS.needed(), "system_prompt": f.TEXT, "data": f.OBJECT.needed()}
_REQUIREMENT: Final = {"id": f.WORDS.needed(), "text": f.WORDS.needed(), "evidence": f.OBJECT.needed()}
_EVIDENCE: Final = {"operation": f.WORDS, "expr": f.WORDS, "judge": f.WORDS}
_IDENTIFIER: Final = re.compile(r"[a-zA-Z0-9_-]+\Z")


class Reading(NamedTuple):
    """What came of reading a document.

    Args:
        plan: the plan; ``None`` if there is a problem with its form.
        problems: all problems of the first layer.
    """

    plan: PlanFile | None
    problems: list[Problem]


def read_plan_file(document: Any) -> Reading:
    """Return the plan in a decoded document, and everything that is wrong with its form.

    Args:
        document: JSON values: the keys of objects are texts, and arrays are lists.
    """
    found: list[Problem] = []
    place = Place(found)
    read = f.read_object(document, FIELDS, place, "a plan file")
    if read is None:
        return Reading(None, found)
    _check_top(read, place)
    solver = read.get("solver")
    if solver is not None:
        fields = f.read_object(solver, _SOLVER, place.at("solver"), "a solver")
        read["solver"] = Solver(**fields) if fields and {"query_to_answer", "data"} <= fields.keys() else None
    read["requirements"] = _requirements(read.get("requirements", []), place.at("requirements"))
    steps = _steps(read.get("steps", []), place.at("steps"))
    check_references(steps, solver, read.get("output"), place)
    if any(problem.is_error for problem in found):
        return Reading(None, found)
    for name in ("exemplars", "requires_servers", "undo"):
        read[name] = tuple(read.get(name, ()))
    read["steps"] = tuple(
        msgspec.structs.replace(step, input=normal_input(step.tool_name, step.input))
        for step in steps
        if step is not None
    )
    return Reading(PlanFile(**read), found)


def _check_top(read: Mapping[str, Any], place: Place) -> None:
    identifier = read.get("identifier")
    if identifier is not None and not _IDENTIFIER.match(identifier):
        place.at("identifier").say(
            f"identifier {identifier!r} must be letters, digits, '_' and '-', since it becomes the tool "
            "plan__<identifier>"
        )
    if "solver" in read and "output" in read:
        place.at("output").say(
            "'solver' and 'output' exclude each other: a model writes the answer, or the map does; leave "
            "one out"
        )
    if read.get("steps") == []:
        place.at("steps").say("'steps' is empty; a plan has at least one step")


def _requirements(values: Iterable[Any], place: Place) -> tuple[Requirement, ...]:
    made, seen = list[Requirement](), set[str]()
    for index, value in enumerate(values):
        where = place.at(index)
        read = f.read_object(value, _REQUIREMENT, where, "a requirement")
        if read is None:
            continue
        if read.get("id") in seen:
            where.at("id").say(f"two requirements have the id {read['id']!r}; ids are unique")
        seen.add(read.get("id", ""))
        evidence = f.read_object(read.get("evidence", {}), _EVIDENCE, where.at("evidence"), "evidence")
        if evidence is not None and "evidence" in read and len(evidence) != 1:
            where.at("evidence").say(
                "evidence is one of 'operation' (a glob), 'expr' (CEL) and 'judge' (a text)"
            )
        if len(read) == len(_REQUIREMENT):
            made.append(Requirement(**read))
    return tuple(made)


def _steps(values: list[Any], place: Place) -> list[PlanStep | None]:
    """Return the steps in their places, each with a problem for everything that is wrong inside it."""
    steps: list[PlanStep | None] = []
    for index, value in enumerate(values):
        where = place.at(index, step=step_label(value, index))
        step = read_step(value, where)
        steps.append(step)
        if step is None:
            continue
        if step.id:
            check_id(step.id, where.at("id"))
        if step.tool_name in CONTROLS and isinstance(value.get("input"), dict):
            parse_control(step.tool_name, step.input, where.at("input"))
    return steps
