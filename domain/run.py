"""The state of a run: what its facts amount to. Only ``evolve`` changes it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Literal

from .facts import Failure, Limits, Mode, PlanProposed, PlanRequested, ReplanRequested, UnwindingBegan
from .goal import Goal
from .plan import Author, Step
from .planning import SignalEntry
from .receipt import Receipt
from .tools import Effect

FinalStatus = Literal["completed", "failed", "cancelled"]
UndoState = Literal["issued", "running", "backoff", "done", "parked", "waived"]


class Operation:
    """An operation that was started and is not committed.

    Attributes:
        attempt: number of the latest attempt: its token.
        first: number of the first attempt under the present step.
        lost: attempts lost to a dying process, under the present step.
        doubt: an attempt ended without an answer, so the effect may have happened.
        version: version of the fact that started the latest attempt.
        retry_at: when the next attempt is due, in seconds since the epoch.
        probing: the tool's probe is being asked what became of it.
    """

    __slots__ = (
        "attempt", "deadline", "details", "digest", "doubt", "effect", "first", "idempotent", "input", "key", "lost",
        "probing", "retry_at", "step", "takes_back", "tool", "undo", "version",
    )  # fmt: skip

    def __init__(
        self, *, key: str, step: str, tool: str, input: Mapping[str, Any], digest: str, effect: Effect, undo: str,
        idempotent: bool, takes_back: str, attempt: int, deadline: float | None, version: int,
    ) -> None:  # fmt: skip
        self.key = key
        self.step = step
        self.tool = tool
        self.input = input
        self.digest = digest
        self.effect = effect
        self.undo = undo
        self.idempotent = idempotent
        self.takes_back = takes_back
        self.attempt = self.first = attempt
        self.deadline = deadline
        self.version = version
        self.lost = 0
        self.retry_at = 0.0
        self.details: Any = None
        self.doubt = False
        self.probing = False

    @property
    def repeatable(self) -> bool:
        """Whether another attempt may be made without knowing what became of the last."""
        return self.idempotent or self.effect == "read"

    @property
    def tries(self) -> int:
        """Attempts that count against the retry policy."""
        return self.attempt - self.first + 1 - self.lost


class Committed:
    """A committed operation: an entry of the ledger. ``undone_by`` is the key of what takes or took it back."""

    __slots__ = (
        "digest", "effect", "input", "key", "receipt", "state", "step", "takes_back", "tool", "undo", "undone_by",
        "version",
    )  # fmt: skip

    def __init__(self, operation: Operation, receipt: Receipt, version: int) -> None:
        self.key = operation.key
        self.step = operation.step
        self.tool = operation.tool
        self.input = operation.input
        self.digest = operation.digest
        self.effect = operation.effect
        self.undo = operation.undo
        self.takes_back = operation.takes_back
        self.receipt = receipt
        self.version = version
        self.state: Literal["committed", "undoing", "undone"] = "committed"
        self.undone_by = ""


class Undo:
    """A compensation and where it stands."""

    __slots__ = (
        "attempt",
        "cause",
        "failure",
        "first",
        "input",
        "key",
        "of",
        "retry_at",
        "state",
        "tool",
        "version",
    )

    def __init__(
        self, *, key: str, of: str, tool: str, input: Mapping[str, Any], cause: str, version: int
    ) -> None:
        self.key = key
        self.of = of
        self.tool = tool
        self.input = input
        self.cause = cause
        self.version = version
        self.state: UndoState = "issued"
        self.attempt = 0
        self.first = 1
        self.retry_at = 0.0
        self.failure: Failure | None = None


class Run:
    """The fold of a run's facts.

    Operations are in exactly one of ``running``, ``backoff``, ``unknown``, ``closed`` (ended without a receipt) and
    ``ledger``; of the ledger, ``reversible`` holds what can and may yet be undone. Steps that are not done are in ``unmet``; those of them whose needs are met and that are not
    started, in ``ready``.
    """

    __slots__ = (
        "asked", "attempts", "author", "backoff", "board", "broken", "cancelling", "catalog", "closed",
        "done", "epoch", "excluded", "failures", "final", "goal", "goal_found", "id", "key", "ledger",
        "limits", "lineage", "missing", "mode", "needed_by", "next_n", "order", "outcome", "owed", "parked",
        "plan_retry_at", "planner", "planning_failures", "proposal", "ready", "refused", "replan_digests",
        "replans", "results", "reversible", "revision", "running", "signal_count", "signal_ids", "signals",
        "started", "steps", "stuck", "tags", "tail_n", "undo_running", "undos", "undos_open", "unknown",
        "unmet", "unwinding", "version",
    )  # fmt: skip

    def __init__(self, id: str) -> None:
        self.id = id
        self.version = 0
        self.epoch = 0
        # what it was started with
        self.goal = Goal("")
        self.planner = ""
        self.mode: Mode = "autonomous"
        self.key = ""
        self.lineage = id
        self.tags: Mapping[str, str] = {}
        self.limits = Limits()
        self.catalog = ""
        # the plan
        self.revision = 0
        self.author: Author | None = None
        self.steps: dict[str, Step] = {}
        self.order: list[str] = []
        self.unmet: dict[str, int] = {}
        self.needed_by: dict[str, list[str]] = {}
        self.ready: OrderedDict[str, None] = OrderedDict()  # a dict scans over what was popped in front
        self.done: dict[str, str] = {}
        self.started: set[str] = set()
        self.results: dict[str, Any] = {}
        # operations
        self.running: dict[str, Operation] = {}
        self.backoff: dict[str, Operation] = {}
        self.unknown: dict[str, Operation] = {}
        self.closed: dict[str, Operation] = {}
        self.ledger: dict[str, Committed] = {}
        self.attempts: dict[str, int] = {}
        self.tail_n: dict[str, int] = {}
        self.next_n: dict[str, int] = {}
        # compensation
        self.undos: dict[str, Undo] = {}
        self.undos_open: OrderedDict[str, Undo] = OrderedDict()
        self.undo_running = ""
        self.parked: dict[str, Undo] = {}
        self.reversible: dict[str, Committed] = {}
        # planning
        self.owed: ReplanRequested | None = None
        self.asked: PlanRequested | None = None
        self.proposal: PlanProposed | None = None
        self.plan_retry_at: float | None = None
        self.replans = 0
        self.refused = 0
        self.planning_failures = 0
        self.replan_digests: dict[str, int] = {}
        self.excluded: frozenset[str] = frozenset()
        self.failures: list[Failure] = []
        self.board: dict[str, Any] = {}
        self.signals: list[SignalEntry] = []
        self.signal_ids: set[str] = set()
        self.signal_count = 0
        self.goal_found = False
        # endings
        self.broken: Failure | None = None
        self.stuck: str = ""
        self.missing: dict[str, str] = {}
        self.cancelling = False
        self.unwinding: UnwindingBegan | None = None
        self.final: FinalStatus | None = None
        self.outcome: Any = None

    def operation(self, key: str) -> Operation | None:
        """Return an operation that was started and is not committed, wherever it stands."""
        return self.running.get(key) or self.backoff.get(key) or self.unknown.get(key) or self.closed.get(key)

    def standing(self) -> list[Committed]:
        """Return the committed operations that are not undone, oldest first."""
        return [entry for entry in self.ledger.values() if entry.state == "committed"]
