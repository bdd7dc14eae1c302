"""What a planner answered, as the message that its run is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ..domain.errors import InvalidInputError
from ..domain.messages import AnswerGoalReached, AnswerNoPlan, Message, ProposePlan
from ..domain.plan import GoalReached, NoPlan, Plan, Step
from .json_values import as_json, text

_MOST_SHOWN = 200


def answer_message(answer: object, *, epoch: int, at: float) -> Message:
    """Return the message that carries an answer.

    Answers are read as they will be read back from their facts, so that none gets into a journal that could
    not be read again.

    Args:
        answer: a `Plan`, a non-empty sequence of `Step`, a `NoPlan` or a `GoalReached`.
        epoch: the epoch it was planned from.
        at: when it came, in seconds since the epoch.

    Raises:
        InvalidInputError: it is nothing of that kind, or holds something that JSON cannot carry.
    """
    if isinstance(answer, Sequence) and answer and all(isinstance(step, Step) for step in answer):
        answer = Plan(tuple(answer))
    if isinstance(answer, Plan):
        plan = _read_back(answer, Plan)
        return ProposePlan(at=at, epoch=epoch, plan=_without_spent(plan), spent=plan.spent)
    if isinstance(answer, NoPlan):
        none = _read_back(answer, NoPlan)
        return AnswerNoPlan(at=at, epoch=epoch, answer=_without_spent(none), spent=none.spent)
    if isinstance(answer, GoalReached):
        reached = _read_back(answer, GoalReached)
        return AnswerGoalReached(at=at, epoch=epoch, answer=_without_spent(reached), spent=reached.spent)
    raise InvalidInputError(
        f"answered {text(repr(answer))[:_MOST_SHOWN]} (a {type(answer).__qualname__}); return a Plan, a "
        "non-empty list of Step, NoPlan(reason) or GoalReached()"
    )


def _without_spent(answer: Any) -> Any:
    """Return an answer without what it used up, which is a fact of its own."""
    return answer if answer.spent is None else msgspec.structs.replace(answer, spent=None)


def _read_back(answer: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(as_json(answer), kind)
    except Exception as error:
        raise InvalidInputError(
            f"answered a {kind.__name__} that cannot be recorded: {text(error)}; it holds JSON values only"
        ) from error
