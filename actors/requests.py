"""What became of a person's request, read from the facts it led to."""

from __future__ import annotations

from collections.abc import Iterable

from ..domain.errors import ReplanAnswer
from ..domain.facts import (
    Fact,
    PlanAccepted,
    ProposalHeld,
    ProposalRejected,
    ReplanAnswered,
    ReplanRequested,
    RunCancelled,
    RunFailed,
    UnwindingBegan,
)
from .errors import ProposalRefusedError

_ENDINGS = (UnwindingBegan, RunFailed, RunCancelled)


def replan_answer(facts: Iterable[Fact]) -> ReplanAnswer:
    """Return how a request for another plan was answered."""
    for fact in facts:
        if isinstance(fact, ReplanRequested):
            return "ACCEPTED"
        if isinstance(fact, ReplanAnswered):
            return fact.answer
    return "PROCESSING"


def is_end_of(held: ProposalHeld, fact: Fact) -> bool:
    """Whether a fact says what became of a proposal that waited for steps in flight."""
    if isinstance(fact, ProposalRejected):
        return (fact.digest, fact.epoch) == (held.digest, held.epoch)
    if isinstance(fact, PlanAccepted):
        return fact.author == "human" and fact.digest == held.digest
    return isinstance(fact, _ENDINGS)


def proposal_outcome(run_id: str, facts: Iterable[Fact]) -> int:
    """Return the revision that a proposal became.

    Raises:
        ProposalRefusedError: it became none.
    """
    for fact in facts:
        if isinstance(fact, ProposalRejected):
            raise ProposalRefusedError(run_id, fact.code, fact.problems)
        if isinstance(fact, PlanAccepted):
            return fact.revision
    raise ProposalRefusedError(run_id, "stale", ("the run was ended while it waited for steps in flight",))
