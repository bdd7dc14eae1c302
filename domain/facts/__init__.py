"""The catalogue of facts: everything that can ever be recorded of a run, public and kept for ever.

A fact's class is its meaning, its ``topic`` the stable name it is stored under, its ``schema`` the number of
its present shape, and ``moves_epoch`` says whether a proposal planned before it is stale after it. When it
was recorded, by whom and why is in the record around it.
"""

from __future__ import annotations

from .approvals import (
    ApprovalDenied,
    ApprovalGiven,
    ApprovalRebound,
    ApprovalRequested,
    ApprovalVoided,
)
from .base import (
    Fact,
    Failure,
    Limits,
    Mode,
)
from .compensation import (
    CompensationCompleted,
    CompensationFailed,
    CompensationIssued,
    CompensationLost,
    CompensationParked,
    CompensationRequested,
    CompensationRetried,
    CompensationStarted,
    CompensationWaived,
)
from .lifecycle import (
    CancelRequested,
    CatalogChanged,
    PartMissing,
    PartRestored,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunStarted,
    RunStuck,
    UnwindingBegan,
)
from .limits import (
    BudgetChanged,
    BudgetSpent,
    PausedBy,
    RunPaused,
    RunUnpaused,
    UsageRecorded,
)
from .planning import (
    BoardUpdated,
    GoalFound,
    NoPlanFound,
    PlanAccepted,
    PlanningFailed,
    PlanProposed,
    PlanRequested,
    ProposalHeld,
    ProposalRejected,
    RejectionCode,
    ReplanAnswered,
    ReplanJoined,
    ReplanRequested,
    SignalReceived,
)
from .steps import (
    AttemptFailed,
    AttemptLost,
    AttemptStarted,
    AttemptStopRequested,
    OutcomeSettled,
    OutcomeUnknown,
    ProbeFailed,
    ReceiptArrivedLate,
    ReplanRuleFailed,
    StepCompleted,
    StepFailed,
    StepSatisfied,
    StepSkipped,
    StepStarted,
)
from .waits import AttemptSuspended, WaitEnded, WaitStarted

__all__ = [
    "BY_TOPIC",
    "FACTS",
    "ApprovalDenied",
    "ApprovalGiven",
    "ApprovalRebound",
    "ApprovalRequested",
    "ApprovalVoided",
    "AttemptFailed",
    "AttemptLost",
    "AttemptStarted",
    "AttemptStopRequested",
    "AttemptSuspended",
    "BoardUpdated",
    "BudgetChanged",
    "BudgetSpent",
    "CancelRequested",
    "CatalogChanged",
    "CompensationCompleted",
    "CompensationFailed",
    "CompensationIssued",
    "CompensationLost",
    "CompensationParked",
    "CompensationRequested",
    "CompensationRetried",
    "CompensationStarted",
    "CompensationWaived",
    "Fact",
    "Failure",
    "GoalFound",
    "Limits",
    "Mode",
    "NoPlanFound",
    "OutcomeSettled",
    "OutcomeUnknown",
    "PartMissing",
    "PartRestored",
    "PausedBy",
    "PlanAccepted",
    "PlanProposed",
    "PlanRequested",
    "PlanningFailed",
    "ProbeFailed",
    "ProposalHeld",
    "ProposalRejected",
    "ReceiptArrivedLate",
    "RejectionCode",
    "ReplanAnswered",
    "ReplanJoined",
    "ReplanRequested",
    "ReplanRuleFailed",
    "RunCancelled",
    "RunCompleted",
    "RunFailed",
    "RunPaused",
    "RunStarted",
    "RunStuck",
    "RunUnpaused",
    "SignalReceived",
    "StepCompleted",
    "StepFailed",
    "StepSatisfied",
    "StepSkipped",
    "StepStarted",
    "UnwindingBegan",
    "UsageRecorded",
    "WaitEnded",
    "WaitStarted",
]

FACTS: tuple[type[Fact], ...] = tuple(Fact.__subclasses__())
"""Every fact there is."""

BY_TOPIC: dict[str, type[Fact]] = {fact.topic: fact for fact in FACTS}
