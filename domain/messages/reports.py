"""What attempts report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..budget import Spent
from ..facts import Failure
from ..receipt import Receipt
from .base import Message


class Report(Message, kw_only=True):
    """The base of what an attempt reports. ``attempt`` is its token: an old one settles nothing.

    Args:
        spent: what the attempt used up.
    """

    operation: str
    attempt: int
    spent: Spent | None = None


class ReportSuccess(Report, kw_only=True):
    """The operation is committed outside."""

    receipt: Receipt


class ReportFailure(Report, kw_only=True):
    """The operation raised.

    Args:
        retry_after_s: seconds to wait before another attempt; ``None`` when another one is pointless.
        no_effect: the tool vouches that nothing happened outside; one that is idempotent vouches for the
            operation key, earlier attempts included.
    """

    failure: Failure
    retry_after_s: float | None = None
    no_effect: bool = False


class ReportReplan(Report, kw_only=True):
    """The tool asks for another plan.

    Args:
        updates: values for the board.
        receipt: what was committed before it asked, if anything was.
        no_effect: the tool vouches that nothing happened outside, as in `ReportFailure`.
        failure: it was to be judged by a rule whether another plan is wanted, and the rule raised.
    """

    reason: str
    updates: Mapping[str, Any] = msgspec.field(default_factory=dict)
    receipt: Receipt | None = None
    no_effect: bool = False
    failure: Failure | None = None


class ReportSuspended(Report, kw_only=True):
    """The tool waits: it is to be called again when its time or its signal has come.

    Args:
        due: the time, in seconds since the epoch; ``None`` for none.
        signal: name of the signal; empty for none.
        details: what the next attempt is told.
        reply: what the sender of the signal is told that this attempt was begun with.
        no_effect: the tool vouches that nothing happened outside so far.
        children: ids of child runs that all have to end first.
    """

    due: float | None = None
    signal: str = ""
    details: Any = None
    reply: Any = None
    no_effect: bool = False
    children: tuple[str, ...] = ()


class ReportLost(Report, kw_only=True):
    """The attempt timed out, fell silent, or was cancelled: nobody knows what became of it."""

    why: str
    details: Any = None


class ReportProbe(Report, kw_only=True):
    """What a probe found: happened, not happened, or (``None``) still not known."""

    happened: bool | None
    receipt: Receipt | None = None
    why: str = ""
