"""What parents and their child runs tell each other, and tools that start child runs."""

from __future__ import annotations

from typing import Any, Literal

from ..children import Kept
from ..facts import Limits
from ..goal import Goal
from ..plan import Plan
from .base import Message
from .reports import Report


class BeginChild(Message, kw_only=True):
    """A tool wants a child run; the same name under the same operation is the same child.

    Args:
        operation: the operation of the tool.
        attempt: its token.
        name: what tells the children of one call apart; empty for what its terms are.
        goal: what the child is for.
        planner: name of its planner; empty for the one of the parent, or the only one there is.
        plan: its plan, instead.
        limits: its own limits.
    """

    operation: str
    attempt: int
    name: str
    goal: Goal
    planner: str = ""
    plan: Plan | None = None
    limits: Limits = Limits()


class ReportChild(Report, kw_only=True):
    """A child run has ended; or one that takes back what it did waits for a person (``parked``).

    Args:
        child: its id.
        status: how it ended, or ``parked``.
        result: what it ended with, if it is completed.
        failure: why it ended otherwise, or what it waits for.
        empty_data: it failed because there was no data.
        kept: its irreversible effects.
    """

    child: str
    status: Literal["completed", "failed", "cancelled", "parked"]
    result: Any = None
    failure: str = ""
    empty_data: bool = False
    kept: tuple[Kept, ...] = ()


class GuideRun(Message, kw_only=True):
    """A parent tells its child how things stand; told again, it changes nothing.

    Args:
        stop: why the child is to stop and to undo what it did; empty where it is not.
        pause: why it is to begin nothing; empty where it may go on.
    """

    stop: str = ""
    pause: str = ""


class TakeBackRun(Message, kw_only=True):
    """A parent wants undone what its child did.

    Args:
        operation: key of the undo in the parent.
        attempt: the attempt at it.
        reason: why.
    """

    operation: str
    attempt: int
    reason: str = ""
