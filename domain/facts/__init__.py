"""The catalogue of facts: everything that can ever be recorded of a run, public and kept for ever.

A fact's class is its meaning, its ``topic`` the stable name it is stored under, its ``schema`` the number of
its present shape, and ``moves_epoch`` says whether a proposal planned before it is stale after it. When it
was recorded, by whom and why is in the record around it.
"""

from __future__ import annotations

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
from .planning import (
    BoardUpdated,
    GoalFound,
    NoPlanFound,
    PlanAccepted,
    PlanningFailed,
    PlanProposed,
    PlanRequested,
    ProposalRejected,
    RejectionCode,
    ReplanRequested,
    SignalReceived,
)
from .steps import (
    AttemptFailed,
    AttemptLost,
    AttemptStarted,
    OutcomeSettled,
    OutcomeUnknown,
    ProbeFailed,
    ReceiptArrivedLate,
    StepCompleted,
    StepFailed,
    StepSatisfied,
    StepStarted,
)

__all__ = [
    "BY_TOPIC",
    "FACTS",
    "AttemptFailed",
    "AttemptLost",
    "AttemptStarted",
    "BoardUpdated",
    "CancelRequested",
    "CatalogChanged",
    "CompensationCompleted",
    "CompensationFailed",
    "CompensationIssued",
    "CompensationLost",
    "CompensationParked",
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
    "PlanAccepted",
    "PlanProposed",
    "PlanRequested",
    "PlanningFailed",
    "ProbeFailed",
    "ProposalRejected",
    "ReceiptArrivedLate",
    "RejectionCode",
    "ReplanRequested",
    "RunCancelled",
    "RunCompleted",
    "RunFailed",
    "RunStarted",
    "RunStuck",
    "SignalReceived",
    "StepCompleted",
    "StepFailed",
    "StepSatisfied",
    "StepStarted",
    "UnwindingBegan",
]

FACTS: tuple[type[Fact], ...] = tuple(Fact.__subclasses__())
"""Every fact there is."""

BY_TOPIC: dict[str, type[Fact]] = {fact.topic: fact for fact in FACTS}
