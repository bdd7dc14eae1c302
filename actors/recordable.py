"""Answers of planners and tools that cannot be recorded as they are, put so that they can."""

from __future__ import annotations

from typing import Any

from ..domain.facts import Failure
from ..domain.messages import (
    AnswerGoalReached,
    AnswerNoPlan,
    Message,
    ProposePlan,
    ReportPlanningFailure,
    ReportSuccess,
)
from .json_values import receipt_of, text


def recordable(message: Any, error: Exception) -> Message | None:
    """Return what to record instead of an answer that cannot be taken up; ``None`` if there is nothing.

    A planner's answer becomes a failure of the planner. A receipt is kept with a marker for what is lost, for
    its effect has happened.

    Args:
        message: the answer.
        error: why it cannot be taken up.
    """
    if isinstance(message, ReportSuccess):
        receipt = receipt_of(message.receipt)
        if receipt == message.receipt:
            return None
        return ReportSuccess(
            at=message.at,
            actor=message.actor,
            operation=message.operation,
            attempt=message.attempt,
            receipt=receipt,
        )
    if isinstance(message, (ProposePlan, AnswerNoPlan, AnswerGoalReached)):
        failure = Failure(
            "planner", text(f"its answer cannot be recorded: {error}"), error_type=type(error).__name__
        )
        return ReportPlanningFailure(at=message.at, actor=message.actor, epoch=message.epoch, failure=failure)
    return None
