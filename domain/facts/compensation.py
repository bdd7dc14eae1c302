"""Facts about undoing what was committed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..receipt import Receipt
from .base import Fact, Failure


class CompensationIssued(Fact):
    """A committed effect is to be taken back by an operation of its own.

    Args:
        operation: key of the undo.
        of: the operation taken back.
        cause: ``plan``, ``failure``, ``cancel``, ``late``, or ``request`` of a person.
        reason: why a person asked for it.
    """

    operation: str
    of: str
    tool: str
    input: Mapping[str, Any]
    cause: str
    reason: str = ""


class CompensationRequested(Fact):
    """A person wants a committed effect taken back; the owner of the run issues its undo."""

    operation: str
    reason: str


class CompensationStarted(Fact):
    """An attempt to undo may begin."""

    operation: str
    attempt: int


class CompensationFailed(Fact):
    """An attempt to undo failed; it is tried again at ``retry_at``."""

    operation: str
    attempt: int
    failure: Failure
    retry_at: float


class CompensationLost(Fact):
    """An attempt to undo ended with its process, or did not happen: tried again at once, and not counted."""

    operation: str
    attempt: int
    why: str


class CompensationCompleted(Fact):
    """An effect is undone."""

    moves_epoch = True
    operation: str
    attempt: int
    receipt: Receipt


class CompensationParked(Fact):
    """An undo gave up and waits for a person."""

    operation: str
    failure: Failure


class CompensationRetried(Fact):
    """A person asked for a parked undo to be tried again; ``input`` is set where its tool has changed."""

    operation: str
    reason: str = ""
    input: Mapping[str, Any] | None = None


class CompensationWaived(Fact):
    """A person decided that an effect stays."""

    moves_epoch = True
    operation: str
    reason: str
