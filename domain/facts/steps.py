"""Facts about steps, the attempts at their operations, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..receipt import Receipt
from ..retry import RetryPolicy
from ..tools import Effect
from .base import Fact, Failure


class StepStarted(Fact):
    """The first attempt of an operation may begin: intent before effect.

    The contract in force is kept with it, so that what is in flight never changes under a new catalog.
    ``attempt`` is above 1 where an earlier revision tried the same operation; ``deadline`` is in seconds
    since the epoch; ``replans`` is why its tool asks for another plan after every call; ``review`` is who
    reviews it by a rule of the engine, ``rounds`` how often it is done before a person chooses; ``retry`` is
    the policy of the step, in place of its tool's.
    """

    step: str
    operation: str
    tool: str
    input: Mapping[str, Any]
    digest: str
    attempt: int = 1
    effect: Effect = "irreversible"
    undo: str = ""
    idempotent: bool = False
    takes_back: str = ""
    deadline: float | None = None
    replans: str = ""
    review: str = ""
    rounds: int = 0
    retry: RetryPolicy | None = None


class AttemptStarted(Fact):
    """A further attempt of an operation may begin.

    Args:
        signal: name of the signal its tool waited for, if that has come.
        received: version of the fact it came with.
    """

    operation: str
    attempt: int
    signal: str = ""
    received: int = 0


class AttemptFailed(Fact):
    """An attempt failed; the operation is tried again at ``retry_at``.

    Args:
        doubt: it ended without an answer, and may have had its effect.
        details: what its last heartbeat said.
    """

    operation: str
    attempt: int
    failure: Failure
    retry_at: float
    doubt: bool = False
    details: Any = None


class AttemptLost(Fact):
    """The process that ran an attempt ended, and the operation may be repeated: tried again at once."""

    operation: str
    attempt: int
    why: str
    details: Any = None


class AttemptStopRequested(Fact):
    """A running attempt is asked to stop, because its plan is being left and its step says so."""

    operation: str
    attempt: int
    reason: str


class OutcomeUnknown(Fact):
    """Nobody knows what became of an attempt, and repeating it could repeat the effect.

    Args:
        probing: the tool's probe is being asked.
    """

    operation: str
    attempt: int
    why: str
    details: Any = None
    probing: bool = False


class ProbeFailed(Fact):
    """The probe could not say what became of an attempt: a person has to."""

    operation: str
    attempt: int
    why: str


class OutcomeSettled(Fact):
    """An unknown outcome is known: by a probe or a person. Only *not happened* permits another attempt."""

    moves_epoch = True
    operation: str
    happened: bool
    receipt: Receipt | None = None
    reason: str = ""


class StepCompleted(Fact):
    """An operation is committed; its receipt is evidence for ever."""

    moves_epoch = True
    step: str
    operation: str
    attempt: int
    receipt: Receipt


class StepSatisfied(Fact):
    """A step asks for an operation that is committed already: nothing ran.

    ``review`` and ``rounds`` are those of a rule, as in `StepStarted`.
    """

    moves_epoch = True
    step: str
    operation: str
    review: str = ""
    rounds: int = 0


class StepFailed(Fact):
    """A step ended without a receipt. ``operation`` is empty when it was never admitted."""

    moves_epoch = True
    step: str
    operation: str
    attempt: int
    failure: Failure


class StepSkipped(Fact):
    """A step that was not approved ended without effect, as its plan says.

    Args:
        why: who did not approve it, and why.
        has_default: the plan gives it a result; else steps that refer to it fail.
        default: that result.
    """

    moves_epoch = True
    step: str
    why: str
    has_default: bool = False
    default: Any = None


class ReplanRuleFailed(Fact):
    """A rule that looks at a tool's results for a reason to plan anew raised. The receipt stands."""

    moves_epoch = True
    step: str
    operation: str
    failure: Failure


class ReceiptArrivedLate(Fact):
    """A receipt from an attempt that was no longer current: still a fact, still committed.

    Where the operation is committed already, the first receipt stands, unless nobody had one to give.
    """

    moves_epoch = True
    operation: str
    attempt: int
    receipt: Receipt
