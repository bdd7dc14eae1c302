"""When a step that is committed has to be reviewed before it counts."""

from __future__ import annotations

from ..opinions import Review
from ..run import Run

MAX_ROUNDS = 3
"""How often a step is done before a person chooses what becomes of it."""


def begin_review(run: Run, step: str, operation: str, who: str) -> None:
    """Have a step wait for its review."""
    rounds, most = run.rounds.get(step, (0, MAX_ROUNDS))
    run.reviews[step] = Review(step, operation, who, rounds + 1, most)


def is_passed(run: Run, operation: str) -> bool:
    """Whether a committed operation was reviewed already, and found good."""
    return any(
        opinion.verdict == "ok" and key.startswith(f"review/{operation}/")
        for key, opinion in run.opinions.items()
    )
