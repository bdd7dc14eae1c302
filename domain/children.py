"""Child runs: runs of the same lineage that a step, or a tool, has started and waits for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from .errors import InvalidInputError
from .goal import Goal
from .ids import digest
from .plan import Plan
from .receipt import Receipt

PLAN_AND_EXECUTE: Final = "plan_and_execute"
"""The tool name of steps that are child runs."""

TAKE_BACK: Final = "builtin__take_back"
"""The tool name of their undo: the child takes back what it did."""

MAX_DEPTH: Final = 8
"""Runs below a run."""

PARENT_TAG: Final = "parent"
LINEAGE_TAG: Final = "lineage"
"""The tags by which child runs are found in lists."""

ChildState = Literal["running", "stopping", "completed", "failed", "cancelled"]
ChildEnd = Literal["completed", "failed", "cancelled"]


class Parent(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Where a child run reports to.

    Args:
        run: id of the run that started it.
        operation: key of the operation that it is.
        attempt: the attempt that it is: its token.
        step: the step of the parent that waits for it.
        depth: runs above it.
    """

    run: str
    operation: str
    attempt: int
    step: str = ""
    depth: int = 1


class Kept(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """An irreversible effect of a child run: a constraint for the plans of its parent too.

    Args:
        operation: its key.
        step: the step of the child that committed it.
        tool: full name of the tool.
        input: rendered arguments.
        receipt: what it left behind.
    """

    operation: str
    step: str
    tool: str
    input: Mapping[str, Any]
    receipt: Receipt


class ChildView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A child run as people, programs and the tool that started it see it.

    Args:
        run: its id.
        operation: key of the operation that it is in its parent.
        step: the step it was started for.
        goal: what it is for, in words.
        state: ``running``, ``stopping`` (it was asked to stop), ``completed``, ``failed`` or ``cancelled``.
        result: what it ended with, once it is completed.
        failure: why it ended otherwise.
    """

    run: str
    operation: str
    step: str
    goal: str
    state: ChildState
    result: Any = None
    failure: str = ""

    @property
    def ended(self) -> bool:
        """Whether it has ended, in whatever way."""
        return self.state not in ("running", "stopping")


def terms_digest(goal: Goal, planner: str, plan: Plan | None) -> str:
    """Return the digest of what a child run is for and who plans it."""
    return digest([msgspec.to_builtins(goal), planner, msgspec.to_builtins(plan)])


def choose_planner(named: str, own: str, registered: frozenset[str] | None) -> str:
    """Return the name of the planner a child run asks.

    Args:
        named: what its terms say; empty for nothing.
        own: the planner of its parent; empty for none.
        registered: the planners of the engine; ``None`` where they are not known.

    Raises:
        InvalidInputError: there is no such planner, or it is not said which one.
    """
    known = ", ".join(sorted(registered or ())) or "none"
    if named and named != own and registered is not None and named not in registered:
        raise InvalidInputError(f"{PLAN_AND_EXECUTE}: there is no planner {named!r} (registered: {known})")
    if named or own:
        return named or own
    if not registered:
        raise InvalidInputError(
            f"{PLAN_AND_EXECUTE} asks a planner, and none is registered with this engine; register one"
        )
    if len(registered) > 1:
        raise InvalidInputError(
            f"{PLAN_AND_EXECUTE}: name the planner to ask in 'planner' (registered: {known})"
        )
    return next(iter(registered))
