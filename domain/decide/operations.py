"""Which operation a step means: its key, and what the ledger says of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from .. import ids
from ..ledger import Committed
from ..plan import Plan, Step
from ..run import Run
from ..templates import is_literal
from ..tools import Catalog, ToolSpec
from .in_flight import adopted


def identity_of(step: Step, spec: ToolSpec, input: Mapping[str, Any], operation: Any) -> Mapping[str, Any]:
    """Return what makes a step the one it is in business, besides its tool.

    Args:
        step: the step.
        spec: its tool.
        input: the rendered arguments, of which only the identifying ones need to be there.
        operation: the rendered ``operation`` text of the step.
    """
    if step.operation:
        return {"operation": operation}
    if spec.identity is None:
        return input
    return {name: input.get(name) for name in spec.identity}


def next_key(run: Run, step: Step, spec: ToolSpec, intent: str) -> str:
    """Return the key of the operation that the next step of the present tail with this intent means.

    A read, and a step that says ``again``, takes the next number nobody used. Any other takes its position
    among the equal intents of its tail, where undone operations do not count and those that stand come before
    those that ended without effect: so a tail that repeats a committed intent means the committed operation,
    and two equal steps of one tail mean two operations. An executed step that the proposal listed again is
    one of them, and has its operation already.
    """
    begun = run.next_n.get(intent, 0)
    new = ids.operation_key(intent, begun)
    if step.again or spec.effect == "read":
        return new
    without_effect = ""
    for n in range(run.tail_n.get(intent, 0), begun):
        key = ids.operation_key(intent, n)
        if key in run.tail_again:
            continue
        entry = run.ledger.get(key)
        if entry is None:
            without_effect = without_effect or key
        elif entry.state != "undone":
            return key
    return without_effect or new


def conflict(entry: Committed, step: Step, digest: str) -> str:
    """Return why a step contradicts a committed operation, or nothing where it does not."""
    if entry.digest != digest:
        return (
            f"operation conflict: step {step.id!r} means operation {entry.key}, which step {entry.step!r} "
            "committed with other arguments; undo it first, or say again: true, or name another operation"
        )
    if entry.state == "undoing":
        return (
            f"operation conflict: step {step.id!r} means operation {entry.key}, which is being undone; "
            "wait for the undo, or waive it"
        )
    return ""


def literal_conflicts(
    run: Run, plan: Plan, catalog: Catalog, relisted: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the conflicts of a tail with the ledger that show before anything runs.

    Those are the conflicts of steps without templates. Where the identity of a step is not known before it
    runs, the positions of the later steps of its tool are not known either, and admission looks at them.
    """
    passed = {*plan.undo, *(step.undoes for step in plan.steps), *(run.done[step] for step in relisted)}
    open_steps = adopted(run, plan)
    passed.update(operation.key for operation in open_steps.values())
    positions: dict[str, int] = {}
    unclear: set[str] = set()
    problems: list[str] = []
    for step in plan.steps:
        spec = catalog.get(step.tool_name)
        if spec is None or step.undoes or step.again or spec.effect == "read" or spec.name in unclear:
            continue
        if step.id in open_steps:
            continue
        if not _identity_is_literal(step, spec):
            unclear.add(spec.name)
            continue
        identity = identity_of(step, spec, step.input, step.operation)
        intent = ids.intent(run.lineage, spec.name, ids.canonical(identity))
        entry = _at_next_position(run, intent, positions, passed)
        if entry is not None and is_literal(step.input):
            problem = conflict(entry, step, ids.digest(step.input))
            problems += [problem] if problem else []
    return tuple(problems)


def _identity_is_literal(step: Step, spec: ToolSpec) -> bool:
    if step.operation:
        return is_literal(step.operation)
    if spec.identity is None:
        return is_literal(step.input)
    return all(is_literal(step.input.get(name)) for name in spec.identity)


def _at_next_position(run: Run, intent: str, positions: dict[str, int], passed: set[str]) -> Committed | None:
    """Return the next operation of an intent that stands, if there is one; some are passed over."""
    begun = run.next_n.get(intent, 0)
    for n in range(positions.get(intent, 0), begun):
        key = ids.operation_key(intent, n)
        entry = run.ledger.get(key)
        if key not in passed and entry is not None and entry.state != "undone":
            positions[intent] = n + 1
            return entry
    positions[intent] = begun
    return None
