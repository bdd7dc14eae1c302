"""What the end of an attempt without a receipt means for its operation: again, failed, or unknown."""

from __future__ import annotations

from typing import Any

import msgspec

from .. import facts as f
from ..ledger import Operation
from ..orders import Probe
from ..run import Run
from ..tools import Catalog, ToolSpec
from .decision import Decision


def failure_in(operation: Operation, failure: f.Failure) -> f.Failure:
    """Return a failure that says in which step, tool and arguments it happened."""
    return msgspec.structs.replace(
        failure, step=operation.step, tool=operation.tool, digest=failure.digest or operation.digest
    )


def is_late(operation: Operation, at: float) -> bool:
    """Whether the time of the whole step is over."""
    return operation.deadline is not None and at >= operation.deadline


def end_without_receipt(
    operation: Operation, failure: f.Failure, catalog: Catalog, *, no_effect: bool = False
) -> Decision:
    """End an operation that will not be tried again.

    An error says that its own attempt did not work. It says nothing of an earlier one that ended without an
    answer, unless the tool vouches that nothing happened: only a tool that is idempotent has a second attempt
    after such a one, and what it says of its key it says of all attempts.
    """
    if operation.in_doubt and not no_effect:
        why = f"{failure.message}; an attempt before ended without an answer"
        return unknown(operation, why, operation.details, catalog)
    failed = f.StepFailed(operation.step, operation.key, operation.attempt, failure)
    return Decision((failed,), (), operation.version)


def lose(
    run: Run,
    operation: Operation,
    again: f.AttemptFailed | f.AttemptLost,
    catalog: Catalog,
    *,
    failure: f.Failure,
    is_spent: bool,
) -> Decision:
    """End an attempt of which nobody knows what became: unknown is not failed.

    What may be repeated without a second effect is repeated; about the rest the probe is asked, or a person.

    Args:
        run: the run.
        operation: what it was an attempt of.
        again: the fact that has it tried again.
        catalog: the tools.
        failure: what ends it, should it be a read.
        is_spent: its policy allows no further attempt.
    """
    if operation.effect == "read":
        if is_spent or run.is_unwanted(operation):
            failed = f.StepFailed(operation.step, operation.key, operation.attempt, failure)
            return Decision((failed,), (), operation.version)
    elif is_spent or not operation.idempotent or must_be_known_first(run, operation, catalog):
        return unknown(operation, failure.message, again.details, catalog)
    return Decision((again,), (), operation.version)


def must_be_known_first(run: Run, operation: Operation, catalog: Catalog) -> bool:
    """Whether an effect that may have happened is to be asked about, and not repeated though it could be.

    That is so when its plan is being left: asking causes no effect that is not wanted any more. Without a
    probe it is repeated to learn its outcome, unless it could not be undone afterwards.
    """
    if not run.is_unwanted(operation):
        return False
    spec = catalog.get(operation.tool)
    if spec is None or spec.has_probe:
        return True
    return run.unwinding is not None and operation.effect == "irreversible"


def unknown(operation: Operation, why: str, details: Any, catalog: Catalog) -> Decision:
    """Say that an outcome is unknown, and ask the probe of the tool if it has one."""
    probing = can_probe(catalog.get(operation.tool))
    orders = (probe_of(operation),) if probing else ()
    fact = f.OutcomeUnknown(operation.key, operation.attempt, why, details, probing)
    return Decision((fact,), orders, operation.version)


def can_probe(spec: ToolSpec | None) -> bool:
    """Whether a tool can be asked about unknown outcomes."""
    return spec is not None and spec.has_probe


def probe_of(operation: Operation) -> Probe:
    """Return the order that asks about an operation."""
    return Probe(operation.key, operation.attempt, operation.tool, operation.input)
