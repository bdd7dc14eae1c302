"""The exceptions by which a tool tells the engine more than that it failed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ..domain.children import ChildView
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


class WaitFor(MidcourseError):
    """Raised by a tool that has to wait: it is called again, under the same operation, when it is time.

    Meanwhile the run costs a row in the index: no memory, no task. The call that follows finds what it was
    told in `ToolContext.details`, and the signal, if one came, in `ToolContext.signal`. Waiting counts
    against no retry policy; the ``timeout_s`` of the step goes on.

    Args:
        until: a time, in seconds since the epoch.
        for_s: seconds from now, instead.
        signal: name of a signal to wait for; with a time, whichever comes first.
        details: a JSON value for the next call; left out, it is what the last heartbeat said.
        reply: a JSON value for the sender of the signal that this call was made with (`RunHandle.update`).
        children: child runs (`ToolContext.start_child`) that all have to end; those that have are no wait.
        no_effect: nothing happened outside so far. Without it, a run that is cancelled or planned anew
            meanwhile has to find out (by probe, or a person) what this tool has done.
    """

    def __init__(
        self,
        *,
        until: float | None = None,
        for_s: float | None = None,
        signal: str = "",
        details: Any = None,
        reply: Any = None,
        no_effect: bool = False,
        children: Iterable[ChildView] = (),
    ) -> None:
        awaited = tuple(child.run for child in children)
        if until is not None and for_s is not None:
            raise ValueError("until is a time and for_s is a number of seconds from now; give one of them")
        if until is None and for_s is None and not signal and not awaited:
            raise ValueError("say what to wait for: until=TIME, for_s=SECONDS, signal=NAME or children=[…]")
        moment = until if for_s is None else for_s
        if moment is not None and not math.isfinite(moment):
            raise ValueError(f"a wait ends at some time; {moment!r} is none")
        super().__init__(f"waits for {signal or ('child runs' if awaited else 'a time')}")
        self.children = awaited
        self.until = until
        self.for_s = for_s
        self.signal = signal
        self.details = details
        self.reply = reply
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
