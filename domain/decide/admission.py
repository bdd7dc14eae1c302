"""What a step becomes when its turn comes: started, satisfied from the ledger, or failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .. import facts as f
from .. import ids
from ..orders import Execute
from ..plan import Step
from ..run import Run
from ..templates import TemplateError, compile_value, render
from ..tools import Catalog, ToolSpec
from .decision import Decision
from .operations import conflict, intent_of, next_key


class Scope(Mapping[str, Any]):
    """What templates see: ``input``, ``board``, and the results of done steps by id."""

    __slots__ = ("_run",)

    def __init__(self, run: Run) -> None:
        self._run = run

    def __getitem__(self, root: str) -> Any:
        if root == "input":
            return self._run.goal.inputs
        if root == "board":
            return self._run.board
        return self._run.results[root]

    def __iter__(self) -> Iterator[str]:
        yield from self._run.results

    def __len__(self) -> int:
        return len(self._run.results)


def admit(run: Run, step: Step, catalog: Catalog, at: float) -> Decision:
    """Decide what a ready step becomes."""
    spec = catalog.get(step.tool_name)
    if spec is None:
        return Decision((f.PartMissing("tool", step.tool_name),))
    scope = Scope(run)
    try:
        input = render(compile_value(step.input), scope)
        operation = render(compile_value(step.operation), scope) if step.operation else ""
    except TemplateError as error:
        return _fail(step, f.Failure("template", str(error), step.id, step.tool_name, type(error).__name__))
    if step.undoes:
        return _admit_undo(run, step, spec, input, at)
    digest = ids.digest(input)
    intent = intent_of(run, step, spec, input, operation)
    key = next_key(run, step, spec, intent, run.tail_n.get(intent, 0))
    entry = run.ledger.get(key)
    if entry is not None:
        problem = conflict(entry, step, digest)
        if problem:
            return _fail(step, f.Failure("conflict", problem, step.id, spec.name))
        return Decision((f.StepSatisfied(step.id, key),))
    return _start(run, step, spec, key, input, digest, at)


def _admit_undo(run: Run, step: Step, spec: ToolSpec, input: Mapping[str, Any], at: float) -> Decision:
    key = ids.undo_key(step.undoes)
    entry = run.ledger[step.undoes]
    if entry.state == "undone":
        return Decision((f.StepSatisfied(step.id, entry.undone_by),))
    if entry.state == "undoing":
        problem = f"operation conflict: step {step.id!r} undoes {step.undoes}, which is being undone already"
        return _fail(step, f.Failure("conflict", problem, step.id, spec.name))
    return _start(run, step, spec, key, input, ids.digest(input), at)


def _start(
    run: Run, step: Step, spec: ToolSpec, key: str, input: Mapping[str, Any], digest: str, at: float
) -> Decision:
    if key in run.running or key in run.backoff or key in run.unknown:
        problem = (
            f"operation conflict: step {step.id!r} means operation {key}, which another step has in flight"
        )
        return _fail(step, f.Failure("conflict", problem, step.id, spec.name))
    attempt = run.attempts.get(key, 0) + 1
    deadline = at + step.timeout_s if step.timeout_s is not None else None
    started = f.StepStarted(
        step.id,
        key,
        spec.name,
        input,
        digest,
        attempt,
        spec.effect,
        spec.undo,
        spec.idempotent,
        step.undoes,
        deadline,
    )
    return Decision((started,), (Execute(key, attempt, spec.name, input, step.id, deadline=deadline),))


def _fail(step: Step, failure: f.Failure) -> Decision:
    return Decision((f.StepFailed(step.id, "", 0, failure),))
