"""Reviews of steps and of plans: bounded, and never passed in silence."""

from __future__ import annotations

from .. import facts as f
from .. import messages as m
from ..errors import MessageRefused
from ..held import Held
from ..ids import undo_key
from ..opinions import FAILED, PERSON, VERDICTS, Review
from ..run import Run
from ..tools import Catalog
from . import compensation
from .decision import NOTHING, Decision
from .opinions import ask, orders_of
from .people import refuse_ended
from .replan import request_replan

CHOICES = ("continue", "reset", "stop")
"""What a person may choose where a review does not come to an end by itself."""


def go_on(run: Run, catalog: Catalog) -> Decision:
    """Ask about the next step that is to be reviewed, or act on what was said of one."""
    for review in run.reviews.values():
        if review.escalated:
            continue
        opinion = run.opinions.get(review.key)
        if opinion is None:
            if review.key not in run.consulting:
                return ask(run, review.key, "step", review.who, review.step, review.round)
        elif (acted := _act(run, review, opinion, catalog)).facts:
            return acted
    return NOTHING


def _act(run: Run, review: Review, opinion: f.OpinionGiven, catalog: Catalog) -> Decision:
    entry = run.ledger[review.operation]
    verdict = opinion.verdict
    why = _why_a_person(run, review, opinion)
    if why:
        return Decision((f.ReviewEscalated(review.step, why),))
    if verdict == "step" and entry.effect == "reversible" and (entry.state != "committed" or not run.owed):
        return _undo_first(run, review, opinion, catalog)
    if verdict == "step" and (entry.effect != "read" or run.owed is not None):
        verdict = "plan"
    reviewed = f.StepReviewed(review.step, review.operation, verdict, opinion.reason, opinion.by)
    if verdict != "plan":
        return Decision((reviewed,))
    reason = opinion.reason or "the review of the step asks for another plan"
    asked = request_replan(run, "review", reason, review.step, entry.tool, input_digest=entry.digest)
    return Decision((reviewed, *asked))


def _why_a_person(run: Run, review: Review, opinion: f.OpinionGiven) -> str:
    """Return why a person has to choose what follows from an opinion, or nothing where none has to."""
    if opinion.verdict == FAILED:
        return f"it could not be reviewed: {opinion.reason}"
    if opinion.verdict == "ok":
        return ""
    if run.exit is not None:
        return f"the plan has ended by its exit, and the review finds: {opinion.reason or opinion.verdict}"
    if opinion.verdict == "step" and review.round >= review.most and run.owed is None:
        often = "once" if review.round == 1 else f"{review.round} times"
        return f"its review asked for it to be done again {often}, last: {opinion.reason}"
    return ""


def _undo_first(run: Run, review: Review, opinion: f.OpinionGiven, catalog: Catalog) -> Decision:
    """A reversible step is undone before it is done again; one whose undo was waived counts as it is."""
    entry = run.ledger[review.operation]
    if entry.state == "undone":
        return Decision((f.StepReviewed(review.step, entry.key, "step", opinion.reason, opinion.by),))
    if entry.waived:
        return Decision((f.StepReviewed(review.step, entry.key, "ok", "its undo was waived", opinion.by),))
    if entry.state == "undoing" or _is_undone_by_a_step(run, entry.key):
        return NOTHING
    return Decision(compensation.issue((entry,), catalog, "review"))


def _is_undone_by_a_step(run: Run, operation: str) -> bool:
    """Whether a step of the plan is taking an operation back, so that it must not be taken back beside it."""
    key = undo_key(operation)
    return key in run.running or key in run.backoff or key in run.unknown


def left_by(run: Run, review: Review) -> f.StepReviewed:
    """Return what becomes of a review when a person puts another plan in the place of the present one.

    The step counts, unless its effect is being taken back.
    """
    if run.ledger[review.operation].state == "committed":
        return f.StepReviewed(review.step, review.operation, "ok", "a person made another plan meanwhile")
    why = "a person made another plan while its effect was being taken back"
    return f.StepReviewed(review.step, review.operation, "step", why)


