"""When a step that is committed has to be reviewed before it counts."""

from __future__ import annotations

from ..opinions import Review
from ..run import Run

MAX_ROUNDS = 3
"""How often a step is done before a person chooses what becomes of it."""


def begin_review(run: Run, step: str, operation: str, who: str) -> None:
    """Have a step wait for its review.

    An operation that an earlier plan had reviewed, and that was not found good, is asked about anew: what was
    said of it then was said under that plan.
    """
    rounds, most = run.rounds.get(step, (0, MAX_ROUNDS))
    review = Review(step, operation, who, rounds + 1, most)
    while review.key in run.opinions:
        review.round += 1
        review.most += 1
    run.reviews[step] = review
