"""What planners, reviewers, judges and handlers answer, and requests for another plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..budget import Spent
from ..facts import Failure
from ..plan import Author, GoalReached, NoPlan, Plan
from .base import Message


class ProposePlan(Message, kw_only=True):
    """A new tail for the plan, made from the run as it was at ``epoch``."""

    epoch: int
    plan: Plan
    author: Author = "planner"
    spent: Spent | None = None


class AnswerNoPlan(Message, kw_only=True):
    """The planner found no plan."""

    epoch: int
    answer: NoPlan
    spent: Spent | None = None


class AnswerGoalReached(Message, kw_only=True):
    """The planner finds the goal reached."""

    epoch: int
    answer: GoalReached
    spent: Spent | None = None


class ReportPlanningFailure(Message, kw_only=True):
    """The planner raised, or answered something that is no answer."""

    epoch: int
    failure: Failure
    retry_after_s: float = 1.0
    spent: Spent | None = None


class RequestReplan(Message, kw_only=True):
    """A person or a program asks for a new plan from outside.

    Args:
        reason: what changed, what is obsolete, what stays.
        revision_token: the token of the revision it is about; empty for whichever is the present one.
        id: the same id with the same content is taken once, and answered the same again.
    """

    reason: str
    revision_token: str = ""
    id: str = ""


class ReportOpinion(Message, kw_only=True):
    """A reviewer, a judge or a handler has answered, or could not be asked."""

    key: str
    verdict: str
    reason: str = ""
    problems: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()
    updates: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