def decide(run: Run, message: m.DecideReview, _catalog: Catalog) -> Decision:
    """A person reviews a step, or chooses where a review does not come to an end."""
    refuse_ended(run, "review")
    review = run.reviews.get(message.step)
    if review is None:
        waiting = ", ".join(run.reviews) or "none"
        raise MessageRefused(f"run {run.id}: step {message.step!r} waits for no review (waiting: {waiting})")
    if review.escalated:
        return _choose(run, review, message)
    if review.who != PERSON:
        raise MessageRefused(f"run {run.id}: step {message.step!r} is being reviewed by {review.who}")
    _check_choice(run, message, VERDICTS["step"])
    said = run.opinions.get(review.key)
    if said is not None and said.verdict == message.verdict:
        return NOTHING
    if said is not None:
        raise MessageRefused(
            f"run {run.id}: {said.by} said {said.verdict!r} of step {message.step!r}, and it is acted upon; "
            "wait for its next review, or ask for another plan"
        )
    given = f.OpinionGiven(review.key, message.verdict, message.reason, by=message.actor)
    return Decision((given,))


def _choose(run: Run, review: Review, message: m.DecideReview) -> Decision:
    _check_choice(run, message, CHOICES)
    if message.verdict == "continue":
        return Decision((f.StepReviewed(review.step, review.operation, "ok", message.reason, message.actor),))
    if message.verdict == "reset":
        return Decision((f.ReviewReset(review.step, message.reason, message.actor),))
    why = f"{message.actor} stopped it at the review of step {review.step}: {message.reason}"
    return Decision((f.UnwindingBegan("failed", f.Failure("review", why, review.step)),))


def _check_choice(run: Run, message: m.DecideReview, allowed: tuple[str, ...]) -> None:
    if message.verdict not in allowed:
        raise MessageRefused(
            f"run {run.id}: of step {message.step!r} you may say {', '.join(allowed)}, "
            f"not {message.verdict!r}"
        )


# ----------------------------------------------------------------------------------------------------- plans


def plan_key(digest: str, epoch: int, who: str) -> str:
    """Return the name of the question about a proposal."""
    return f"plan/{digest}/{epoch}/{who}"


def ask_about_plan(proposed: f.PlanProposed, catalog: Catalog) -> f.PlanReviewRequested:
    """Return the fact that a proposal waits for its reviewers."""
    return f.PlanReviewRequested(proposed.digest, proposed.epoch, catalog.plan_reviewers)


def next_of_plan(run: Run, held: Held, catalog: Catalog) -> Decision | None:
    """Return what comes next in the review of a proposal; ``None`` once all have found it good.

    Those who were to review it when it came do, whatever engine goes on with it. One that cannot be asked is
    a matter for a person, since no other plan would mend that.
    """
    proposed = held.proposal
    refusals: list[str] = []
    unheard = ""
    for who in dict.fromkeys((*held.reviewers, *catalog.plan_reviewers)):
        key = plan_key(proposed.digest, proposed.epoch, who)
        opinion = run.opinions.get(key)
        if opinion is None:
            return NOTHING if key in run.consulting else ask(run, key, "plan", who, proposed.digest)
        if opinion.verdict == FAILED:
            unheard = unheard or f"the plan could not be reviewed by {who}: {opinion.reason}"
        if opinion.verdict != "ok":
            said = opinion.problems or (opinion.reason or "it gave no reason",)
            refusals += [f"reviewer {who}: {problem}" for problem in said]
    if refusals:
        rejected = f.ProposalRejected(proposed.digest, proposed.epoch, "review", tuple(refusals))
        return Decision((rejected, f.RunStuck(unheard)) if unheard else (rejected,))
    return None


__all__ = [
    "CHOICES", "ask_about_plan", "decide", "go_on", "next_of_plan", "orders_of", "plan_key",
]  # fmt: skip
