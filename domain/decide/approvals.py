"""What becomes of approvals: asked for, given, denied, carried over to a new revision, void."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from .. import facts as f
from .. import messages as m
from ..approvals import PLAN, Approval
from ..authority import matches_actor
from ..errors import MessageRefused
from ..plan import Plan, Step
from ..readiness import edges
from ..run import Run
from ..tools import Catalog
from .decision import NOTHING, Decision


def ask_for_step(
    run: Run, step: Step, input: Mapping[str, Any], digest: str, why: str, catalog: Catalog
) -> f.Fact:
    """Return the fact that a step with its rendered arguments waits for approval."""
    authority = catalog.authority
    return f.ApprovalRequested(
        f"{step.id}.{run.revision}.{digest}", digest, why, step.id, run.revision, run.epoch, step.tool_name,
        input, authority.approvers, authority.four_eyes,
    )  # fmt: skip


def ask_for_plan(run: Run, mark: str, epoch: int, why: str, catalog: Catalog) -> f.Fact:
    """Return the fact that a proposal waits for approval."""
    authority = catalog.authority
    return f.ApprovalRequested(
        f"plan.{epoch}.{mark}", mark, why, PLAN, run.revision, epoch,
        approvers=authority.approvers, four_eyes=authority.four_eyes,
    )  # fmt: skip


def approve(run: Run, message: m.ApproveSubject, _catalog: Catalog) -> Decision:
    """A person approves; what follows is begun by the owner of the run."""
    approval = _pending(run, message.subject)
    if approval.by == message.actor:
        return NOTHING
    _check_may_answer(run, approval, message.actor, approving=True)
    _check_not_given(run, approval)
    return Decision((f.ApprovalGiven(approval.subject, message.actor),), (), approval.version)


def deny(run: Run, message: m.DenySubject, _catalog: Catalog) -> Decision:
    """A person does not approve: the step ends as its plan says, the proposal is refused."""
    approval = _pending(run, message.subject)
    _check_may_answer(run, approval, message.actor, approving=False)
    _check_not_given(run, approval)
    denied = f.ApprovalDenied(approval.subject, message.actor, message.reason)
    said = f"denied by {message.actor}" + (f": {message.reason}" if message.reason else "")
    if approval.step == PLAN:
        ended: f.Fact = f.ProposalRejected(
            approval.digest, approval.epoch, "denied", (f"the plan was {said}",)
        )
    else:
        ended = _end_unapproved(run.steps[approval.step], approval, said)
    return Decision((denied, ended), (), approval.version)


def _end_unapproved(step: Step, approval: Approval, said: str) -> f.Fact:
    if step.when_unapproved == "fail":
        problem = f"step {step.id!r} ({step.tool_name}) was {said}"
        failure = f.Failure("denied", problem, step.id, step.tool_name, digest=approval.digest)
        return f.StepFailed(step.id, "", 0, failure)
    has_default = step.when_unapproved == "default"
    return f.StepSkipped(step.id, said, has_default, step.default if has_default else None)


def _pending(run: Run, subject: str) -> Approval:
    """Return what a person answers about."""
    approval = next((each for each in run.approvals.values() if each.subject == subject), None)
    if approval is None:
        pending = ", ".join(each.subject for each in run.approvals.values() if not each.by) or "none"
        verdict = run.verdicts.get(subject)
        known = f"was {verdict}" if verdict else "was never asked for"
        raise MessageRefused(f"run {run.id}: the approval {subject!r} {known} (waiting: {pending})")
    if run.unwinding is not None:
        raise MessageRefused(f"run {run.id} is being undone: there is nothing to approve any more")
    return approval


def _check_not_given(run: Run, approval: Approval) -> None:
    if approval.by:
        raise MessageRefused(
            f"run {run.id}: {approval.subject!r} was approved by {approval.by} already; "
            "ask for another plan, or cancel, to stop it"
        )


def _check_may_answer(run: Run, approval: Approval, actor: str, *, approving: bool) -> None:
    """Refuse who may not answer. Under four eyes the one who started the run may say no, and not yes."""
    if not any(matches_actor(glob, actor) for glob in approval.approvers):
        allowed = ", ".join(approval.approvers) or "nobody"
        raise MessageRefused(
            f"run {run.id}: {actor} may not answer {approval.subject!r}; those who may: {allowed} "
            "(set by `approvers` of the engine's authority)"
        )
    if approving and approval.four_eyes and _is_same_person(actor, run.started_by):
        raise MessageRefused(
            f"run {run.id} was started by {run.started_by}: under four eyes somebody else approves "
            f"{approval.subject!r}"
        )


def _is_same_person(actor: str, other: str) -> bool:
    """Whether two actors are one person, however each was authenticated."""
    if actor == other:
        return True
    name, other_name = actor.partition(":")[2], other.partition(":")[2]
    return name != "" and name == other_name


def carry_over(run: Run, plan: Plan, mark: str) -> tuple[list[f.Fact], list[f.Fact]]:
    """Return what an accepted plan means for approvals: facts before its acceptance, and facts after it.

    Args:
        run: the run, before the acceptance.
        plan: the plan that is accepted.
        mark: its digest.
    """
    before: list[f.Fact] = []
    after: list[f.Fact] = []
    if not run.approvals:
        return before, after
    unchanged = _unchanged(run, plan)
    for approval in run.approvals.values():
        if approval.step == PLAN:
            if approval.digest != mark:
                before += _void_plan(approval, "replaced", "another plan was accepted")
        elif approval.step in unchanged:
            after.append(f.ApprovalRebound(approval.subject, run.revision + 1))
        else:
            why = f"revision {run.revision + 1} does not keep step {approval.step!r} as it was"
            before.append(f.ApprovalVoided(approval.subject, why))
    return before, after


def _unchanged(run: Run, plan: Plan) -> set[str]:
    """Return the steps of a plan whose turn it is and that the present plan has as well, just so."""
    last = next((step for step in reversed(run.order) if step in run.done), "")
    waits = edges(plan.steps, last)
    return {
        step.id
        for step in plan.steps
        if all(need in run.done for need in waits[step.id]) and _is_same(run.steps.get(step.id), step)
    }


def _is_same(before: Step | None, step: Step) -> bool:
    """Whether two steps ask for the same; why they are there may be said in other words."""
    return before is not None and msgspec.structs.replace(before, reasoning=step.reasoning) == step


def void_outdated(run: Run) -> list[f.Fact]:
    """Return what ends the first approval whose subject is not to be any more, if there is one."""
    for approval in run.approvals.values():
        if approval.step == PLAN and approval.epoch != run.epoch:
            why = f"planned from epoch {approval.epoch}, the run is at {run.epoch}: look again and plan anew"
            return _void_plan(approval, "stale", why)
        if approval.step != PLAN and (run.unwinding is not None or approval.step not in run.unmet):
            return [f.ApprovalVoided(approval.subject, f"step {approval.step!r} is not to run any more")]
    return []


def _void_plan(approval: Approval, code: f.RejectionCode, why: str) -> list[f.Fact]:
    rejected = f.ProposalRejected(approval.digest, approval.epoch, code, (why,))
    return [f.ApprovalVoided(approval.subject, why), rejected]
