"""What a plan would do, as far as it shows before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ...domain.control import CONTROLS, PlanStep
from ...domain.decide.operations import identity_of
from ...domain.errors import UnknownTool
from ...domain.ids import canonical
from ...domain.plan_file import PlanFile
from ...domain.plan_file.model import all_steps
from ...domain.templates import TemplateError, compile_value, is_literal, render
from ...domain.tools import Catalog, ToolSpec


class Preview(msgspec.Struct, frozen=True, omit_defaults=True):
    """A step, and what is known of it beforehand.

    Args:
        step: its path: ``E1``, or ``E1/do/E2`` in a body.
        tool: full name of its tool.
        effect: what the tool does outside; empty for control steps and what is not known before it is called.
        idempotent: a repeat has no second effect.
        undo: the tool that takes it back.
        input: its arguments, with the inputs put in where they were given.
        identity: what makes its operation the one it is, where that shows beforehand.
        number: its position among the equal intents of the plan, from 0; ``None`` where that does not show.
        operation: the key of its operation without the run's part: the run's id enters the digest.
        undoes: the operation it takes back.
        max_attempts: tries in all.
        when_unapproved: what becomes of it if a person denies an approval.
    """

    step: str
    tool: str
    effect: str = ""
    idempotent: bool = False
    undo: str = ""
    input: Any = None
    identity: Mapping[str, Any] | None = None
    number: int | None = None
    operation: str = ""
    undoes: str = ""
    max_attempts: int = 0
    when_unapproved: str = "fail"


def preview(plan: PlanFile, catalog: Catalog, inputs: Mapping[str, Any] | None) -> Iterator[Preview]:
    """Yield what is known of every step, in order.

    Args:
        plan: the plan.
        catalog: the tools.
        inputs: the inputs, if they were given: what refers to nothing else is then known as well.
    """
    numbers: dict[bytes, int] = {}
    unclear: set[str] = set()
    for step, path in all_steps(plan.steps):
        spec = _spec(step, catalog)
        input, is_known = _rendered(step.input, inputs)
        if spec is None:
            yield Preview(path, step.tool_name, input=None if step.tool_name in CONTROLS else input)
            continue
        identity = None if "/" in path else _identity(step, spec, input, is_known, inputs)
        number = None
        if identity is None:
            unclear.add(spec.name)
        elif spec.name not in unclear:
            intent = canonical([spec.name, identity])
            number = numbers.get(intent, 0)
            numbers[intent] = number + 1
        key = "" if identity is None or number is None else f"{spec.name}({_named(identity)}).{number}"
        yield Preview(
            path, spec.name, spec.effect, spec.repeatable, spec.undo, input, identity, number, key,
            step.undoes, spec.max_attempts_after(no_effect=False, retry=step.retry), step.when_unapproved,
        )  # fmt: skip


def _spec(step: PlanStep, catalog: Catalog) -> ToolSpec | None:
    try:
        return None if step.tool_name in CONTROLS else catalog.resolve(step.tool_name)
    except UnknownTool:
        return None


def _rendered(value: Any, inputs: Mapping[str, Any] | None) -> tuple[Any, bool]:
    """Return a value with the inputs put in, and whether nothing in it is left open."""
    if is_literal(value):
        return value, True
    if isinstance(value, Mapping):
        parts = {name: _rendered(each, inputs) for name, each in value.items()}
        return {name: each for name, (each, _) in parts.items()}, all(known for _, known in parts.values())
    if inputs is None:
        return value, False
    try:
        return render(compile_value(value), {"input": inputs}), True
    except TemplateError:
        return value, False


def _identity(
    step: PlanStep, spec: ToolSpec, input: Mapping[str, Any], is_known: bool, inputs: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    if step.undoes:
        return None
    operation, is_literal_text = _rendered(step.operation, inputs)
    if step.operation:
        return identity_of(step, spec, input, operation) if is_literal_text else None
    if spec.identity is None:
        return input if is_known else None
    known = all(_rendered(step.input.get(name), inputs)[1] for name in spec.identity)
    return identity_of(step, spec, input, "") if known else None


def _named(identity: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={canonical(value).decode()}" for name, value in sorted(identity.items()))
