"""What is left of a tail when some of its steps are left out."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from .facts import PlanAccepted, PlanProposed
from .plan import Step
from .readiness import is_dag


def rest_of(tail: Sequence[Step], rest: Sequence[Step]) -> Sequence[Step]:
    """Return the steps of a tail that are left, so that what is left of a DAG is no sequence."""
    if not rest or not is_dag(tail) or is_dag(rest):
        return rest
    return (msgspec.structs.replace(rest[0], needs=()), *rest[1:])


def accepted_tail(proposal: PlanProposed, accepted: PlanAccepted) -> tuple[Sequence[Step], Sequence[str]]:
    """Return the tail that is to be carried out, and the done steps that the proposal listed.

    Some of these may have been in flight when it was made, and done when its turn came.
    """
    tail = proposal.plan.steps
    if len(accepted.added) == len(tail):
        return tail, proposal.relisted
    rest = [step for step in tail if step.id in accepted.added]
    done = [step.id for step in tail if step.id not in accepted.added]
    return rest_of(tail, rest), (*proposal.relisted, *done)
