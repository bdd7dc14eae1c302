"""When a step that is committed has to be reviewed before it counts."""

from __future__ import annotations

from ..opinions import Review
from ..run import Run

MAX_ROUNDS = 3
"""How often a step is done before a person chooses what becomes of it."""


def begin_review(run: Run, step: str, operation: str, who: str, allowed: int) -> None:
    """Have a step wait for its review.

    An operation that an earlier plan had reviewed, and that was not found good, is asked about anew: what was
    said of it then was said under that plan.

    Args:
        run: the run.
        step: the step.
        operation: what it has committed.
        who: its reviewer.
        allowed: rounds after which a person chooses; 0 for as many as there are without a rule.
    """
    allowed = allowed or MAX_ROUNDS
    rounds, most = run.rounds.get(step, (0, allowed))
    review = Review(step, operation, who, rounds + 1, most, allowed)
    while review.key in run.opinions:
        review.round += 1
        review.most += 1
    run.reviews[step] = review
