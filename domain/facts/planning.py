"""Facts about plans: asked for, proposed, accepted, refused; and the news that changes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ..errors import ReplanAnswer
from ..plan import Author, Plan
from .base import Fact, Failure

RejectionCode = Literal["stale", "invalid", "conflict", "replaced", "authority", "review", "denied"]


class ReplanRequested(Fact):
    """Something asked for a new plan: from here on no step of the present revision is admitted.

    Args:
        cause: ``tool``, ``failure``, ``precondition``, ``stuck`` or ``person``.
        digest: digest of cause, reason and committed state; seen twice, the run is stuck.
        step: the step that asks, or is asked about.
        tool: its tool.
        input_digest: digest of its arguments, once they were rendered.
    """

    moves_epoch = True
    cause: str
    reason: str
    digest: str
    step: str = ""
    tool: str = ""
    input_digest: str = ""


class ReplanJoined(Fact):
    """Something else asked for a plan while one is owed: the same plan answers both."""

    moves_epoch = True
    cause: str
    reason: str
    step: str = ""
    tool: str = ""
    input_digest: str = ""


class ReplanAnswered(Fact):
    """A request from outside was answered; told again with the same content, it is answered the same.

    Args:
        id: its id.
        content: digest of what it said.
        answer: ``ACCEPTED`` or ``STALE``.
    """

    id: str
    content: str
    answer: ReplanAnswer


class PlanRequested(Fact):
    """The planner is being asked, with the run as it was at ``epoch``."""

    epoch: int
    planner: str
    reason: str = ""


class PlanProposed(Fact):
    """A proposal arrived; it is recorded, whatever becomes of it.

    Args:
        plan: the new tail, numbered, with the full names of its tools.
        relisted: executed steps that it listed again as they are, and that ``plan`` leaves out.
    """

    epoch: int
    author: Author
    digest: str
    plan: Plan
    relisted: tuple[str, ...] = ()


class ProposalHeld(Fact):
    """A person's proposal is good and waits until what is in flight is known; no step begins meanwhile."""

    digest: str
    epoch: int


class ProposalRejected(Fact):
    """A proposal did not become a revision.

    Args:
        code: ``stale``, ``invalid``, ``conflict``, ``replaced`` by a later one of a person, against the
            ``authority`` of its planner, or ``denied`` by a person.
    """

    digest: str
    epoch: int
    code: RejectionCode
    problems: tuple[str, ...]


class PlanAccepted(Fact):
    """The pending proposal became revision ``revision``; steps and undos are in ``PlanProposed``.

    Args:
        kept: ids of executed steps, in their old positions.
        added: ids of the new tail.
        superseded: ids of steps that will not run.
        undone: operations being taken back.
        stability: how many steps differ between old and new plan, |π∖π′|+|π′∖π| (Fox et al. 2006).
        adopted: ids of those of the new tail that are in flight and go on.
        guarded: by step, the conditions its tool needs that were not known to be otherwise.
    """

    moves_epoch = True
    revision: int
    author: Author
    digest: str
    kept: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    reason: str = ""
    stability: int = 0
    adopted: tuple[str, ...] = ()
    guarded: Mapping[str, tuple[str, ...]] = {}


class PlanConfirmed(Fact):
    """Asked again after a step, the planner wants what is planned: no new revision, and counted nowhere.

    Args:
        epoch: the epoch it was asked from.
        reason: why the plan stands, where the planner did not say so itself.
    """

    epoch: int
    reason: str = ""


class PlanningFailed(Fact):
    """The planner raised or answered nonsense; it is asked again at ``retry_at``, or not at all."""

    epoch: int
    failure: Failure
    retry_at: float | None = None


class NoPlanFound(Fact):
    """The planner says there is no plan; ``stale`` where the run has changed since it was asked."""

    epoch: int
    reason: str
    give_up: bool = False
    stale: bool = False


class GoalFound(Fact):
    """The planner says the goal is reached; ``stale`` where the run has changed since it was asked."""

    epoch: int
    reason: str = ""
    stale: bool = False


class BoardUpdated(Fact):
    """Named values were added for later plans."""

    moves_epoch = True
    values: Mapping[str, Any]
    step: str = ""


class SignalReceived(Fact):
    """A message from outside; one relevant to planning moves the epoch."""

    name: str
    payload: Any = None
    id: str = ""
    relevant: bool = False

    @property
    def moves_epoch(self) -> bool:  # type: ignore[override]  # the one fact of which some do and some do not
        """Whether it is relevant to planning."""
        return self.relevant
