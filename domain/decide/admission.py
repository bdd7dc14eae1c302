"""What a step becomes when its turn comes: started, satisfied from the ledger, or failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from .. import facts as f
from .. import ids
from ..children import PLAN_AND_EXECUTE
from ..errors import InvalidInputError
from ..orders import Execute
from ..plan import Step
from ..run import Run
from ..scopes import render_in
from ..templates import EmptyData, MissingStep, TemplateError
from ..tools import Catalog, ToolSpec
from . import children, controls, guiding
from .authority import hold_up
from .debugging import held_before
from .decision import NOTHING, Decision
from .operations import conflict, identity_of, next_key


def admit(run: Run, step: Step, catalog: Catalog, at: float) -> Decision:
    """Decide what a ready step becomes; nothing yet, if it means an operation that a plan before has open."""
    if run.breakpoints is not None and (held := held_before(run, step)) is not None:
        return held
    spec = catalog.get(step.tool_name)
    if spec is None:
        if controls.is_carried_out(step.tool_name, catalog):
            return controls.begin(run, step, catalog, at)
        return Decision((f.PartMissing("tool", step.tool_name),))
    try:
        input = render_in(run, step.id, step.input)
        operation = render_in(run, step.id, step.operation) if step.operation else ""
    except TemplateError as error:
        return _fail_template(run, step, error)
    text = ids.canonical(input)
    digest = ids.digest_of(text)
    if step.undoes:
        return _admit_undo(run, step, spec, input, digest, catalog, at)
    identity = identity_of(step, spec, input, operation)
    intent = ids.intent(run.lineage, spec.name, text if identity is input else ids.canonical(identity))
    key = next_key(run, step, spec, intent)
    entry = run.ledger.get(key)
    if entry is None:
        return NOTHING if key in run.orphans else _start(run, step, spec, key, input, digest, catalog, at)
    problem = conflict(entry, step, digest)
    if problem:
        return _fail(step, "conflict", problem, digest)
    if catalog.reviews_steps and (rule := catalog.authority.review_of(spec.name)) is not None:
        return Decision((f.StepSatisfied(step.id, key, rule.by, rule.max_rounds),))
    return Decision((f.StepSatisfied(step.id, key),))


def _admit_undo(
    run: Run,
    step: Step,
    spec: ToolSpec,
    input: Mapping[str, Any],
    digest: str,
    catalog: Catalog,
    at: float,
) -> Decision:
    entry = run.ledger[step.undoes]
    if entry.state == "undone":
        return Decision((f.StepSatisfied(step.id, entry.undone_by),))
    key = ids.undo_key(step.undoes)
    if entry.state == "undoing" or key in run.running or key in run.backoff or key in run.unknown:
        problem = f"operation conflict: step {step.id!r} undoes {step.undoes}, which is being undone already"
        return _fail(step, "conflict", problem, digest)
    return _start(run, step, spec, key, input, digest, catalog, at)


def _start(
    run: Run,
    step: Step,
    spec: ToolSpec,
    key: str,
    input: Mapping[str, Any],
    digest: str,
    catalog: Catalog,
    at: float,
) -> Decision:
    if catalog.guards_steps or run.approvals or run.mode == "interactive":
        held_up = hold_up(run, step, spec, input, digest, catalog)
        if held_up is not None:
            return held_up
    attempt = run.attempts.get(key, 0) + 1
    deadline = at + step.timeout_s if step.timeout_s is not None else None
    started = f.StepStarted(
        step.id, key, spec.name, input, digest, attempt, spec.effect, spec.undo, spec.idempotent, step.undoes,
        deadline, spec.replans, retry=step.retry,
    )  # fmt: skip
    if catalog.reviews_steps and (rule := catalog.authority.review_of(spec.name)) is not None:
        started = msgspec.structs.replace(started, review=rule.by, rounds=rule.max_rounds)
    if spec.name == PLAN_AND_EXECUTE:
        return _start_child(run, step, started, catalog, at)
    board = dict(run.board) if run.board else {}
    order = Execute(key, attempt, spec.name, input, step.id, None, deadline, board, retry=step.retry)
    return Decision((started,), (order,))


def _start_child(run: Run, step: Step, started: f.StepStarted, catalog: Catalog, at: float) -> Decision:
    """Start a step that is a child run: there is nothing for the executor to do."""
    try:
        child = children.started(run, step, started.operation, started.input, catalog, at)
    except InvalidInputError as error:
        return _fail(step, "arguments", str(error), started.digest)
    return Decision((started, child), (guiding.order_of(run, child),))


def _fail_template(run: Run, step: Step, error: TemplateError) -> Decision:
    why = run.skipped.get(error.step, "") if isinstance(error, MissingStep) else ""
    return Decision((f.StepFailed(step.id, "", 0, template_failure(error, step.id, step.tool_name, why)),))


def template_failure(error: TemplateError, step: str = "", tool: str = "", skipped: str = "") -> f.Failure:
    """Return the failure of a template that cannot be rendered, of a step or of the plan's output."""
    message = f"{error}: it was {skipped}" if skipped else str(error)
    kind, digest = type(error).__name__, ids.digest([tool, message])
    return f.Failure("template", message, step, tool, kind, digest, isinstance(error, EmptyData))


def _fail(step: Step, kind: str, problem: str, digest: str) -> Decision:
    failure = f.Failure(kind, problem, step.id, step.tool_name, digest=digest)
    return Decision((f.StepFailed(step.id, "", 0, failure),))
