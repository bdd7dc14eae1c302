"""Facts about reviews and coverage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from .base import Fact

Kind = Literal["step", "plan", "requirement", "stuck"]
"""What an opinion is about."""


class ConsultationRequested(Fact):
    """A reviewer, a judge or a handler of stuck runs is asked.

    Args:
        key: name of the question, the same until it is answered.
        kind: ``step``, ``plan``, ``requirement`` or ``stuck``.
        who: whose opinion is asked for.
        subject: the step, the digest of the proposal, the requirement, or why the run is stuck.
        round: how often the step was done.
    """

    key: str
    kind: Kind
    who: str
    subject: str
    round: int = 1


class OpinionGiven(Fact):
    """A reviewer, a judge or a handler has answered, or (``failed``) could not be asked.

    ``by`` is empty where the question was not open any more: the answer is kept and changes nothing.
    ``updates`` are what a handler of stuck runs has put onto the board.
    """

    key: str
    verdict: str
    reason: str = ""
    problems: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()
    by: str = ""
    updates: Mapping[str, Any] = {}


class StepReviewed(Fact):
    """The review of a step is over.

    Args:
        step: the step.
        operation: what it had committed.
        verdict: ``ok``: it counts; ``step``: it is done again; ``plan``: it counts, and another plan follows.
        reason: why.
        by: who said so.
    """

    step: str
    operation: str
    verdict: str
    reason: str = ""
    by: str = ""


class ReviewEscalated(Fact):
    """A person has to choose what becomes of a step: its review does not come to an end by itself."""

    step: str
    reason: str


class ReviewReset(Fact):
    """A person has the review of a step begin anew, with as many rounds as it had at first."""

    step: str
    reason: str = ""
    by: str = ""


class PlanReviewRequested(Fact):
    """A proposal waits for the opinions of reviewers."""

    digest: str
    epoch: int
    reviewers: tuple[str, ...]


class Gap(msgspec.Struct, frozen=True, gc=False):
    """A requirement without evidence.

    Args:
        requirement: its id.
        why: what is missing.
    """

    requirement: str
    why: str


class CoverageChecked(Fact):
    """The requirements were looked at before delivery; what is in ``gaps`` has no evidence.

    Without gaps it comes right before the fact that the run is completed.
    """

    gaps: tuple[Gap, ...] = ()
