"""What a run can be told. A message is a request; only facts say what came of it.

Every message carries the time it was taken up (``at``, seconds since the epoch) and who sent it.
"""

from __future__ import annotations

from .base import ENGINE, Message
from .children import BeginChild, GuideRun, ReportChild, TakeBackRun
from .people import (
    AnswerQuestion,
    ApproveSubject,
    ChangeBudget,
    DecideReview,
    DenySubject,
    InjectResult,
    PauseRun,
    ReceiveSignal,
    ReleaseStep,
    RequestCancel,
    RequestCompensation,
    RetryCompensation,
    SetBreakpoints,
    SettleOutcome,
    UnpauseRun,
    WaiveCompensation,
)
from .planning import (
    AnswerGoalReached,
    AnswerNoPlan,
    ProposePlan,
    ReportOpinion,
    ReportPlanningFailure,
    RequestReplan,
)
from .reports import (
    Report,
    ReportFailure,
    ReportLost,
    ReportProbe,
    ReportReplan,
    ReportSuccess,
    ReportSuspended,
)
from .runs import Activate, Advance, CatchUp, StartRun

__all__ = [
    "ENGINE",
    "Activate",
    "Advance",
    "AnswerGoalReached",
    "AnswerNoPlan",
    "AnswerQuestion",
    "ApproveSubject",
    "BeginChild",
    "CatchUp",
    "ChangeBudget",
    "DecideReview",
    "DenySubject",
    "GuideRun",
    "InjectResult",
    "Message",
    "PauseRun",
    "ProposePlan",
    "ReceiveSignal",
    "ReleaseStep",
    "Report",
    "ReportChild",
    "ReportFailure",
    "ReportLost",
    "ReportOpinion",
    "ReportPlanningFailure",
    "ReportProbe",
    "ReportReplan",
    "ReportSuccess",
    "ReportSuspended",
    "RequestCancel",
    "RequestCompensation",
    "RequestReplan",
    "RetryCompensation",
    "SetBreakpoints",
    "SettleOutcome",
    "StartRun",
    "TakeBackRun",
    "UnpauseRun",
    "WaiveCompensation",
]
