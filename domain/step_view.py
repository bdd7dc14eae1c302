"""The steps of a run as people and programs look at them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from .copies import copied
from .ledger import Operation
from .run import Run

StepState = Literal[
    "pending", "ready", "approval", "held", "running", "waiting", "review", "backoff", "unknown", "failed",
    "skipped", "injected", "done",
]  # fmt: skip


class StepView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A step of the present plan and where it stands.

    Args:
        id: its id.
        tool: full name of its tool.
        input: its arguments: as they were rendered, once it was started, else as the plan has them.
        state: where it stands.
        operation: key of its operation, once it has one.
        attempt: number of the latest attempt.
        retry_at: when the next attempt is due, in seconds since the epoch.
        needs: ids of the steps the plan says it waits for; ``None`` in a sequence.
        reasoning: why it is there.
        result: what it returned, once it is done.
    """

    id: str
    tool: str
    input: Mapping[str, Any]
    state: StepState
    operation: str = ""
    attempt: int = 0
    retry_at: float | None = None
    needs: Sequence[str] | None = None
    reasoning: str = ""
    result: Any = None


def steps_of(run: Run) -> tuple[StepView, ...]:
    """Return the steps of the present plan, as they stand."""
    places: tuple[tuple[StepState, Mapping[str, Operation]], ...] = (
        ("failed", run.closed),
        ("unknown", run.unknown),
        ("backoff", run.backoff),
        ("running", run.running),
    )
    open_steps = {
        operation.step: (state, operation)
        for state, place in places
        for operation in place.values()
        if not operation.is_left
    }
    return tuple(_step(run, step_id, open_steps.get(step_id)) for step_id in _in_order(run))


def _in_order(run: Run) -> list[str]:
    """Return the steps of the plan, those of bodies behind the step that they belong to."""
    if not run.frame_of:
        return run.order
    inside: dict[str, list[str]] = {}
    for path in run.frame_of:
        inside.setdefault(path.partition("/")[0], []).append(path)
    return [each for step in run.order for each in (step, *inside.get(step, ()))]


def _step(run: Run, step_id: str, opened: tuple[StepState, Operation] | None) -> StepView:
    step = run.steps[step_id]
    needs, reasoning = step.needs, step.reasoning
    if step_id in run.skipped or step_id in run.injected:
        result = copied(run.results.get(step_id))
        without: StepState = "skipped" if step_id in run.skipped else "injected"
        return StepView(
            step_id, step.tool_name, step.input, without, result=result, needs=needs, reasoning=reasoning
        )
    if step_id in run.stops:
        return StepView(step_id, step.tool_name, copied(step.input), "held", needs=needs, reasoning=reasoning)
    if step_id in run.done:
        key = run.done[step_id]
        entry = run.ledger.get(key)
        return StepView(
            step_id, step.tool_name, copied(entry.input if entry else step.input), "done", key,
            run.attempts.get(key, 0), result=copied(run.results.get(step_id)), needs=needs,
            reasoning=reasoning,
        )  # fmt: skip
    if opened is not None:
        state, operation = opened
        if operation.is_suspended:
            state = "waiting"
        retry_at = operation.retry_at if state in ("backoff", "waiting") else None
        if retry_at == math.inf:
            retry_at = None
        return StepView(
            step_id, step.tool_name, copied(operation.input), state, operation.key, operation.attempt,
            retry_at, needs=needs, reasoning=reasoning
        )  # fmt: skip
    wait = run.waits.get(step_id)
    if wait is not None:
        return StepView(
            step_id, step.tool_name, copied(step.input), "waiting", retry_at=wait.due, needs=needs,
            reasoning=reasoning,
        )  # fmt: skip
    if step_id in run.reviews:
        entry = run.ledger[run.reviews[step_id].operation]
        return StepView(
            step_id, step.tool_name, copied(entry.input), "review", entry.key, run.attempts.get(entry.key, 0),
            needs=needs, reasoning=reasoning,
        )  # fmt: skip
    if step_id in run.controls or step_id in run.questions:
        state = "running" if step_id in run.controls else "waiting"
        return StepView(step_id, step.tool_name, copied(step.input), state, needs=needs, reasoning=reasoning)
    approval = run.approvals.get(step_id)
    if approval is not None and not approval.by:
        return StepView(
            step_id, step.tool_name, copied(approval.input), "approval", needs=needs, reasoning=reasoning
        )
    if step_id in run.started and step_id not in run.ready and not run.unmet.get(step_id):
        return StepView(
            step_id, step.tool_name, copied(step.input), "failed", needs=needs, reasoning=reasoning
        )
    return StepView(
        step_id,
        step.tool_name,
        copied(step.input),
        "ready" if step_id in run.ready else "pending",
        needs=needs,
        reasoning=reasoning,
    )
