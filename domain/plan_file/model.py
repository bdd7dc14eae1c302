"""What a plan file says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ..control import (
    CARRIED_OUT,
    CONTROLS,
    Body,
    PlanStep,
    as_control,
    as_step,
    bodies_of,
    steps_of,
    unsupported_fields,
)
from ..errors import ToolDefinitionError
from ..goal import Requirement
from ..plan import Plan, Step

PLAN_PREFIX = "plan__"


class Solver(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The end of a plan whose answer a model writes.

    Args:
        query_to_answer: what the model is to answer; a template.
        system_prompt: further guidance; a template.
        data: what the model sees; a map of templates.
    """

    query_to_answer: str
    system_prompt: str = ""
    data: Mapping[str, Any]


class PlanFile(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A plan as a file.

    Args:
        identifier: its name among tools, behind ``plan__``: letters, digits, ``_`` and ``-``.
        name: its name for people.
        description: what it does, and when to use it.
        exemplars: how people ask for it.
        requires_servers: MCP servers it cannot do without.
        input_schema: JSON Schema of its inputs.
        steps: what it does.
        solver: how a model writes its answer; excludes ``output``.
        output: a map of templates that becomes its answer; excludes ``solver``.
        requirements: what a run has to show before it is complete.
        compensate_on_failure: undo committed reversible effects if the run fails or is cancelled.
        undo: operations that are taken back, where the plan is a proposal.
    """

    identifier: str
    name: str
    description: str
    exemplars: tuple[str, ...] = ()
    requires_servers: tuple[str, ...] = ()
    input_schema: Mapping[str, Any] | None = None
    steps: tuple[PlanStep, ...]
    solver: Solver | None = None
    output: Mapping[str, Any] | None = None
    requirements: tuple[Requirement, ...] = ()
    compensate_on_failure: bool = True
    undo: tuple[str, ...] = ()

    @property
    def tool_name(self) -> str:
        """The name under which other plans call it."""
        return PLAN_PREFIX + self.identifier

    def plan(self) -> Plan:
        """Return the plan for an engine."""
        return Plan(
            steps=[as_step(step) for step in self.steps],
            undo=self.undo,
            output=self.output,
            compensate_on_failure=self.compensate_on_failure,
        )

    def unsupported(self) -> list[str]:
        """Return what it asks for that the engine of this version does not carry out, in words."""
        said = [f"{name!r}" for name in ("solver",) if getattr(self, name)]
        for step, path in all_steps(self.steps):
            said += [f"{name!r} of step {path}" for name in unsupported_fields(step)]
            if not _is_carried_out(step.tool_name):
                said.append(f"{step.tool_name!r} (step {path})")
        return said


def _is_carried_out(tool: str) -> bool:
    if tool in CONTROLS:
        return tool in CARRIED_OUT
    return not tool.startswith(PLAN_PREFIX) or PLAN_PREFIX in CARRIED_OUT


def all_steps(steps: Iterable[PlanStep], owner: str = "") -> Iterator[tuple[PlanStep, str]]:
    """Return all steps, each with its path, such as ``E1/do/E2``; those of bodies behind their own step."""
    for step in steps:
        path = f"{owner}/{step.id}".strip("/")
        yield step, path
        for name, body in bodies_in(step):
            yield from all_steps(steps_of(body), f"{path}/{name}")


def bodies_in(step: Step) -> Iterator[tuple[str, Body]]:
    """Return the bodies of a step that was checked, with the names of their fields."""
    names = bodies_of(step.tool_name)
    control = as_control(step.tool_name, step.input) if names else None
    for name in names:
        body = getattr(control, "else_" if name == "else" else name)
        if body is not None:
            yield name, body


def plans_by_name(plans: Iterable[PlanFile]) -> dict[str, Plan]:
    """Return plans under the names that steps call them by.

    Raises:
        ToolDefinitionError: two have one identifier, or one asks for what is not carried out.
    """
    named: dict[str, Plan] = {}
    for plan in plans:
        if plan.tool_name in named:
            raise ToolDefinitionError(f"two plans are called {plan.identifier!r}; rename one of them")
        if unsupported := plan.unsupported():
            raise ToolDefinitionError(
                f"plan {plan.identifier!r} asks for what is not carried out: {', '.join(unsupported)}"
            )
        named[plan.tool_name] = plan.plan()
    return named
