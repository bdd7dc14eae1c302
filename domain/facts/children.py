"""Facts about child runs: in the stream of their parent, and in their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..children import ChildEnd, Kept
from ..goal import Goal
from ..plan import Plan
from .base import Fact, Limits


class ChildStarted(Fact):
    """A child run is owed from here on: intent before effect. Its id is settled, so it is started once.

    Args:
        child: id of the child run.
        operation: key of the operation that it is.
        attempt: the attempt that it is.
        step: the step it is started for.
        goal: what it is for.
        planner: name of the planner that it asks.
        plan: its plan, where the tool that started it has one.
        limits: its own limits.
        of: the operation of the tool that started it; empty where the step itself is the child.
        digest: digest of its terms.
        input: its terms, as the ledger will show them; empty where they are those of the step.
        depth: runs above it.
    """

    child: str
    operation: str
    attempt: int
    step: str
    goal: Goal
    planner: str = ""
    plan: Plan | None = None
    limits: Limits = Limits()
    of: str = ""
    digest: str = ""
    input: Mapping[str, Any] = msgspec.field(default_factory=dict)
    depth: int = 1


class ChildEnded(Fact):
    """A child run has ended, and its parent knows.

    Args:
        child: its id.
        operation: key of the operation that it is.
        attempt: the attempt that it is.
        status: how it ended.
        result: what it ended with, where a tool started it; that of a step is in the receipt of the step.
        failure: why it ended otherwise.
        kept: its irreversible effects.
    """

    moves_epoch = True
    child: str
    operation: str
    attempt: int
    status: ChildEnd
    result: Any = None
    failure: str = ""
    kept: tuple[Kept, ...] = ()


class TakeBackRequested(Fact):
    """The parent of this run wants undone what it did.

    Args:
        operation: key of the undo in the parent.
        attempt: the attempt at it: the answer carries it.
        reason: why.
    """

    operation: str
    attempt: int
    reason: str = ""
