"""What a decision wants done next. Orders are derived from state and never stored.

They are sent only after the facts that justify them are durable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, dataclass_transform

import msgspec

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
        retry: the policy that says how long to wait after it, in place of its tool's.
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


class CancelAttempt(Order):
    """Ask a running attempt to stop, cooperatively."""

    operation: str
    attempt: int
    reason: str


class CancelPlanning(Order):
    """The answer of the planner is not wanted any more."""

    epoch: int
