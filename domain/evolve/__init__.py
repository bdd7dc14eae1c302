"""How each fact changes the state of a run. One function a fact, each O(1) but for those about plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .. import facts as f
from ..run import Run
from . import (
    approvals,
    children,
    compensation,
    controls,
    debugging,
    lifecycle,
    limits,
    opinions,
    planning,
    steps,
    waits,
)

__all__ = ["evolve", "fold"]


def evolve(run: Run, fact: f.Fact) -> None:
    """Take one fact up into the state that its fold owns."""
    run.version += 1
    if fact.moves_epoch:
        run.epoch = run.version
    _EVOLVE[fact.__class__](run, fact)


def fold(run_id: str, facts: Iterable[f.Fact]) -> Run:
    """Return the state that a run's facts amount to."""
    run = Run(run_id)
    for fact in facts:
        evolve(run, fact)
    return run


_EVOLVE: dict[type[f.Fact], Callable[[Run, Any], None]] = {
    f.RunStarted: lifecycle.run_started,
    f.CatalogChanged: lifecycle.catalog_changed,
    f.PartMissing: lifecycle.part_missing,
    f.PartRestored: lifecycle.part_restored,
    f.CancelRequested: lifecycle.cancel_requested,
    f.UnwindingBegan: lifecycle.unwinding_began,
    f.RunStuck: lifecycle.run_stuck,
    f.RunCompleted: lifecycle.run_completed,
    f.RunFailed: lifecycle.run_failed,
    f.RunCancelled: lifecycle.run_cancelled,
    f.ReplanRequested: planning.replan_requested,
    f.ReplanJoined: planning.replan_joined,
    f.ReplanAnswered: planning.replan_answered,
    f.PlanRequested: planning.plan_requested,
    f.PlanProposed: planning.plan_proposed,
    f.ProposalHeld: planning.proposal_held,
    f.ProposalRejected: planning.proposal_rejected,
    f.PlanAccepted: planning.plan_accepted,
    f.PlanConfirmed: planning.plan_confirmed,
    f.PlanningFailed: planning.planning_failed,
    f.NoPlanFound: planning.no_plan_found,
    f.GoalFound: planning.goal_found,
    f.BoardUpdated: planning.board_updated,
    f.SignalReceived: planning.signal_received,
    f.StepStarted: steps.step_started,
    f.AttemptStarted: steps.attempt_started,
    f.AttemptStopRequested: steps.attempt_stop_requested,
    f.AttemptFailed: steps.attempt_failed,
    f.AttemptLost: steps.attempt_lost,
    f.OutcomeUnknown: steps.outcome_unknown,
    f.ProbeFailed: steps.probe_failed,
    f.OutcomeSettled: steps.outcome_settled,
    f.StepCompleted: steps.step_completed,
    f.StepSatisfied: steps.step_satisfied,
    f.StepFailed: steps.step_failed,
    f.ReplanRuleFailed: steps.replan_rule_failed,
    f.ReceiptArrivedLate: steps.receipt_arrived_late,
    f.StepSkipped: steps.step_skipped,
    f.ApprovalRequested: approvals.approval_requested,
    f.ApprovalGiven: approvals.approval_given,
    f.ApprovalDenied: approvals.approval_denied,
    f.ApprovalRebound: approvals.approval_rebound,
    f.ApprovalVoided: approvals.approval_voided,
    f.CompensationRequested: compensation.compensation_requested,
    f.CompensationIssued: compensation.compensation_issued,
    f.CompensationStarted: compensation.compensation_started,
    f.CompensationFailed: compensation.compensation_failed,
    f.CompensationLost: compensation.compensation_lost,
    f.CompensationCompleted: compensation.compensation_completed,
    f.CompensationParked: compensation.compensation_parked,
    f.CompensationRetried: compensation.compensation_retried,
    f.CompensationWaived: compensation.compensation_waived,
    f.ChildStarted: children.child_started,
    f.ChildEnded: children.child_ended,
    f.TakeBackRequested: children.take_back_requested,
    f.ControlStarted: controls.control_started,
    f.BodyStarted: controls.body_started,
    f.ControlEnded: controls.control_ended,
    f.ExitReached: controls.exit_reached,
    f.QuestionAsked: controls.question_asked,
    f.QuestionAnswered: controls.question_answered,
    f.ConsultationRequested: opinions.consultation_requested,
    f.OpinionGiven: opinions.opinion_given,
    f.StepReviewed: opinions.step_reviewed,
    f.ReviewEscalated: opinions.review_escalated,
    f.ReviewReset: opinions.review_reset,
    f.PlanReviewRequested: opinions.plan_review_requested,
    f.CoverageChecked: opinions.coverage_checked,
    f.BreakpointsSet: debugging.breakpoints_set,
    f.StepHeld: debugging.step_held,
    f.StepReleased: debugging.step_released,
    f.ResultInjected: debugging.result_injected,
    f.WaitStarted: waits.wait_started,
    f.WaitEnded: waits.wait_ended,
    f.AttemptSuspended: waits.attempt_suspended,
    f.UsageRecorded: limits.usage_recorded,
    f.BudgetSpent: limits.budget_spent,
    f.BudgetChanged: limits.budget_changed,
    f.RunPaused: limits.run_paused,
    f.RunUnpaused: limits.run_unpaused,
}
