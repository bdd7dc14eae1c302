"""Whether the templates of a plan can fit what tools return: as declared, else as was seen so far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..control import sites_of
from ..errors import UnknownTool
from ..problems import JsonPath, Place
from ..shapes import Shape, declared_shape
from ..templates.paths import Path
from ..templates.reading import paths_in
from ..tools import Catalog, ToolSpec
from .calls import calls_of
from .model import PlanFile


def check_fit(plan: PlanFile, tools: Catalog, shapes: Mapping[str, Shape], place: Place) -> None:
    """Warn of paths that have led nowhere in any result so far, or that no declared result has.

    Args:
        plan: the plan.
        tools: the tools there are.
        shapes: what was seen of the results of tools, by full name.
        place: the top of the document.
    """
    specs = _tools_of_steps(plan, tools)
    for where, step, path in _paths(plan):
        spec = specs.get(path.root)
        if spec is None:
            continue
        here = Place(place.found, (*place.path, *where), step)
        if spec.output_schema:
            if problem := declared_shape(spec.output_schema).misfit(path):
                here.say(
                    f"{{{{{path.text}}}}} does not fit the output_schema of {spec.name}: {problem}",
                    severity="warning",
                )
        elif (shape := shapes.get(spec.name)) is not None and (problem := shape.misfit(path)):
            calls = "the one result" if shape.seen == 1 else f"any of {shape.seen} results"
            here.say(
                f"{{{{{path.text}}}}} does not fit {calls} of {spec.name}: {problem}", severity="warning"
            )


def _tools_of_steps(plan: PlanFile, tools: Catalog) -> dict[str, ToolSpec]:
    """Return the tools by the ids of the steps whose results are theirs."""
    found: dict[str, ToolSpec | None] = {
        step.id: None for step in plan.steps if step.when_unapproved == "default"
    }
    for call in calls_of(plan):
        try:
            found.setdefault(call.step, tools.resolve(call.tool))
        except UnknownTool:
            found.setdefault(
                call.step, None
            )  # a control step, a plan, or what is said to be unknown elsewhere
    return {step: spec for step, spec in found.items() if spec is not None}


def _paths(plan: PlanFile) -> Iterator[tuple[JsonPath, str, Path]]:
    for index, step in enumerate(plan.steps):
        for site in sites_of(step):
            if not site.is_expression:
                for where, path in paths_in(site.value, ("steps", index, *site.path)):
                    yield where, site.step or step.id, path
    answers: dict[str, Any] = {"output": plan.output}
    if plan.solver is not None:
        solver = plan.solver
        answers["solver"] = {
            "query_to_answer": solver.query_to_answer, "system_prompt": solver.system_prompt,
            "data": solver.data,
        }  # fmt: skip
    for where, path in paths_in(answers):
        yield where, "", path
