"""A run as people and programs look at it: a frozen picture of the state at one version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from .briefing import goal, ledger_entry, signals
from .budget import Budget, Usage
from .children import ChildView, Parent
from .copies import copied
from .facts import Failure, Gap, Limits, Mode
from .fairness import Priority
from .family import Child
from .goal import Goal
from .ledger import UndoState
from .plan import Author, Plan
from .planning import LedgerEntry, SignalEntry
from .run import Run
from .step_view import StepView, steps_of
from .summary import Attention, Status, attention, awaited_approvals, status, wake_at


class UndoView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A compensation and where it stands.

    Args:
        operation: its key.
        of: the operation it takes back.
        tool: full name of its tool.
        input: its arguments.
        cause: why it was issued.
        state: where it stands.
        attempt: number of the latest attempt.
        retry_at: when the next attempt is due, in seconds since the epoch.
        failure: why the last attempt failed.
    """

    operation: str
    of: str
    tool: str
    input: Mapping[str, Any]
    cause: str
    state: UndoState
    attempt: int = 0
    retry_at: float | None = None
    failure: Failure | None = None


class ApprovalView(msgspec.Struct, frozen=True, omit_defaults=True):
    """What waits for the approval of a person, as they are to see it.

    Args:
        subject: its name.
        why: what asks for it.
        step: the step; empty for a plan.
        tool: full name of its tool.
        input: its rendered arguments.
        plan: the plan; ``None`` for a step.
        approvers: globs of the actors that may answer.
        four_eyes: the one who started the run may not approve.
    """

    subject: str
    why: str
    step: str = ""
    tool: str = ""
    input: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    plan: Plan | None = None
    approvers: tuple[str, ...] = ()
    four_eyes: bool = True


class RunState(msgspec.Struct, frozen=True, kw_only=True):
    """A run at one version.

    Args:
        id: the run.
        status: what it is doing.
        version: version of its last fact.
        epoch: the version a proposal has to be planned from.
        revision: number of the present plan; 0 before the first.
        revision_token: the id issued with it: `RunHandle.replan` with it is about this plan and no other.
        author: who wrote the present plan.
        goal: what it is for.
        planner: name of its planner; empty for none.
        mode: autonomous or interactive.
        priority: its share of places where they are scarce.
        key: the idempotency key it was started with.
        lineage: id of the run at the root of its lineage.
        tags: free names and values.
        limits: how often it may ask for another plan, and what it was started to spend.
        budgets: what it may spend now.
        usage: what it has spent, its wall time aside.
        paused: why nothing is begun; empty where it is not paused.
        steps: the present plan.
        ledger: committed operations in order of commitment.
        undos: compensations, in the order they were issued.
        board: named values left for planning.
        signals: signals since the last accepted plan.
        failures: every failure so far, oldest first.
        approvals: steps and plans that wait for approval.
        attention: what waits for a person.
        gaps: requirements of the goal that had no evidence when the run was to be delivered; empty again once
            there is another plan.
        replan_reason: why another plan is owed; empty where none is.
        replans: how often another plan was asked for.
        stuck: why it is stuck, and ``helper``: the handler that is being asked about it; empty where none is.
        wake_at: when something falls due by itself, in seconds since the epoch.
        result: what it ended with, once it is completed.
        failure: why it ended otherwise, or is being undone.
        parent: the run it is a child of; ``None`` for none.
        children: its child runs, in the order they were started.
    """

    id: str
    status: Status
    version: int
    epoch: int
    revision: int
    revision_token: str
    author: Author | None
    goal: Goal
    planner: str
    mode: Mode
    priority: Priority
    key: str
    lineage: str
    tags: Mapping[str, str]
    limits: Limits
    budgets: tuple[Budget, ...]
    usage: Usage
    paused: str
    steps: tuple[StepView, ...]
    ledger: tuple[LedgerEntry, ...]
    undos: tuple[UndoView, ...]
    board: Mapping[str, Any]
    signals: tuple[SignalEntry, ...]
    failures: tuple[Failure, ...]
    approvals: tuple[ApprovalView, ...]
    attention: tuple[Attention, ...]
    gaps: tuple[Gap, ...]
    replan_reason: str
    replans: int
    wake_at: float | None
    result: Any
    failure: Failure | None
    parent: Parent | None = None
    children: tuple[ChildView, ...] = ()
    stuck: str = ""
    helper: str = ""


def view(run: Run) -> RunState:
    """Return a picture of a run that later facts do not change, and that changes nothing of the run."""
    return RunState(
        id=run.id,
        status=status(run),
        version=run.version,
        epoch=run.epoch,
        revision=run.revision,
        revision_token=run.revision_token,
        author=run.author,
        goal=goal(run),
        planner=run.planner,
        mode=run.mode,
        priority=run.priority,
        key=run.key,
        lineage=run.lineage,
        tags=dict(run.tags),
        limits=run.limits,
        budgets=run.budgets,
        usage=Usage(sum(run.calls.values()), run.replans, run.tokens, run.cost),
        paused=run.paused.reason if run.paused is not None else "",
        steps=steps_of(run),
        ledger=tuple(ledger_entry(entry) for entry in run.ledger.values()),
        undos=_undos(run),
        board=copied(run.board),
        signals=signals(run),
        failures=tuple(run.failures),
        approvals=_approvals(run),
        attention=tuple(attention(run)),
        gaps=run.gaps,
        replan_reason=run.owed.reason if run.owed else "",
        replans=run.replans,
        wake_at=wake_at(run),
        result=end_result(run),
        failure=end_failure(run),
        parent=run.parent,
        children=tuple(_child(run, child) for child in run.family.values()),
        stuck=run.stuck,
        helper=_helper(run),
    )


def child_of(run: Run, operation: str) -> ChildView:
    """Return the child run that is an operation of a run, as its parent knows it."""
    return _child(run, run.family[operation])


def _child(run: Run, child: Child) -> ChildView:
    entry = run.ledger.get(child.operation)
    result = copied(entry.receipt.result) if entry is not None and child.state == "completed" else None
    return ChildView(
        child.run, child.operation, child.step, child.goal.text, child.state, result, child.failure
    )


def _helper(run: Run) -> str:
    return next((asked.who for asked in run.consulting.values() if asked.kind == "stuck"), "")


def end_result(run: Run) -> Any:
    """Return what a completed run ended with; ``None`` for any other."""
    return copied(run.outcome) if run.final == "completed" else None


def _approvals(run: Run) -> tuple[ApprovalView, ...]:
    return tuple(
        ApprovalView(
            each.subject, each.why, each.step, each.tool, copied(each.input),
            copied(each.proposal.plan) if each.proposal is not None else None, each.approvers, each.four_eyes,
        )
        for each in awaited_approvals(run)
    )  # fmt: skip


def end_failure(run: Run) -> Failure | None:
    """Return why a run ended without its goal, or is being undone; ``None`` for any other."""
    if run.final == "failed":
        return run.outcome if isinstance(run.outcome, Failure) else None
    return run.unwinding.failure if run.unwinding is not None else None


def _undos(run: Run) -> tuple[UndoView, ...]:
    return tuple(
        UndoView(
            undo.key, undo.of, undo.tool, copied(undo.input), undo.cause, undo.state, undo.attempt,
            undo.retry_at if undo.state == "backoff" else None, undo.failure,
        )
        for undo in run.undos.values()
    )  # fmt: skip
