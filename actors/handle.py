"""What the one who started a run, or looked it up, holds in hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from ..domain.errors import InvalidInputError
from ..domain.facts import PlanAccepted, ProposalRejected
from ..domain.messages import (
    Message,
    ProposePlan,
    ReceiveSignal,
    RequestCancel,
    RequestReplan,
    RetryCompensation,
    SettleOutcome,
    WaiveCompensation,
)
from ..domain.plan import Plan
from ..domain.receipt import Receipt
from ..domain.view import RunState, view
from ..store import FINAL_STATUSES, Record
from .directory import Directory
from .errors import ProposalRefusedError, RunNotFoundError
from .home import Look
from .outcome import Outcome, outcome_of

HOST = "host"
"""The actor of what the embedding program asks for by itself."""


class RunHandle:
    """A run, as seen from the program that embeds the engine.

    Every method returns once what it says is durable. A caller that is cancelled leaves the run alone: what
    it asked for may still happen. Where a method takes ``by``, it is the name of the person or program on
    whose behalf it is called, and the facts say so.

    All methods raise `RunNotFoundError` for a run that does not exist, `RunParkedError` for one that its
    engine has let go of, `EngineClosedError` after the engine is closed, and `MessageRefused` if the run
    cannot do what it is asked.
    """

    __slots__ = ("_directory", "id")

    def __init__(self, run_id: str, directory: Directory) -> None:
        self.id = run_id
        self._directory = directory

    def __repr__(self) -> str:
        return f"<RunHandle {self.id}>"

    # ----------------------------------------------------------------------------------------------- watching

    async def state(self) -> RunState:
        """Return a picture of the run as its durable facts have it."""
        self._directory.check_open()
        if self.id in self._directory.active:
            state: RunState = await self._directory.ask(self.id, Look(view))
            return state
        return view((await self._directory.loaded(self.id)).run)

    async def facts(self, after: int = 0) -> AsyncIterator[Record]:
        """Yield the records of the run, those there are and then those that come, until it has ended.

        Args:
            after: version of the last record that is not wanted.
        """
        directory = self._directory
        with directory.watchers.following(self.id) as moved:
            while True:
                moved.clear()
                directory.check_open()
                index = await directory.journal.get_index(self.id)
                if index is None:
                    raise RunNotFoundError(self.id, directory.journal.url)
                async for batch in directory.journal.batches(self.id, after=after):
                    for record in batch:
                        after = record.version
                        yield record
                if index.status in FINAL_STATUSES and after >= index.version:
                    return
                directory.check_parked(self.id)
                await moved.wait()

    async def outcome(self, *, timeout_s: float | None = None) -> Outcome:
        """Wait for the end of the run.

        Args:
            timeout_s: seconds to wait; ``None`` for as long as it takes. A run may wait for a person: `state`
                says so.

        Raises:
            TimeoutError: the run has not ended in time. It goes on.
        """
        directory = self._directory
        directory.check_open()
        with directory.watchers.awaiting(self.id) as ended:
            reconciler = directory.active.get(self.id)
            if reconciler is None or not reconciler.is_under_way:
                index = await directory.journal.get_index(self.id)
                if index is None:
                    raise RunNotFoundError(self.id, directory.journal.url)
                if index.status in FINAL_STATUSES:
                    return outcome_of((await directory.loaded(self.id)).run)
                directory.check_parked(self.id)
            if timeout_s is None:
                return await ended
            try:
                async with asyncio.timeout(timeout_s):
                    return await ended
            except TimeoutError:
                hint = getattr(directory.clock, "how_to_wait", "wait for it again")
                raise TimeoutError(
                    f"run {self.id} has not ended within {timeout_s} s; it goes on, {hint}"
                ) from None

    # ------------------------------------------------------------------------------------------------- asking

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
        """
        await self._ask(
            ReceiveSignal(
                at=self._now(), actor=actor(by), name=name, payload=payload, id=id, relevant=relevant
            )
        )

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

    async def propose(self, plan: Plan, *, epoch: int, by: str = "") -> int:
        """Replace what is left of the plan.

        Args:
            plan: the new tail.
            epoch: the epoch of the state it was made from (`RunState.epoch`).
            by: on whose behalf.

        Returns:
            the number of the new revision.

        Raises:
            ProposalRefusedError: it is stale, invalid, or contradicts what is committed.
        """
        facts = await self._ask(
            ProposePlan(at=self._now(), actor=actor(by), epoch=epoch, plan=plan, author="human")
        )
        for fact in facts:
            if isinstance(fact, ProposalRejected):
                raise ProposalRefusedError(self.id, fact.code, fact.problems)
        return next(fact.revision for fact in facts if isinstance(fact, PlanAccepted))

    async def replan(self, reason: str, *, by: str = "") -> None:
        """Ask the run's planner for another plan; the reason says what changed, and what stays."""
        await self._ask(RequestReplan(at=self._now(), actor=actor(by), reason=reason))

    async def compensate(
        self, operation: str, *, retry: bool = False, waive: bool = False, reason: str = "", by: str = ""
    ) -> None:
        """Decide about an undo that has given up.

        Args:
            operation: key of the undo, or of the operation it takes back.
            retry: try it again.
            waive: let the effect stay. Needs a reason.
            reason: why.
            by: on whose behalf.
        """
        if retry is waive:
            raise InvalidInputError(f"compensating {operation!r} takes one of retry=True and waive=True")
        kind = RetryCompensation if retry else WaiveCompensation
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
