"""A plan as a tree for people, and as Mermaid for pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ...domain.control import (
    CONTROLS,
    PlanStep,
    bodies_of,
    outside_references,
    possible_outside_references,
    steps_of,
)
from ...domain.plan_file import PlanFile
from ...domain.plan_file.model import bodies_in
from ...domain.readiness import is_dag
from .output import one_line, paint, short_json

_SHOWN = 60


def tree_lines(plan: PlanFile) -> Iterator[str]:
    """Yield a plan as a tree: its head, its inputs, its steps with their bodies, how it ends."""
    yield f"{paint(plan.tool_name, 'bold')}  {one_line(plan.name)}"
    yield f"  {one_line(plan.description)}"
    if plan.requires_servers:
        yield f"  needs MCP servers: {', '.join(plan.requires_servers)}"
    yield from _input_lines(plan.input_schema)
    yield from _step_lines(plan.steps, "  ")
    if plan.solver is not None:
        yield f"  solver: {one_line(plan.solver.query_to_answer, _SHOWN)}"
    if plan.output is not None:
        yield f"  output: {', '.join(plan.output) or 'empty'}"
    for requirement in plan.requirements:
        yield f"  requires {requirement.id}: {one_line(requirement.text, _SHOWN)}"


def _input_lines(schema: Mapping[str, Any] | None) -> Iterator[str]:
    properties = schema.get("properties", {}) if schema else {}
    for name, each in properties.items():
        kind = each.get("type", "any") if isinstance(each, Mapping) else "any"
        default = f", default {short_json(each['default'], _SHOWN)}" if "default" in each else ""
        required = ", required" if schema and name in schema.get("required", ()) else ""
        yield f"  input {name}: {kind if isinstance(kind, str) else ' or '.join(kind)}{required}{default}"


def _step_lines(steps: Sequence[PlanStep], indent: str) -> Iterator[str]:
    for index, step in enumerate(steps):
        last = index == len(steps) - 1
        branch, inner = ("└─ ", "   ") if last else ("├─ ", "│  ")
        yield f"{indent}{branch}{_step_line(step)}"
        bodies = list(bodies_in(step))
        for number, (name, body) in enumerate(bodies):
            end = number == len(bodies) - 1
            yield f"{indent}{inner}{'└─ ' if end else '├─ '}{paint(name, 'dim')}"
            yield from _step_lines(steps_of(body), f"{indent}{inner}{'   ' if end else '│  '}")


def _step_line(step: PlanStep) -> str:
    marks = [f"needs {', '.join(step.needs)}"] if step.needs else []
    marks += ["again"] if step.again else []
    marks += [f"undoes {step.undoes}"] if step.undoes else []
    marks += [f"within {step.timeout_s:g} s"] if step.timeout_s is not None else []
    after = paint(f"  ({'; '.join(marks)})", "dim") if marks else ""
    head = f"{paint(step.id, 'bold')}  " if step.id else ""
    return f"{head}{step.tool_name}{_arguments(step)}{after}"


def _arguments(step: PlanStep) -> str:
    hidden = (*bodies_of(step.tool_name), "output_schema") if step.tool_name in CONTROLS else ()
    shown = [
        f"{name}={one_line(value, _SHOWN) if isinstance(value, str) else _short(value)}"
        for name, value in step.input.items()
        if name not in hidden
    ]
    return f"  {' '.join(shown)}" if shown else ""


def _short(value: Any) -> str:
    if isinstance(value, Mapping) and isinstance(value.get("expr"), str):
        return f"({one_line(value['expr'], _SHOWN)})"
    if isinstance(value, Mapping) and "op" in value:
        return f"({' '.join(str(value[key]) for key in ('value', 'op', 'to') if key in value)})"
    return short_json(value, _SHOWN)


def mermaid_lines(plan: PlanFile) -> Iterator[str]:
    """Yield a plan as a Mermaid flowchart: an arrow for what waits for what, a box for each body."""
    yield "flowchart TD"
    yield from _nodes(plan.steps, "", "    ")
    ids = {step.id for step in plan.steps}
    if is_dag(plan.steps):
        for step in plan.steps:
            needs = [
                *(step.needs or ()),
                *sorted((outside_references(step) | possible_outside_references(step)) & ids),
            ]
            for need in dict.fromkeys(needs):
                yield f"    {_name(need)} --> {_name(step.id)}"
    else:
        for before, step in pairwise(plan.steps):
            yield f"    {_name(before.id)} --> {_name(step.id)}"


def _nodes(steps: Sequence[PlanStep], owner: str, indent: str) -> Iterator[str]:
    names = [_name(f"{owner}{step.id or 'call'}") for step in steps]
    for name, step in zip(names, steps, strict=True):
        text = f"{step.id}: {step.tool_name}" if step.id else step.tool_name
        shape = f'{{{{"{text}"}}}}' if step.tool_name in CONTROLS else f'["{text}"]'
        yield f"{indent}{name}{shape}"
        for field, body in bodies_in(step):
            box = f"{name}_{field}"
            inner = steps_of(body)
            yield f'{indent}subgraph {box}["{field}"]'
            yield from _nodes(inner, f"{box}_", f"{indent}    ")
            for before, after in pairwise(inner):
                yield f"{indent}    {_name(f'{box}_{before.id}')} --> {_name(f'{box}_{after.id}')}"
            yield f"{indent}end"
            yield f"{indent}{name} -.-> {box}"


def _name(text: str) -> str:
    """Return a name that Mermaid takes for no word of its own, such as ``end``."""
    return f"s_{text.removeprefix('s_')}"
