"""What waits for people, and what can be approved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from ...domain.plan import Plan
from ...domain.summary import Attention
from ...domain.view import ApprovalView
from .moments import show_age
from .output import one_line, paint, program, short_json
from .render_facts import human
from .session import Session

_INPUT = 400


def attention_lines(
    run_id: str, items: Sequence[Attention], *, now: float | None = None, called: str | None = None
) -> Iterator[str]:
    """Yield what waits for a person, and the commands that settle it.

    Args:
        run_id: the run.
        items: what waits.
        now: the time, to say how long they have been waiting; ``None`` not to say it.
        called: how this program is called for the same store; `this_program`, if left out.
    """
    called = this_program() if called is None else called
    for item in items:
        yield ""
        kind = item.kind.replace("_", " ")
        age = "" if now is None or item.since is None else f" (for {show_age(now - item.since)})"
        about = one_line(item.subject).removeprefix(f"{kind}: ")
        subject = "" if item.subject in (item.kind, item.detail) else f": {about}"
        yield paint(f"Needs a person: {kind}{subject}{age}", "red")
        yield f"  {human(item.detail)}; {item.remedy}:"
        for command in _commands(run_id, item, called):
            yield f"    {command}"


def this_program() -> str:
    """Return how this program is called for the store and configuration of the command under way."""
    context = click.get_current_context(silent=True)
    session = context.find_object(Session) if context is not None else None
    return program() if session is None else session.command_line()


def _commands(run_id: str, item: Attention, called: str) -> tuple[str, ...]:
    runs = f"{called} runs"
    subject = f"{run_id} {item.subject}"
    if item.kind == "approval":
        return (f"{runs} approve {subject}", f"{runs} deny {subject} --reason REASON")
    if item.kind == "review":
        choices = "continue|reset|stop" if "continue" in item.remedy else "ok|step|plan"
        return (f"{runs} review {subject} {choices} --reason REASON",)
    if item.kind == "question":
        return (f"{runs} answer {subject} JSON", f"{runs} answer {subject} --decline")
    if item.kind == "breakpoint":
        return (f"{runs} release {subject}", f"{runs} release {subject} --result JSON")
    if item.kind == "unknown_outcome":
        settle = f"{runs} settle {subject}"
        return (f"{settle} --happened RESULT", f"{settle} --not-happened --reason REASON")
    if item.kind == "parked_compensation":
        return (f"{runs} compensate retry {subject}", f"{runs} compensate waive {subject} --reason REASON")
    if item.kind == "budget":
        measure = {"wall_time_s": "wall-time"}.get(item.subject, item.subject)
        return (f"{runs} budget {run_id} --{measure} MORE", f"{runs} cancel {run_id} --reason REASON")
    if item.kind == "stuck":
        return (
            f"{runs} propose {run_id} FILE --epoch EPOCH",
            f"{runs} signal {run_id} NAME VALUE",
            f"{runs} cancel {run_id} --reason REASON",
        )
    return (f"{called}{'' if ' --config ' in called else ' --config FILE'} runs resume {run_id}",)


def approval_lines(approvals: Sequence[ApprovalView]) -> list[str]:
    """Return what can be approved, as its approver is to see it."""
    lines: list[str] = []
    for approval in approvals:
        lines.append(f"  {approval.subject}")
        if approval.plan is None:
            lines.append(f"    step {approval.step}: {approval.tool} {short_json(approval.input, _INPUT)}")
        else:
            lines += [f"    {line}" for line in _plan_lines(approval.plan)]
        lines.append(f"    because {one_line(approval.why)}")
    return lines


def _plan_lines(plan: Plan) -> Iterator[str]:
    for step in plan.steps:
        yield f"{step.id}: {step.tool_name} {short_json(step.input, _INPUT)}"
    for operation in plan.undo:
        yield f"undo {operation}"
    if plan.reason:
        yield f"its planner says: {one_line(plan.reason)}"
