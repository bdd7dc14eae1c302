"""What a plan would do, as far as it shows before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ...domain.control import CONTROLS, steps_of
from ...domain.decide.approval_rules import Foreseen, foreseen_approval
from ...domain.decide.operations import identity_of
from ...domain.errors import UnknownTool
from ...domain.ids import canonical
from ...domain.plan import Step
from ...domain.plan_file import PlanFile
from ...domain.plan_file.model import bodies_in
from ...domain.templates import TemplateError, compile_value, is_literal, render
from ...domain.tools import Catalog, ToolSpec


class Preview(msgspec.Struct, frozen=True, omit_defaults=True):
    """A step, and what is known of it beforehand.

    Args:
        step: its path: ``E1``; ``E1/do/E2`` in a body, ``E1/E2`` in the plan that ``E1`` calls.
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
        approval: the approval of a person that it will need, or may need.
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
    approval: Foreseen | None = None
    when_unapproved: str = "fail"


def preview(plan: PlanFile, catalog: Catalog, inputs: Mapping[str, Any] | None) -> Iterator[Preview]:
    """Yield what is known of every step, in order; those of the plans that it calls behind the call.

    Args:
        plan: the plan.
        catalog: the tools.
        inputs: the inputs, if they were given: what refers to nothing else is then known as well.
    """
    return _Look(catalog, inputs).at(plan.steps, "", inputs, in_body=False)


class _Look:
    """Goes through a plan, and counts equal intents as the engine would.

    Args:
        catalog: the tools.
        inputs: the inputs of the run, if they are known.
    """

    def __init__(self, catalog: Catalog, inputs: Mapping[str, Any] | None) -> None:
        self._catalog = catalog
        self._inputs = inputs
        self._numbers: dict[bytes, int] = {}
        self._unclear: set[str] = set()

    def at(
        self, steps: Iterable[Step], owner: str, inputs: Mapping[str, Any] | None, *, in_body: bool
    ) -> Iterator[Preview]:
        """Yield what is known of steps.

        Args:
            steps: the steps.
            owner: the path of the step that they are inside of.
            inputs: the inputs of their plan, if they are known.
            in_body: how often they are done is not known.
        """
        for step in steps:
            path = f"{owner}/{step.id}".strip("/")
            yield self._step(step, path, inputs, in_body=in_body)
            for name, body in bodies_in(step):
                yield from self.at(steps_of(body), f"{path}/{name}", inputs, in_body=True)
            called = self._catalog.plans.get(step.tool_name)
            if called is not None:
                yield from self.at(called.steps, path, self._inputs_of(step, inputs), in_body=in_body)

    def _step(self, step: Step, path: str, inputs: Mapping[str, Any] | None, *, in_body: bool) -> Preview:
        spec = _spec(step, self._catalog)
        input, is_known = _rendered(step.input, inputs)
        if spec is None:
            return Preview(path, step.tool_name, input=None if step.tool_name in CONTROLS else input)
        identity = None if in_body else _identity(step, spec, input, is_known, inputs)
        number = self._number(spec, identity)
        key = "" if identity is None or number is None else f"{spec.name}({_named(identity)}).{number}"
        approval = foreseen_approval(
            spec, input if is_known else None, self._catalog, inputs=self._inputs, step=path
        )
        return Preview(
            path, spec.name, spec.effect, spec.repeatable, spec.undo, input, identity, number, key,
            step.undoes, spec.max_attempts_after(no_effect=False, retry=step.retry), approval,
            step.when_unapproved,
        )  # fmt: skip

    def _number(self, spec: ToolSpec, identity: Mapping[str, Any] | None) -> int | None:
        if identity is None:
            self._unclear.add(spec.name)
        if identity is None or spec.name in self._unclear:
            return None
        intent = canonical([spec.name, identity])
        number = self._numbers.get(intent, 0)
        self._numbers[intent] = number + 1
        return number

    def _inputs_of(self, step: Step, inputs: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """Return the inputs of the plan that a step calls, if all of them are known."""
        input, is_known = _rendered(step.input, inputs)
        if not is_known:
            return None
        take = self._catalog.inputs.get(step.tool_name)
        return input if take is None else take(input)[0]


def _spec(step: Step, catalog: Catalog) -> ToolSpec | None:
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
    step: Step, spec: ToolSpec, input: Mapping[str, Any], is_known: bool, inputs: Mapping[str, Any] | None
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
