"""What a run can be told. A message is a request; only facts say what came of it.

Each carries the time it was taken up (``at``, seconds since the epoch) and who sent it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, dataclass_transform

import msgspec

from .breakpoints import Breakpoints
from .budget import Budget, Spent
from .facts import Failure, Limits, Mode
from .goal import Goal
from .plan import Author, GoalReached, NoPlan, Plan
from .receipt import Receipt

ENGINE = "engine"


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Message(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The base of all messages."""

    at: float
    actor: str = ENGINE


class StartRun(Message, kw_only=True):
    """Begin a run: with a person's plan, or with a planner to ask."""

    goal: Goal
    lineage: str
    plan: Plan | None = None
    planner: str = ""
    mode: Mode = "autonomous"
    key: str = ""
    tags: Mapping[str, str] = msgspec.field(default_factory=dict)
    limits: Limits = Limits()
    breakpoints: Breakpoints | None = None


class Activate(Message, kw_only=True):
    """An engine took the run up: what was in flight before is lost, what is owed is ordered again.

    Args:
        planners: names of the planners this engine has.
    """

    planners: frozenset[str] = frozenset()


class CatchUp(Message, kw_only=True):
    """Another process wrote to the run."""


class Advance(Message, kw_only=True):
    """Look at the clock: whatever is due now is done now."""


class ProposePlan(Message, kw_only=True):
    """A new tail for the plan, made from the run as it was at ``epoch``."""

    epoch: int
    plan: Plan
    author: Author = "planner"
    spent: Spent | None = None


class AnswerNoPlan(Message, kw_only=True):
    """The planner found no plan."""

    epoch: int
    answer: NoPlan
    spent: Spent | None = None


class AnswerGoalReached(Message, kw_only=True):
    """The planner finds the goal reached."""

    epoch: int
    answer: GoalReached
    spent: Spent | None = None


class ReportPlanningFailure(Message, kw_only=True):
    """The planner raised, or answered something that is no answer."""

    epoch: int
    failure: Failure
    retry_after_s: float = 1.0
    spent: Spent | None = None


class RequestReplan(Message, kw_only=True):
    """A person or a program asks for a new plan from outside.

    Args:
        reason: what changed, what is obsolete, what stays.
        revision_token: the token of the revision it is about; empty for whichever is the present one.
        id: the same id with the same content is taken once, and answered the same again.
    """

    reason: str
    revision_token: str = ""
    id: str = ""


class Report(Message, kw_only=True):
    """What an attempt reports, and has used up. ``attempt`` is its token: an old one settles nothing."""

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
    """

    due: float | None = None
    signal: str = ""
    details: Any = None
    reply: Any = None
    no_effect: bool = False


class ReportLost(Report, kw_only=True):
    """The attempt timed out, fell silent, or was cancelled: nobody knows what became of it."""

    why: str
    details: Any = None


class ReportProbe(Report, kw_only=True):
    """What a probe found: happened, not happened, or (``None``) still not known."""

    happened: bool | None
    receipt: Receipt | None = None
    why: str = ""


class ReceiveSignal(Message, kw_only=True):
    """A message from outside for the run; the same id is taken once."""

    name: str
    payload: Any = None
    id: str = ""
    relevant: bool = True


class RequestCancel(Message, kw_only=True):
    """Someone wants the run cancelled."""

    reason: str = ""


class SettleOutcome(Message, kw_only=True):
    """A person says what became of an unknown outcome."""

    operation: str
    happened: bool
    receipt: Receipt | None = None
    reason: str = ""


class PauseRun(Message, kw_only=True):
    """Someone wants nothing more begun until the run is unpaused."""

    reason: str = ""


class UnpauseRun(Message, kw_only=True):
    """Someone wants a paused run to go on."""

    reason: str = ""


class ChangeBudget(Message, kw_only=True):
    """Someone says what a run may spend from here on; what ``budget`` leaves out stays as it is."""

    budget: Budget
    reason: str = ""


class ApproveSubject(Message, kw_only=True):
    """A person approves of a step or a plan that waits for it."""

    subject: str


class DenySubject(Message, kw_only=True):
    """A person does not approve of a step or a plan that waits for it."""

    subject: str
    reason: str = ""


class AnswerQuestion(Message, kw_only=True):
    """A person answers what a step asks, or declines to.

    Args:
        step: the step.
        value: the answer: an object that fits its schema.
        decline: there is no answer.
    """

    step: str
    value: Any = None
    decline: bool = False


class SetBreakpoints(Message, kw_only=True):
    """A person wants the run held, from here on where these say."""

    breakpoints: Breakpoints


class ReleaseStep(Message, kw_only=True):
    """A person lets a held step begin, or the failure of one stand."""

    step: str


class InjectResult(Message, kw_only=True):
    """A person gives a held step a result, in the place of a call or of its failure."""

    step: str
    result: Any
    reason: str = ""


class RequestCompensation(Message, kw_only=True):
    """A person wants a committed operation taken back."""

    operation: str
    reason: str


class RetryCompensation(Message, kw_only=True):
    """A person wants a parked undo tried again."""

    operation: str
    reason: str = ""


class WaiveCompensation(Message, kw_only=True):
    """A person lets an effect stay that was to be undone."""

    operation: str
    reason: str
