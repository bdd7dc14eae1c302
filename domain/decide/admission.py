"""What a step becomes when its turn comes: started, satisfied from the ledger, or failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .. import facts as f
from .. import ids
from ..orders import Execute
from ..plan import Step
from ..run import Run
from ..templates import EmptyData, TemplateError, compile_value, render
from ..tools import Catalog, ToolSpec
from .decision import Decision
from .operations import conflict, identity_of, next_key


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


def _rendered(value: Any, run: Run) -> Any:
    compiled = compile_value(value)
    return value if compiled is value else render(compiled, Scope(run))


def admit(run: Run, step: Step, catalog: Catalog, at: float) -> Decision:
    """Decide what a ready step becomes."""
    spec = catalog.get(step.tool_name)
    if spec is None:
        return Decision((f.PartMissing("tool", step.tool_name),))
    try:
        input = _rendered(step.input, run)
        operation = _rendered(step.operation, run) if step.operation else ""
    except TemplateError as error:
        return _fail_template(step, error)
    text = ids.canonical(input)
    digest = ids.digest_of(text)
    if step.undoes:
        return _admit_undo(run, step, spec, input, digest, at)
    identity = identity_of(step, spec, input, operation)
    intent = ids.intent(run.lineage, spec.name, text if identity is input else ids.canonical(identity))
    key = next_key(run, step, spec, intent)
    entry = run.ledger.get(key)
    if entry is None:
        return _start(run, step, spec, key, input, digest, at)
    problem = conflict(entry, step, digest)
    if problem:
        return _fail(step, "conflict", problem, digest)
    return Decision((f.StepSatisfied(step.id, key),))


def _admit_undo(
    run: Run, step: Step, spec: ToolSpec, input: Mapping[str, Any], digest: str, at: float
) -> Decision:
    entry = run.ledger[step.undoes]
    if entry.state == "undone":
        return Decision((f.StepSatisfied(step.id, entry.undone_by),))
    key = ids.undo_key(step.undoes)
    if entry.state == "undoing" or key in run.running or key in run.backoff or key in run.unknown:
        problem = f"operation conflict: step {step.id!r} undoes {step.undoes}, which is being undone already"
        return _fail(step, "conflict", problem, digest)
    return _start(run, step, spec, key, input, digest, at)


def _start(
    run: Run, step: Step, spec: ToolSpec, key: str, input: Mapping[str, Any], digest: str, at: float
) -> Decision:
    attempt = run.attempts.get(key, 0) + 1
    deadline = at + step.timeout_s if step.timeout_s is not None else None
    started = f.StepStarted(
        step.id, key, spec.name, input, digest, attempt, spec.effect, spec.undo, spec.idempotent, step.undoes,
        deadline,
    )  # fmt: skip
    return Decision((started,), (Execute(key, attempt, spec.name, input, step.id, None, deadline),))


def _fail_template(step: Step, error: TemplateError) -> Decision:
    message = str(error)
    failure = f.Failure(
        "template", message, step.id, step.tool_name, type(error).__name__,
        ids.digest([step.tool_name, message]), isinstance(error, EmptyData),
    )  # fmt: skip
    return Decision((f.StepFailed(step.id, "", 0, failure),))


def _fail(step: Step, kind: str, problem: str, digest: str) -> Decision:
    failure = f.Failure(kind, problem, step.id, step.tool_name, digest=digest)
    return Decision((f.StepFailed(step.id, "", 0, failure),))
