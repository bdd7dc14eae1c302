"""Operations where they may stand: started, committed, being taken back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from . import facts as f
from .plan import OnReplan
from .receipt import Receipt
from .retry import RetryPolicy
from .tools import Effect

LedgerState = Literal["committed", "undoing", "undone"]
UndoState = Literal["issued", "running", "backoff", "done", "parked", "escalated", "waived"]


class Operation(msgspec.Struct, gc=False):
    """An operation that was started and is not committed. Its contract is the one in force when it started.

    Args:
        key: its key, the same in every attempt.
        step: the step that it is started for.
        tool: full name of the tool.
        input: rendered arguments.
        digest: digest of the arguments.
        effect: declared effect of the tool.
        undo: full name of the tool that takes it back.
        idempotent: a repeat has no second effect.
        takes_back: the operation a planned undo takes back.
        deadline: when the step must be over, in seconds since the epoch.
        first: number of the first attempt under the present step.
        attempt: number of the latest attempt: its token.
        version: version of the fact that started the latest attempt.
        lost: attempts lost to a dying process, under the present step.
        retry_at: when the next attempt is due, in seconds since the epoch.
        doubt: an attempt ended without an answer, so the effect may have happened.
        probing: the tool's probe is being asked what became of it.
        details: what the last heartbeat of the attempt before said.
        is_left: a later plan took the place of its step: a receipt commits it and finishes no step.
        why: why its outcome is unknown.
        on_replan: what becomes of it when another plan is asked for.
        replans: why its tool asks for another plan after every call; empty where it does not.
        review: who reviews it by a rule of the engine; empty where there is none.
        rounds: how often it is done before a person chooses, by that rule.
        awaits: name of the signal that its next attempt waits for; empty for none.
        is_suspended: its tool asked to be called again later, which is no failure.
        is_stopping: its latest attempt was asked to stop, because its plan is being left.
        retry: the retry policy of its step; ``None`` for that of its tool.
        children: ids of the child runs that its next attempt waits for.
    """

    key: str
    step: str
    tool: str
    input: Mapping[str, Any]
    digest: str
    effect: Effect
    undo: str
    idempotent: bool
    takes_back: str
    deadline: float | None
    first: int
    attempt: int
    version: int
    lost: int = 0
    retry_at: float = 0.0
    doubt: bool = False
    probing: bool = False
    details: Any = None
    why: str = ""
    is_left: bool = False
    on_replan: OnReplan = "drain"
    replans: str = ""
    is_stopping: bool = False
    awaits: str = ""
    is_suspended: bool = False
    review: str = ""
    rounds: int = 0
    retry: RetryPolicy | None = None
    children: tuple[str, ...] = ()

    @property
    def tries(self) -> int:
        """Attempts that count against the retry policy."""
        return self.attempt - self.first + 1 - self.lost

    @property
    def in_doubt(self) -> bool:
        """Whether it may have had a lasting effect that nobody reported."""
        return self.doubt and self.effect != "read"


class Committed(msgspec.Struct, gc=False):
    """A committed operation: an entry of the ledger.

    Args:
        key: its key.
        step: the step that committed it.
        tool: full name of the tool.
        input: rendered arguments.
        digest: digest of the arguments.
        effect: declared effect of the tool when it ran.
        undo: full name of the tool that takes it back.
        takes_back: the operation a planned undo took back.
        receipt: what it left behind.
        attempt: the attempt that reported it; 0 where a person settled it without a receipt.
        version: version of the fact that committed it.
        state: whether it stands.
        undone_by: key of the operation that takes or took it back.
        waived: a person decided that it stays.
        late: further attempts that reported a receipt of their own.
    """

    key: str
    step: str
    tool: str
    input: Mapping[str, Any]
    digest: str
    effect: Effect
    undo: str
    takes_back: str
    receipt: Receipt
    attempt: int
    version: int
    state: LedgerState = "committed"
    undone_by: str = ""
    waived: bool = False
    late: tuple[int, ...] = ()

    @classmethod
    def of(cls, operation: Operation, receipt: Receipt, attempt: int, version: int) -> Committed:
        """Return the entry that an operation becomes."""
        return cls(
            operation.key, operation.step, operation.tool, operation.input, operation.digest,
            operation.effect, operation.undo, operation.takes_back, receipt, attempt, version,
        )  # fmt: skip


class Undo(msgspec.Struct, gc=False):
    """A compensation and where it stands.

    Args:
        key: its key.
        of: the operation it takes back.
        tool: full name of the tool that does it.
        input: the arguments.
        cause: ``plan``, ``failure``, ``cancel`` or ``late``.
        first: number of the first attempt since it was issued, or a person had it retried.
        attempt: number of the latest attempt anybody made under its key: its token.
        version: version of the fact that issued it, or started the latest attempt.
        state: where it stands.
        lost: attempts since ``first`` that do not count against the retry policy.
        retry_at: when the next attempt is due, in seconds since the epoch.
        failure: why the latest attempt failed.
        receipt: what it left behind.
        retried: how often a person had it retried; parked once more, it is escalated.
    """

    key: str
    of: str
    tool: str
    input: Mapping[str, Any]
    cause: str
    first: int
    attempt: int
    version: int
    state: UndoState = "issued"
    lost: int = 0
    retry_at: float = 0.0
    failure: f.Failure | None = None
    receipt: Receipt | None = None
    retried: int = 0

    @property
    def tries(self) -> int:
        """Attempts that count against the retry policy."""
        return self.attempt - self.first + 1 - self.lost
