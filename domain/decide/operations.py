"""Which operation a step means: its key, and what the ledger says of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import ids
from ..plan import Step
from ..run import Committed, Run
from ..tools import ToolSpec


def intent_of(run: Run, step: Step, spec: ToolSpec, input: Mapping[str, Any], operation: str) -> str:
    """Return the business intent of a step.

    Args:
        input: the rendered arguments.
        operation: the rendered ``operation`` text of the step, empty where it has none.
    """
    if operation:
        return ids.intent(run.lineage, spec.name, ids.canonical({"operation": operation}))
    identity = input if spec.identity is None else {name: input.get(name) for name in spec.identity}
    return ids.intent(run.lineage, spec.name, ids.canonical(identity))


def next_key(run: Run, step: Step, spec: ToolSpec, intent: str, position: int) -> str:
    """Return the key of the operation a step means.

    A read, and a step that says ``again``, takes the next number nobody used. Any other takes its position among the
    equal intents of its tail, where undone operations do not count: so a tail that repeats a committed intent means
    the committed operation, and two equal steps of one tail mean two operations.
    """
    if step.again or spec.effect == "read":
        return ids.operation_key(intent, run.next_n.get(intent, 0))
    n = position
    while (
        entry := run.ledger.get(key := ids.operation_key(intent, n))
    ) is not None and entry.state == "undone":
        n += 1
    return key


def conflict(entry: Committed, step: Step, digest: str) -> str:
    """Return why a step contradicts a committed operation, or nothing where it does not."""
    if entry.digest != digest:
        return (
            f"operation conflict: step {step.id!r} means operation {entry.key}, which step {entry.step!r} committed "
            "with other arguments; undo it first, or say again: true, or name another operation"
        )
    if entry.state == "undoing":
        return (
            f"operation conflict: step {step.id!r} means operation {entry.key}, which is being undone; "
            "wait for the undo, or waive it"
        )
    return ""
