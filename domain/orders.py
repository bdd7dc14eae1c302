"""What a decision wants done next. Orders are derived from state and never stored.

They are sent only after the facts that justify them are durable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, dataclass_transform

import msgspec

from .children import Parent
from .facts import Limits, Mode
from .fairness import Priority
from .goal import Goal
from .opinions import Consultation
from .plan import Plan
from .planning import PlanningContext
from .retry import RetryPolicy


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Order(msgspec.Struct, frozen=True, gc=False):
    """The base of all orders."""


class MakePlan(Order):
    """Ask the run's planner."""

    planner: str
    context: PlanningContext


class Letter(msgspec.Struct, frozen=True, gc=False):
    """A signal as the tool that waited for it is told.

    Args:
        name: its name.
        payload: a JSON value.
    """

    name: str
    payload: Any = None


class Execute(Order):
    """Call a tool; used for steps and for undos alike.

    Args:
        operation: the operation key, stable across attempts.
        attempt: the attempt's token.
        tool: full name.
        input: rendered arguments.
        step: id of the step, empty for an undo.
        details: the last heartbeat details of the attempt before.
        deadline: when the step must be over, in seconds since the epoch.
        board: the named values left so far, as they are now.
        letter: the signal its tool waited for.
        retry: the retry policy of its step, in place of its tool's.
    """

    operation: str
    attempt: int
    tool: str
    input: Mapping[str, Any]
    step: str = ""
    details: Any = None
    deadline: float | None = None
    board: Mapping[str, Any] = {}
    letter: Letter | None = None
    retry: RetryPolicy | None = None


class Probe(Order):
    """Ask the outside world whether an attempt had its effect."""

    operation: str
    attempt: int
    tool: str
    input: Mapping[str, Any]


class Consult(Order):
    """Ask a reviewer or a judge.

    Args:
        key: name of the question.
        who: the name they are registered under.
        about: what they are asked.
    """

    key: str
    who: str
    about: Consultation


class CancelAttempt(Order):
    """Ask a running attempt to stop, cooperatively."""

    operation: str
    attempt: int
    reason: str


class CancelPlanning(Order):
    """The answer of the planner is not wanted any more."""

    epoch: int


class StartChild(Order):
    """Start a child run, unless there is one of that id.

    Args:
        child: its id.
        parent: where it reports to.
        lineage: id of the run at the root.
        goal: what it is for.
        planner: name of its planner.
        plan: its plan, instead.
        limits: its own limits.
        mode: that of its parent.
        by: who started its parent.
        pause: why it is to begin nothing yet.
        priority: that of its parent.
    """

    child: str
    parent: Parent
    lineage: str
    goal: Goal
    planner: str = ""
    plan: Plan | None = None
    limits: Limits = Limits()
    mode: Mode = "autonomous"
    by: str = ""
    pause: str = ""
    priority: Priority = "normal"


class GuideChild(Order):
    """Tell a child run how things stand: that it is to stop, to pause, or to go on.

    Args:
        child: its id.
        parent: where it reports to.
        stop: why it is to stop.
        pause: why it is to begin nothing.
    """

    child: str
    parent: Parent
    stop: str = ""
    pause: str = ""


class TakeBackChild(Order):
    """Have a child run undo what it did.

    Args:
        child: its id.
        operation: key of the undo in its parent.
        attempt: the attempt at it.
        reason: why.
    """

    child: str
    operation: str
    attempt: int
    reason: str
