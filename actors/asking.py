"""What a run is asked by the program that embeds the engine, and by those it acts for."""

from __future__ import annotations

from typing import Any

import msgspec

from ..domain.breakpoints import Breakpoints
from ..domain.budget import Budget
from ..domain.errors import InvalidInputError, ReplanAnswer, ReplanNotTaken, SignalInvalid
from ..domain.messages import (
    AnswerQuestion,
    ApproveSubject,
    ChangeBudget,
    DecideReview,
    DenySubject,
    InjectResult,
    Message,
    PauseRun,
    ReceiveSignal,
    ReleaseStep,
    RequestCancel,
    RequestCompensation,
    RequestReplan,
    RetryCompensation,
    SetBreakpoints,
    SettleOutcome,
    UnpauseRun,
    WaiveCompensation,
)
from ..domain.receipt import Receipt
from .directory import Directory
from .errors import RunParkedError
from .requests import replan_answer
from .signals import record_refusal

HOST = "host"
"""The actor of what the embedding program asks for by itself."""


class Asking:
    """The requests to a run; each returns once what came of it is durable."""

    __slots__ = ("_directory", "id")

    def __init__(self, run_id: str, directory: Directory) -> None:
        self.id = run_id
        self._directory = directory

    async def signal(
        self, name: str, payload: Any = None, *, id: str = "", relevant: bool = True, by: str = ""
    ) -> None:
        """Tell the run something new.

        Args:
            name: what kind of news it is.
            payload: a JSON value.
            id: the same id is taken once.
            relevant: plans made without knowing it are stale.
            by: on whose behalf.

        Raises:
            SignalInvalid: it does not fit what the engine declares of signals; that is recorded.
        """
        message = ReceiveSignal(
            at=self._now(), actor=actor(by), name=name, payload=payload, id=id, relevant=relevant
        )
        try:
            await self._ask(message)
        except SignalInvalid as refusal:
            journal = self._directory.journal
            await record_refusal(journal, refusal, at=message.at, actor=message.actor)
            raise

    async def cancel(self, reason: str = "", *, by: str = "") -> None:
        """Ask the run to stop and to undo what can be undone; `outcome` says when it has."""
        await self._ask(RequestCancel(at=self._now(), actor=actor(by), reason=reason))

    async def settle(
        self,
        operation: str,
        *,
        happened: Any = msgspec.UNSET,
        not_happened: bool = False,
        reason: str = "",
        by: str = "",
    ) -> None:
        """Say what became of an operation whose outcome is unknown.

        Args:
            operation: its key.
            happened: the receipt, or the result, of an operation that did happen; it may be ``None``.
            not_happened: it did not happen; the run may try again. Needs a reason.
            reason: how you know.
            by: on whose behalf.
        """
        if (happened is msgspec.UNSET) is not not_happened:
            raise InvalidInputError(
                f"settling {operation!r} takes one of happened=RECEIPT_OR_RESULT and not_happened=True"
            )
        receipt = None
        if not not_happened:
            receipt = happened if isinstance(happened, Receipt) else Receipt(happened)
        await self._ask(
            SettleOutcome(
                at=self._now(),
                actor=actor(by),
                operation=operation,
                happened=not not_happened,
                receipt=receipt,
                reason=reason,
            )
        )

    async def break_at(self, *steps: str, on_error: bool = False, by: str = "") -> None:
        """Have the run held for a person from here on at these places, and nowhere else.

        Args:
            steps: ids, paths of steps in bodies, or globs of them; it is held before they begin.
            on_error: hold it after a step failed, too, before anything follows from it.
            by: on whose behalf.
        """
        await self._ask(
            SetBreakpoints(at=self._now(), actor=actor(by), breakpoints=Breakpoints(steps, on_error))
        )

    async def release(self, step: str, *, by: str = "") -> None:
        """Let a step begin that the run is held at, or the failure of one stand."""
        await self._ask(ReleaseStep(at=self._now(), actor=actor(by), step=step))

    async def inject(self, step: str, result: Any, *, reason: str = "", by: str = "") -> None:
        """Give a step that the run is held at a result, in the place of a call or of its failure.

        It is no receipt: what the step was to do is not taken for done anywhere else, and never undone.

        Args:
            step: the step.
            result: a JSON value.
            reason: why.
            by: on whose behalf.
        """
        await self._ask(
            InjectResult(at=self._now(), actor=actor(by), step=step, result=result, reason=reason)
        )

    async def pause(self, reason: str = "", *, by: str = "") -> None:
        """Begin nothing more until `unpause`; what is under way ends and is recorded. Undoing waits too."""
        await self._ask(PauseRun(at=self._now(), actor=actor(by), reason=reason))

    async def unpause(self, reason: str = "", *, by: str = "") -> None:
        """Go on; a run that its budget has paused needs another one (`budget`)."""
        await self._ask(UnpauseRun(at=self._now(), actor=actor(by), reason=reason))

    async def budget(self, budget: Budget, *, reason: str = "", by: str = "") -> None:
        """Say what the run may spend from here on; one that its budget has paused goes on.

        Args:
            budget: the new limits; what it leaves out stays as it is.
            reason: why.
            by: on whose behalf.
        """
        await self._ask(ChangeBudget(at=self._now(), actor=actor(by), budget=budget, reason=reason))

    async def approve(self, subject: str, *, by: str = "") -> None:
        """Approve of a step or a plan that waits for it.

        Args:
            subject: what `RunState.attention` calls it.
            by: on whose behalf.

        Raises:
            MessageRefused: there is no such thing any more, or this is not the one to approve of it.
        """
        await self._ask(ApproveSubject(at=self._now(), actor=actor(by), subject=subject))

    async def answer(self, step: str, value: Any = None, *, decline: bool = False, by: str = "") -> None:
        """Answer what a step asks.

        Args:
            step: the step.
            value: an object that fits the schema of the answer.
            decline: there is no answer: the step ends as its plan says.
            by: on whose behalf.

        Raises:
            MessageRefused: the step asks nothing, or the answer does not fit; the text says what would.
        """
        await self._ask(
            AnswerQuestion(at=self._now(), actor=actor(by), step=step, value=value, decline=decline)
        )

    async def review(self, step: str, verdict: str, *, reason: str = "", by: str = "") -> None:
        """Review a step, or choose what becomes of one whose review does not come to an end by itself.

        Args:
            step: the step.
            verdict: ``ok``, ``step`` (do it again) or ``plan``; where it was escalated ``continue``,
                ``reset`` (begin its review anew, with as many rounds as at first: do it again, or ask its
                reviewer again, who could not be asked) or ``stop``.
            reason: why.
            by: on whose behalf.
        """
        await self._ask(
            DecideReview(at=self._now(), actor=actor(by), step=step, verdict=verdict, reason=reason)
        )

    async def deny(self, subject: str, *, by: str = "", reason: str = "") -> None:
        """Deny approval: the step ends as its plan says, the plan is made anew; see `approve`."""
        await self._ask(DenySubject(at=self._now(), actor=actor(by), subject=subject, reason=reason))

    async def replan(
        self, reason: str, *, revision_token: str = "", id: str = "", by: str = ""
    ) -> ReplanAnswer:
        """Ask the run's planner for another plan.

        Args:
            reason: what changed, what is obsolete, what stays.
            revision_token: the id issued with the revision it is about (`RunState.revision_token`). Without
                it, whichever is the present one.
            id: the same id with the same content is answered the same, however often it is told.
            by: on whose behalf.

        Returns:
            ``ACCEPTED``: a plan is owed from here on. ``STALE``: the token is that of an earlier revision.
            ``CONFLICT``: the id was used with another content. ``PROCESSING``: a plan is owed already, and
            this request was not taken up. ``OUTCOME_UNKNOWN``: whether it is recorded cannot be told; ask
            again with the same id.
        """
        message = RequestReplan(
            at=self._now(), actor=actor(by), reason=reason, revision_token=revision_token, id=id
        )
        self._directory.check_parked(self.id)
        try:
            return replan_answer(await self._ask(message))
        except ReplanNotTaken as refusal:
            return refusal.answer
        except RunParkedError:
            return "OUTCOME_UNKNOWN"

    async def compensate(
        self,
        operation: str,
        *,
        undo: bool = False,
        retry: bool = False,
        waive: bool = False,
        reason: str = "",
        by: str = "",
    ) -> None:
        """Have a committed operation undone, or decide about an undo that has given up.

        Args:
            operation: key of the operation; for an undo that has given up, or of that undo.
            undo: take the operation back. Needs a reason.
            retry: try the undo again.
            waive: let the effect stay. Needs a reason.
            reason: why.
            by: on whose behalf.
        """
        if undo + retry + waive != 1:
            raise InvalidInputError(
                f"compensating {operation!r} takes one of undo=True, retry=True and waive=True"
            )
        kind = RequestCompensation if undo else RetryCompensation if retry else WaiveCompensation
        await self._ask(kind(at=self._now(), actor=actor(by), operation=operation, reason=reason))

    async def _ask(self, message: Message) -> Any:
        return await self._directory.ask(self.id, message)

    def _now(self) -> float:
        return self._directory.clock()


def actor(by: str) -> str:
    """Return what facts call the one who caused them: the host, or whom it acted for."""
    if not isinstance(by, str):
        raise InvalidInputError(f"by is {by!r}; it is a text, the name of a person or program")
    return f"{HOST}:{by}" if by else HOST
