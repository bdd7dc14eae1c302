"""The state of a run: what its facts amount to. Only ``evolve`` changes it."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import Any, Literal

from . import facts as f
from . import ids
from .approvals import PLAN, Approval
from .breakpoints import Breakpoints
from .budget import Budget
from .errors import ReplanAnswer
from .frames import ControlRun, Frame
from .goal import Goal
from .held import Held
from .ledger import Committed, Operation, Undo
from .opinions import Review
from .plan import Author, Step
from .planning import Asker, RevisionEntry, SignalEntry
from .waits import Wait

FinalStatus = Literal["completed", "failed", "cancelled"]
PartKind = Literal["tool", "planner"]
KEPT_REVISIONS = 20
"""Revisions that planners are shown; the facts have them all."""


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
        tail_again: operations taken out of turn by the present tail: by ``again``, by a step that means a
            later one that stands, by an executed step that its proposal listed again, and those in flight
            that it keeps.
        orphans: operations in flight whose step is in no plan any more.
        strays: those of them that committed since, and were not judged yet.
        undo_requests: by committed operation that a person wants taken back, why.
        undos_open: undos that are neither done nor waiting for a person, in the order they were issued.
        accepted_at: version of the fact that accepted the present plan.
        revisions: the latest revisions of the plan, oldest first.
        observed: the epoch that its present plan was last made or confirmed at.
        foreseen_from: the oldest epoch from which a person could foresee all that has happened since: nothing
            but outcomes of what was in flight then.
        guarded: by step to come, the conditions it needs that held, or were not known, when it was planned.
        recheck: something happened since the last step began that may bear on conditions.
        owed: the request that the next plan answers.
        askers: all that asked for it, first to last.
        asking: a call after which its tool asks for another plan, and nobody has acted on it yet.
        jumps: by id, content and answer of requests from outside.
        asked: the question the planner has not answered.
        started: every step that was ever started, by id.
        held: a person's proposal that waits until what is in flight is known.
        output: the map of templates that becomes its result; ``None``: the result of its last step.
        compensates: whether its effects are undone if it fails or is cancelled.
        refused: stale and refused answers since the last accepted plan; ``refusals`` says what was wrong.
        refused_alike: how often in a row ``last_refusal`` was the answer to the same proposal.
        replan_marks: by digest, version and reason of every request for a plan.
        broken: the failure of a step that nobody has acted on yet.
        stuck: why the run cannot go on by itself; empty where it can.
        stuck_on: what went wrong, where it is stuck on a failure.
        unhelped: why a handler could not be asked about that, so that a person is.
        calls: by tool, how many operations its plans have begun, planned undos included.
        skipped: by step that was not approved and ended without effect, why.
        approvals: by step, approvals that are waited for, or given and not used yet.
        verdicts: by subject, what became of approvals.
        reviews: steps that are done and wait for their review; ``rounds``: how often others were done;
            ``passed``: operations whose review found them good.
        consulting: questions to reviewers and judges that are open; ``opinions``: those answered, by key.
        under_review: a proposal that waits for its reviewers.
        gaps: requirements that had no evidence when that was last looked at.
        controls: its control steps that run bodies, by step.
        frame_of: by step of a body, the body it belongs to.
        questions: what people are asked, by step.
        exit: where the plan has ended before its last step.
        breakpoints: where it is held for a person.
        stops: the steps it is held at: with why they failed, or ``None`` for one that was not begun.
        released: steps that a person let begin.
        injected: by step that a person gave its result, who did.
        waits: what its steps wait for, by step.
        mail: by name, the signals that nothing has waited for yet.
        budgets: what it may spend; ``tokens`` and ``cost`` are what it has.
        spent: the budget that kept it from going on, until budgets are changed.
        paused: why nothing is begun, while it is paused.
        missing: the tools and planners it needs and its engine does not have.
        unwinding: what it ends as, once its effects are undone.
        outcome: the result, the failure or the reason it ended with.
    """

    __slots__ = (
        "accepted_at", "approvals", "asked", "askers", "asking", "attempts", "author", "backoff", "board",
        "breakpoints", "broken", "budgets", "calls", "cancelling", "catalog", "closed", "compensates",
        "consulting", "controls", "cost", "done", "epoch", "exit", "failures", "final", "foreseen_from",
        "frame_of", "gaps", "goal", "goal_found", "guarded", "held", "id", "injected", "jumps", "key",
        "last_refusal", "ledger", "limits", "lineage", "mail", "missing", "mode", "needed_by", "news",
        "next_n", "observed", "opinions", "order", "orphans", "outcome", "output", "owed", "parked",
        "passed", "paused", "plan_retry_at", "planner", "planning_failures", "proposal", "questions",
        "ready", "recheck", "refusals", "refused", "refused_alike", "released", "replan_marks", "replans",
        "results", "reversible", "reviews", "revision", "revisions", "rounds", "running", "signal_ids",
        "signals", "skipped", "spent", "started", "started_at", "started_by", "steps", "stops", "strays",
        "stuck", "stuck_on", "tags", "tail_again", "tail_n", "tokens", "under_review", "undo_requests",
        "undo_running", "undos", "undos_open", "unhelped", "unknown", "unmet", "unwinding", "verdicts",
        "version", "waits",
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
        self.accepted_at = 0
        self.foreseen_from = 0
        self.observed = 0
        self.revisions: deque[RevisionEntry] = deque(maxlen=KEPT_REVISIONS)
        self.guarded: dict[str, tuple[str, ...]] = {}
        self.recheck = False
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
        self.orphans: set[str] = set()
        self.strays: dict[str, Committed] = {}
        # compensation
        self.reversible: dict[str, Committed] = {}
        self.undos: dict[str, Undo] = {}
        self.undo_requests: dict[str, str] = {}
        self.undos_open: OrderedDict[str, Undo] = OrderedDict()
        self.undo_running = ""
        self.parked: dict[str, Undo] = {}
        # approvals
        self.started_by = ""
        self.calls: dict[str, int] = {}
        self.skipped: dict[str, str] = {}
        self.approvals: dict[str, Approval] = {}
        self.verdicts: dict[str, str] = {}
        # planning
        self.owed: f.ReplanRequested | None = None
        self.askers: list[Asker] = []
        self.asking: Asker | None = None
        self.jumps: dict[str, tuple[str, ReplanAnswer]] = {}
        self.asked: f.PlanRequested | None = None
        self.proposal: f.PlanProposed | None = None
        self.held: Held | None = None
        self.plan_retry_at: float | None = None
        self.replans = 0
        self.refused = 0
        self.refusals: list[str] = []
        self.last_refusal: f.ProposalRejected | None = None
        self.refused_alike = 0
        self.planning_failures = 0
        self.replan_marks: dict[str, tuple[int, str]] = {}
        self.failures: list[f.Failure] = []
        self.board: dict[str, Any] = {}
        self.signals: list[SignalEntry] = []
        self.signal_ids: set[str] = set()
        self.news = 0
        self.reviews: dict[str, Review] = {}
        self.rounds: dict[str, tuple[int, int]] = {}
        self.passed: set[str] = set()
        self.consulting: dict[str, f.ConsultationRequested] = {}
        self.opinions: dict[str, f.OpinionGiven] = {}
        self.under_review: Held | None = None
        self.gaps: tuple[f.Gap, ...] = ()
        self.controls: dict[str, ControlRun] = {}
        self.frame_of: dict[str, Frame] = {}
        self.questions: dict[str, f.QuestionAsked] = {}
        self.exit: f.ExitReached | None = None
        self.breakpoints: Breakpoints | None = None
        self.stops: dict[str, f.Failure | None] = {}
        self.released: set[str] = set()
        self.injected: dict[str, str] = {}
        self.waits: dict[str, Wait] = {}
        self.mail: dict[str, deque[SignalEntry]] = {}
        self.goal_found: f.GoalFound | None = None
        # limits
        self.started_at = 0.0
        self.budgets: tuple[Budget, ...] = ()
        self.tokens = 0
        self.cost = 0.0
        self.spent: f.BudgetSpent | None = None
        self.paused: f.RunPaused | None = None
        # endings
        self.broken: f.Failure | None = None
        self.stuck = ""
        self.stuck_on: f.Failure | None = None
        self.unhelped = ""
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

    def undoing_step(self, key: str) -> str:
        """Return the step in flight that takes an operation back, of whichever plan, or nothing."""
        undo = ids.undo_key(key)
        operation = self.running.get(undo) or self.backoff.get(undo) or self.unknown.get(undo)
        return operation.step if operation is not None else ""

    @property
    def excluded(self) -> frozenset[str]:
        """The tools that asked for the plan that is owed: search planners leave them out of it."""
        return frozenset(each.tool for each in self.askers if each.cause == "tool")

    @property
    def revision_token(self) -> str:
        """The id issued with the present revision: a request that shows it is about this plan alone."""
        return ids.digest([self.id, self.revision, self.accepted_at])

    @property
    def pending(self) -> f.PlanProposed | None:
        """The proposal that comes next: one just made, or one that waits for steps or for approval."""
        if self.proposal is not None:
            return self.proposal
        if self.held is not None:
            return self.held.proposal
        if self.under_review is not None:
            return self.under_review.proposal
        approval = self.approvals.get(PLAN)
        return approval.proposal if approval is not None else None

    @property
    def is_leaving(self) -> bool:
        """Whether no step of the present plan is to be started any more."""
        return self.owed is not None or self.unwinding is not None

    @property
    def is_full(self) -> bool:
        """Whether as many calls of tools are in flight as there may be."""
        at_once = self.limits.steps_at_once
        return at_once is not None and len(self.running) >= at_once

    def is_unwanted(self, operation: Operation) -> bool:
        """Whether an operation belongs to a plan that is being left, or was left."""
        return self.is_leaving or operation.key in self.orphans

    @property
    def is_draining(self) -> bool:
        """Whether something is in flight that has to be known before there is another plan."""
        if self.backoff or self.unknown:
            return True
        return any(operation.on_replan != "adopt" for operation in self.running.values())

    @property
    def is_helped(self) -> bool:
        """Whether a handler is being asked what is to become of it, for it is stuck."""
        return bool(self.consulting) and any(asked.kind == "stuck" for asked in self.consulting.values())

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
        if self.held is not None or self.under_review is not None or PLAN in self.approvals:
            return False
        if self.is_draining or self.reviews:
            return False
        return not (self.undos_open or self.strays or ("planner", self.planner) in self.missing)

    @property
    def is_spending(self) -> bool:
        """Whether it has steps or plans to begin still, and is not kept from it."""
        if self.final is not None or self.unwinding is not None or self.stuck or self.paused is not None:
            return False
        return bool(self.unmet) or self.owed is not None or (self.revision == 0 and self.goal_found is None)

    @property
    def may_undo(self) -> bool:
        """Whether the next undo may start: one at a time, and none while it is open what there is to undo."""
        if self.undo_running:
            return False
        if self.unwinding is None or self.final is not None:
            return True
        return not (self.running or self.backoff or self.is_probing)
