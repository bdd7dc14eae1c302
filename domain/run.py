"""The state of a run: what its facts amount to. Only ``evolve`` changes it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Literal

from . import facts as f
from .goal import Goal
from .ledger import Committed, Operation, Undo
from .plan import Author, Step
from .planning import SignalEntry

FinalStatus = Literal["completed", "failed", "cancelled"]
PartKind = Literal["tool", "planner"]


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
        tail_again: operations taken out of turn by the present tail: by ``again``, or by an executed step
            that its proposal listed again.
        undos_open: undos that are neither done nor waiting for a person, in the order they were issued.
        owed: the request that the next plan answers.
        asked: the question the planner has not answered.
        started: every step that was ever started, by id.
        output: the map of templates that becomes its result; ``None``: the result of its last step.
        compensates: whether its effects are undone if it fails or is cancelled.
        refused: stale and refused answers since the last accepted plan; ``refusals`` says what was wrong.
        refused_alike: how often in a row ``last_refusal`` was the answer to the same proposal.
        replan_marks: by digest, version and reason of every request for a plan.
        excluded: tools to leave out of the next plan.
        broken: the failure of a step that nobody has acted on yet.
        stuck: why the run cannot go on by itself; empty where it can.
        stuck_on: what went wrong, where it is stuck on a failure.
        missing: the tools and planners it needs and its engine does not have.
        unwinding: what it ends as, once its effects are undone.
        outcome: the result, the failure or the reason it ended with.
    """

    __slots__ = (
        "asked", "attempts", "author", "backoff", "board", "broken", "cancelling", "catalog", "closed",
        "compensates", "done", "epoch", "excluded", "failures", "final", "goal", "goal_found", "id", "key",
        "last_refusal", "ledger", "limits", "lineage", "missing", "mode", "needed_by", "news", "next_n",
        "order", "outcome", "output",
        "owed", "parked", "plan_retry_at", "planner", "planning_failures", "proposal", "ready", "refusals",
        "refused", "refused_alike", "replan_marks", "replans", "results", "reversible", "revision", "running",
        "signal_ids", "signals", "started", "steps", "stuck", "stuck_on", "tags", "tail_again", "tail_n",
        "undo_running", "undos", "undos_open", "unknown", "unmet", "unwinding", "version",
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
        self.output: Mapping[str, Any] | None = None
        self.compensates = True
        self.unmet: dict[str, int] = {}
        self.needed_by: dict[str, list[str]] = {}
        self.ready: OrderedDict[str, None] = OrderedDict()  # a dict scans over what was popped in front
        self.done: dict[str, str] = {}
        self.started: dict[str, Step] = {}
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
        self.last_refusal: f.ProposalRejected | None = None
        self.refused_alike = 0
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
        self.stuck_on: f.Failure | None = None
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
