"""The fields of a run's state. Only ``evolve`` changes them."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import Any, Literal

from . import facts as f
from .approvals import Approval
from .breakpoints import Breakpoints
from .budget import Budget
from .children import Parent
from .errors import ReplanAnswer
from .fairness import Priority
from .family import Child
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


class RunFields:
    """What the fold of a run's facts holds.

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
        parent: where it reports to, if it is a child run; ``taken_back``: the undo that it answers to.
        children: its child runs that have not ended, by operation, all of them in ``running``; ``family``:
            all there were.
    """

    __slots__ = (
        "accepted_at", "approvals", "asked", "askers", "asking", "attempts", "author", "backoff",
        "board", "breakpoints", "broken", "budgets", "calls", "cancelling", "catalog", "children",
        "closed", "compensates", "consulting", "controls", "cost", "done", "epoch", "exit", "failures",
        "family", "final", "foreseen_from", "frame_of", "gaps", "goal", "goal_found", "guarded", "held",
        "id", "injected", "jumps", "key", "last_refusal", "ledger", "limits", "lineage", "mail",
        "missing", "mode", "needed_by", "news", "next_n", "observed", "opinions", "order", "orphans",
        "outcome", "output", "owed", "parent", "parked", "passed", "paused", "plan_retry_at", "planner",
        "planning_failures", "priority", "proposal", "questions", "ready", "recheck", "refusals",
        "refused", "refused_alike", "released", "replan_marks", "replans", "results", "reversible",
        "reviews", "revision", "revisions", "rounds", "running", "signal_ids", "signals", "skipped",
        "spent", "started", "started_at", "started_by", "steps", "stops", "strays", "stuck", "stuck_on",
        "tags", "tail_again", "tail_n", "taken_back", "tokens", "under_review", "undo_requests",
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
        self.priority: Priority = "normal"
        self.tags: Mapping[str, str] = {}
        self.parent: Parent | None = None
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
        self.children: dict[str, Child] = {}
        self.family: dict[str, Child] = {}
        # compensation
        self.reversible: dict[str, Committed] = {}
        self.undos: dict[str, Undo] = {}
        self.undo_requests: dict[str, str] = {}
        self.undos_open: OrderedDict[str, Undo] = OrderedDict()
        self.undo_running = ""
        self.parked: dict[str, Undo] = {}
        self.taken_back: Parent | None = None
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
