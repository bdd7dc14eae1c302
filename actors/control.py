"""The exceptions by which a tool tells the engine more than that it failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..domain.errors import MidcourseError
from ..domain.receipt import Receipt


class RequestReplan(MidcourseError):
    """Raised by a tool to ask for another plan. It is never retried.

    A tool that is not a read and says neither ``receipt`` nor ``no_effect`` leaves an unknown outcome.

    Args:
        reason: why, for the planner and for people.
        updates: JSON values to put on the board for the planner.
        receipt: what the operation has committed, if it has.
        no_effect: nothing happened outside in this attempt; of an idempotent tool, under its key at all.
    """

    def __init__(
        self,
        reason: str,
        updates: Mapping[str, Any] | None = None,
        receipt: Receipt | None = None,
        no_effect: bool = False,
    ) -> None:
        if receipt is not None and no_effect:
            raise ValueError("a receipt says that the operation is committed, no_effect=True that it is not")
        if updates is not None and not isinstance(updates, Mapping):
            raise TypeError(f'updates is {updates!r}; it maps names to JSON values, such as {{"price": 7}}')
        super().__init__(reason)
        self.reason = reason
        self.updates = dict(updates or {})
        self.receipt = receipt
        self.no_effect = no_effect


class OutcomeUnknownError(MidcourseError):
    """Raised by a tool that cannot tell whether its effect happened, such as after a lost connection."""


class ToolError(MidcourseError):
    """A failure of a tool that says what may be done about it.

    It speaks for the errors raised because of it, too: the engine looks for one down the chain of causes.
    That nothing happened is believed only down explicit causes (``raise … from error``), because an error
    handled on the way may have been followed by an effect.

    Args:
        message: what went wrong.
        retryable: whether another attempt makes sense; ``None`` leaves it to the tool's retry policy.
        retry_after_s: seconds to wait before it, instead of the policy's.
        no_effect: nothing happened outside in this attempt; of an idempotent tool, under its key at all.
    """

    def __init__(
        self,
        message: str = "",
        *,
        retryable: bool | None = None,
        retry_after_s: float | None = None,
        no_effect: bool = False,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after_s = None if retry_after_s is None else max(0.0, float(retry_after_s))
        self.no_effect = no_effect
