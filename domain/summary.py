"""A run at a glance: its status, what waits for a person, and when it must be looked at again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

import msgspec

from .approvals import PLAN, Approval
from .children import TAKE_BACK
from .opinions import PERSON
from .run import Run

Status = Literal[
    "planning", "running", "waiting", "attention", "compensating", "completed", "failed", "cancelled"
]
FINAL: frozenset[Status] = frozenset(("completed", "failed", "cancelled"))

AttentionKind = Literal[
    "approval", "question", "breakpoint", "review", "unknown_outcome", "budget", "stuck",
    "parked_compensation",
    "missing_tool", "missing_planner",
]  # fmt: skip


class Attention(msgspec.Struct, frozen=True):
    """Something of a run that only a person can settle.

    Args:
        kind: what sort of thing it is.
        subject: the approval, operation, tool or planner it is about; the reason, where a run is stuck.
        detail: what happened.
        remedy: what a person can do.
        since: when it began to wait, in seconds since the epoch; ``None`` where that was not looked up.
    """

    kind: AttentionKind
    subject: str
    detail: str
    remedy: str
    since: float | None = None


def attention(run: Run) -> list[Attention]:
    """Return everything of a run that waits for a person."""
    return [
        *_approvals(run),
        *_questions(run),
        *_reviews(run),
        *_stops(run),
        *_unknown_outcomes(run),
        *_parked_undos(run),
        *_missing_parts(run),
        *_spent_budget(run),
        *_stuck(run),
    ]


def _approvals(run: Run) -> Iterator[Attention]:
    for approval in awaited_approvals(run):
        what = "the proposed plan" if approval.step == PLAN else f"step {approval.step} ({approval.tool})"
        who = ", ".join(approval.approvers) or "nobody"
        but = f", but not {run.started_by}, who started it" if approval.four_eyes and run.started_by else ""
        yield Attention(
            "approval",
            approval.subject,
            f"{what} waits for approval: {approval.why}",
            f"approve it, or deny it with a reason (may be answered by {who}{but})",
        )


def _questions(run: Run) -> Iterator[Attention]:
    for step, question in run.questions.items():
        yield Attention("question", step, question.prompt, "answer it, or decline to")


def _reviews(run: Run) -> Iterator[Attention]:
    for step, review in run.reviews.items():
        if review.escalated:
            remedy = "continue with it, reset it to begin its review anew, or stop the run"
            yield Attention("review", step, review.escalated, remedy)
        elif review.who == PERSON:
            detail = f"step {step} is done and waits for a person to review it"
            yield Attention("review", step, detail, "say ok, step (do it again) or plan (make another plan)")


def _stops(run: Run) -> Iterator[Attention]:
    for step, failure in run.stops.items():
        if failure is None:
            yield Attention("breakpoint", step, f"held before step {step}", "release it, or give it a result")
        else:
            detail = f"held after step {step} failed: {failure.message}"
            remedy = "release it, which lets the failure stand, or give it a result"
            yield Attention("breakpoint", step, detail, remedy)


def awaited_approvals(run: Run) -> list[Approval]:
    """Return the approvals that nobody gave and that are still wanted."""
    if run.unwinding is not None:
        return []
    return [each for each in run.approvals.values() if not each.by]


def _unknown_outcomes(run: Run) -> Iterator[Attention]:
    for key, operation in run.unknown.items():
        if not operation.probing:
            yield Attention(
                "unknown_outcome",
                key,
                f"nobody knows what became of {operation.tool} (step {operation.step}): {operation.why}",
                "settle it: happened, with its receipt, or not happened, with a reason",
            )


def _parked_undos(run: Run) -> Iterator[Attention]:
    for key, undo in run.parked.items():
        detail = undo.failure.message if undo.failure is not None else ""
        if undo.state == "escalated":
            detail = f"escalated, for it failed again after it was retried on request: {detail}"
        yield Attention("parked_compensation", key, detail, "retry it, or waive it with a reason")


def _missing_parts(run: Run) -> Iterator[Attention]:
    for kind, name in sorted(run.missing):
        detail = f"{kind} {name!r} is not registered"
        remedy = f"take the run up with an engine that has this {kind}"
        yield Attention("missing_planner" if kind == "planner" else "missing_tool", name, detail, remedy)


def _spent_budget(run: Run) -> Iterator[Attention]:
    if run.spent is not None and run.paused is not None:
        remedy = "change its budget, which lets it go on, or cancel it"
        yield Attention("budget", run.spent.measure, run.spent.why, remedy)


def _stuck(run: Run) -> Iterator[Attention]:
    if run.stuck and not run.is_helped:
        remedy = "propose a plan, send a signal with what is new, or cancel"
        if run.planner and run.replans < run.limits.replans:
            remedy = f"mend the planner and have it replan, {remedy}"
        unhelped = f"; no help from {run.unhelped}" if run.unhelped else ""
        yield Attention("stuck", run.stuck, f"{_stuck_on(run)}{unhelped}", remedy)


def _stuck_on(run: Run) -> str:
    if run.stuck_on is not None and run.stuck_on.kind == "refused":
        return f"refused because: {run.stuck_on.message}"
    if run.stuck_on is not None and run.stuck_on.kind == "judge":
        return "its plan is done, and nobody knows whether that was enough"
    if run.owed is None:
        return "no plan was made yet" if run.revision == 0 else "another plan is owed"
    return f"another plan was asked for: {run.owed.reason}"


def needs_attention(run: Run) -> bool:
    """Whether anything waits for a person; cheaper than listing it."""
    if (
        (run.stuck and not run.is_helped)
        or run.parked
        or run.missing
        or (run.approvals and awaited_approvals(run))
    ):
        return True
    if run.reviews and any(each.escalated or each.who == PERSON for each in run.reviews.values()):
        return True
    if run.questions or run.stops or (run.spent is not None and run.paused is not None):
        return True
    return bool(run.unknown) and any(not operation.probing for operation in run.unknown.values())


def status(run: Run) -> Status:
    """Return where a run stands."""
    if run.undos_open:
        return "compensating"
    if run.final is not None:
        return run.final
    busy = len(run.running) > len(run.children)  # what a child run does is in flight there
    if not busy and needs_attention(run):
        return "attention"
    if run.unwinding is not None:
        return "compensating"
    if run.paused is not None and not busy:
        return "waiting"
    if run.is_helped or run.owed is not None or (run.revision == 0 and run.goal_found is None):
        return "planning"
    if run.is_probing or _has_letter(run):
        return "running"
    if not run.running and (run.backoff or run.waits or run.unknown):
        return "waiting"
    return "running"


def _has_letter(run: Run) -> bool:
    """Whether a signal that something waits for is there: another process has written it."""
    if not run.mail:
        return False
    suspended = any(each.awaits in run.mail for each in run.backoff.values())
    return suspended or any(wait.signal in run.mail for wait in run.waits.values())


def wake_at(run: Run) -> float | None:
    """Return when something falls due by itself, in seconds since the epoch, or ``None``.

    What waits for something else than time has no time. So once a run has been taken as far as it goes, this
    lies in the future.
    """
    if run.paused is not None or run.stops:
        return None
    idle = not (run.backoff or run.waits or run.undos_open or run.budgets or run.children)
    if idle and run.plan_retry_at is None:
        return None
    attempts = () if run.is_full else run.backoff.values()
    times = [each.retry_at for each in attempts if ("tool", each.tool) not in run.missing]
    times += [wait.due for wait in run.waits.values() if wait.due is not None]
    times += _children_late_at(run) if run.children else ()
    if run.undos_open and run.may_undo:
        times += [undo.retry_at for undo in run.undos_open.values() if undo.state == "backoff"]
    if run.plan_retry_at is not None and run.wants_plan:
        times.append(run.plan_retry_at)
    if run.budgets and run.is_spending:
        walls = (budget.wall_time_s for budget in run.budgets)
        times += [run.started_at + wall_s for wall_s in walls if wall_s is not None]
    first = min(times, default=math.inf)
    return first if first < math.inf else None


def _children_late_at(run: Run) -> list[float]:
    """Return when the steps of child runs that were not asked to stop have taken too long."""
    running = (run.running[key] for key, child in run.children.items() if not child.stop)
    return [operation.deadline for operation in running if operation.deadline is not None]


def is_dormant(run: Run) -> bool:
    """Whether nothing of a run is in flight in this process, so that it need not be kept in memory."""
    if any(asked.who != PERSON for asked in run.consulting.values()):
        return False
    is_planning = run.asked is not None and ("planner", run.planner) not in run.missing
    if len(run.running) > len(run.children) or is_planning or run.is_probing:
        return False
    return not run.undo_running or run.undos[run.undo_running].tool == TAKE_BACK
