"""The state of a run: what its facts amount to. Only ``evolve`` changes it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from . import facts as f
from .goal import Goal
from .plan import Author, Step
from .planning import SignalEntry
from .receipt import Receipt
from .tools import Effect

FinalStatus = Literal["completed", "failed", "cancelled"]
LedgerState = Literal["committed", "undoing", "undone"]
UndoState = Literal["issued", "running", "backoff", "done", "parked", "waived"]
PartKind = Literal["tool", "planner"]


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

    @property
    def tries(self) -> int:
        """Attempts that count against the retry policy."""
        return self.attempt - self.first + 1 - self.lost


class Run:
    """The fold of a run's facts.

    An operation is in one of ``running``, ``backoff``, ``unknown``, ``closed`` (ended without a receipt) and
    ``ledger``; ``reversible`` holds those of the ledger that can and may yet be undone. A step that is not
    done is in ``unmet``, with the number of steps it still waits for; one that waits for none and was not
    started is in ``ready`` as well.

    Attributes:
        attempts: the latest attempt of every operation, undos included.
        next_n: by intent, the lowest number that no operation ever had.
        tail_n: by intent, the lowest number its next step of the present tail may mean.
        tail_again: operations above that number which the present tail has taken by ``again``.
        undos_open: undos that are neither done nor waiting for a person, in the order they were issued.
        owed: the request that the next plan answers.
        asked: the question the planner has not answered.
        refused: stale and refused answers since the last accepted plan; ``refusals`` says what was wrong.
        replan_marks: by digest, version and reason of every request for a plan.
        excluded: tools to leave out of the next plan.
        broken: the failure of a step that nobody has acted on yet.
        stuck: why the run cannot go on by itself; empty where it can.
        missing: the tools and planners it needs and its engine does not have.
        unwinding: what it ends as, once its effects are undone.
        outcome: the result, the failure or the reason it ended with.
    """

    __slots__ = (
        "asked", "attempts", "author", "backoff", "board", "broken", "cancelling", "catalog", "closed",
        "done", "epoch", "excluded", "failures", "final", "goal", "goal_found", "id", "key", "ledger",
        "limits", "lineage", "missing", "mode", "needed_by", "news", "next_n", "order", "outcome", "owed",
        "parked", "plan_retry_at", "planner", "planning_failures", "proposal", "ready", "refusals",
        "refused", "replan_marks", "replans", "results", "reversible", "revision", "running", "signal_ids",
        "signals", "started", "steps", "stuck", "tags", "tail_again", "tail_n", "undo_running", "undos",
        "undos_open", "unknown", "unmet", "unwinding", "version",
    )  # fmt: skip

    def __init__(self, id: str) -> None:  # noqa: PLR0915 - one line a field
        self.id = id
        self.version = 0
        self.epoch = 0
        # what it was started with
        self.goal = Goal("")
        self.planner = ""
        self.mode: f.Mode = "autonomous"
        self.key = ""
        self.lineage = id
        self.tags: Mapping[str, str] = {}
        self.limits = f.Limits()
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
        self.next_n: dict[str, int] = {}
        self.tail_n: dict[str, int] = {}
        self.tail_again: set[str] = set()
        # compensation
        self.reversible: dict[str, Committed] = {}
        self.undos: dict[str, Undo] = {}
        self.undos_open: OrderedDict[str, Undo] = OrderedDict()
        self.undo_running = ""
        self.parked: dict[str, Undo] = {}
        # planning
        self.owed: f.ReplanRequested | None = None
        self.asked: f.PlanRequested | None = None
        self.proposal: f.PlanProposed | None = None
        self.plan_retry_at: float | None = None
        self.replans = 0
        self.refused = 0
        self.refusals: list[str] = []
        self.planning_failures = 0
        self.replan_marks: dict[str, tuple[int, str]] = {}
        self.excluded: frozenset[str] = frozenset()
        self.failures: list[f.Failure] = []
        self.board: dict[str, Any] = {}
        self.signals: list[SignalEntry] = []
        self.signal_ids: set[str] = set()
        self.news = 0
        self.goal_found: f.GoalFound | None = None
        # endings
        self.broken: f.Failure | None = None
        self.stuck = ""
        self.missing: set[tuple[PartKind, str]] = set()
        self.cancelling = False
        self.unwinding: f.UnwindingBegan | None = None
        self.final: FinalStatus | None = None
        self.outcome: Any = None

    def operation(self, key: str) -> Operation | None:
        """Return an operation that was started and is not committed, wherever it stands."""
        return self.running.get(key) or self.backoff.get(key) or self.unknown.get(key) or self.closed.get(key)

    def standing(self) -> list[Committed]:
        """Return the committed operations that are not undone, oldest first."""
        return [entry for entry in self.ledger.values() if entry.state == "committed"]

    @property
    def is_leaving(self) -> bool:
        """Whether no step of the present plan is to be started any more."""
        return self.owed is not None or self.unwinding is not None

    @property
    def is_probing(self) -> bool:
        """Whether a probe is being asked about an operation."""
        return any(operation.probing for operation in self.unknown.values())

    @property
    def wants_plan(self) -> bool:
        """Whether the planner is to be asked, and nothing but time keeps it from being asked."""
        if self.final is not None or self.unwinding is not None or self.asked is not None or self.stuck:
            return False
        if self.owed is None and (self.revision > 0 or self.goal_found is not None):
            return False
        in_flight = self.running or self.backoff or self.unknown or self.undos_open
        return not in_flight and ("planner", self.planner) not in self.missing

    @property
    def may_undo(self) -> bool:
        """Whether the next undo may start: one at a time, and none while it is open what there is to undo."""
        if self.undo_running:
            return False
        if self.unwinding is None or self.final is not None:
            return True
        return not (self.running or self.backoff or self.is_probing)
