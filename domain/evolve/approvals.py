"""What facts about approvals change."""

from __future__ import annotations

from .. import facts as f
from ..approvals import PLAN, Approval
from ..run import Run


def approval_requested(run: Run, fact: f.ApprovalRequested) -> None:
    proposal = None
    if fact.step == PLAN:
        proposal, run.proposal = run.proposal, None
        run.asked = None
    else:
        run.ready.pop(fact.step, None)
    run.approvals[fact.step] = Approval.of(fact, run.version, proposal)


def approval_given(run: Run, fact: f.ApprovalGiven) -> None:
    approval = _named(run, fact.subject)
    approval.by, approval.version = fact.by, run.version
    run.verdicts[fact.subject] = f"approved by {fact.by}"
    _make_ready(run, approval)


def approval_denied(run: Run, fact: f.ApprovalDenied) -> None:
    _forget(run, fact.subject)
    run.verdicts[fact.subject] = f"denied by {fact.by}"
    run.foreseen_from = run.version


def approval_rebound(run: Run, fact: f.ApprovalRebound) -> None:
    approval = _named(run, fact.subject)
    approval.revision = fact.revision
    if not approval.by:
        run.ready.pop(approval.step, None)


def approval_voided(run: Run, fact: f.ApprovalVoided) -> None:
    approval = _forget(run, fact.subject)
    run.verdicts[fact.subject] = f"void: {fact.why}"
    _make_ready(run, approval)


def _named(run: Run, subject: str) -> Approval:
    return next(each for each in run.approvals.values() if each.subject == subject)


def _forget(run: Run, subject: str) -> Approval:
    """Let go of an approval; that of a plan goes with the proposal, whose rejection follows."""
    approval = _named(run, subject)
    if approval.step != PLAN:
        del run.approvals[approval.step]
    return approval


def _make_ready(run: Run, approval: Approval) -> None:
    """Let a step have its turn again, if it is still to run and waits for no other.

    Approvals are let go of when their step begins: one that is there is of a step that has not begun, or that
    is to begin anew.
    """
    if run.unwinding is None and run.unmet.get(approval.step) == 0:
        run.ready[approval.step] = None
