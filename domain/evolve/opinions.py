"""What facts about reviews and coverage change."""

from __future__ import annotations

from .. import facts as f
from ..held import Held
from ..opinions import FAILED
from ..run import Run
from .steps import finish


def consultation_requested(run: Run, fact: f.ConsultationRequested) -> None:
    for key, asked in tuple(run.consulting.items()):
        if (asked.kind, asked.subject, asked.who) == (fact.kind, fact.subject, fact.who):
            del run.consulting[key]  # asked anew, of a later state
    run.consulting[fact.key] = fact


def opinion_given(run: Run, fact: f.OpinionGiven) -> None:
    asked = run.consulting.pop(fact.key, None)
    run.opinions[fact.key] = fact
    if asked is not None and asked.kind == "stuck" and fact.verdict == FAILED:
        run.unhelped = f"{fact.by}: {fact.reason}"


def step_reviewed(run: Run, fact: f.StepReviewed) -> None:
    review = run.reviews.pop(fact.step)
    run.consulting.pop(review.key, None)
    if fact.verdict == "step":
        run.rounds[fact.step] = (review.round, review.most)
        run.ready[fact.step] = None
    else:
        run.rounds.pop(fact.step, None)
        if fact.verdict == "ok":
            run.passed.add(review.operation)
        finish(run, review.step, review.operation, run.ledger[review.operation].receipt.result)


def review_escalated(run: Run, fact: f.ReviewEscalated) -> None:
    run.reviews[fact.step].escalated = fact.reason


def review_reset(run: Run, fact: f.ReviewReset) -> None:
    review = run.reviews[fact.step]
    review.escalated = ""
    review.most = review.round + review.allowed
    opinion = run.opinions.get(review.key)
    if opinion is not None and opinion.verdict == FAILED:
        del run.opinions[review.key]  # nothing was found wrong with the step: its reviewer is asked again


def plan_review_requested(run: Run, fact: f.PlanReviewRequested) -> None:
    assert run.proposal is not None  # noqa: S101 - as for PlanAccepted
    run.under_review, run.proposal = Held(run.proposal, run.version, fact.reviewers), None
    run.asked = None


def end_plan_review(run: Run) -> None:
    """A proposal waits for its reviewers no longer."""
    run.under_review = None
    for key, asked in tuple(run.consulting.items()):
        if asked.kind == "plan":
            del run.consulting[key]


def end_help(run: Run) -> None:
    """What handlers were asked about is over."""
    run.unhelped = ""
    for key, asked in tuple(run.consulting.items()):
        if asked.kind == "stuck":
            del run.consulting[key]


def coverage_checked(run: Run, fact: f.CoverageChecked) -> None:
    run.gaps = fact.gaps
    if fact.gaps:
        run.exit = None  # whoever left the plan there was not done
