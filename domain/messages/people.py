"""What people and programs tell runs."""

from __future__ import annotations

from typing import Any

from ..breakpoints import Breakpoints
from ..budget import Budget
from ..receipt import Receipt
from .base import Message


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


class DecideReview(Message, kw_only=True):
    """A person reviews a step, or chooses what becomes of one whose review does not come to an end.

    Args:
        step: the step.
        verdict: ``ok``, ``step`` or ``plan``; or ``continue``, ``reset`` or ``stop``.
        reason: why.
    """

    step: str
    verdict: str
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
