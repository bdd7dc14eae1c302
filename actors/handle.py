"""What the one who started a run, or looked it up, holds in hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

from ..domain.errors import MessageRefused
from ..domain.facts import ProposalHeld
from ..domain.messages import ProposePlan
from ..domain.plan import Plan
from ..domain.view import RunState, view
from ..store import FINAL_STATUSES, Record
from .asking import Asking, actor
from .errors import RunNotFoundError
from .home import Look
from .outcome import Outcome, outcome_of
from .requests import is_end_of, proposal_outcome
from .updates import Answer


class RunHandle(Asking):
    """A run, as seen from the program that embeds the engine.

    Every method returns once what it says is durable. A caller that is cancelled leaves the run alone: what
    it asked for may still happen. Where a method takes ``by``, it is the name of the person or program on
    whose behalf it is called, and the facts say so.

    All methods raise `RunNotFoundError` for a run that does not exist, `RunParkedError` for one that its
    engine has let go of, `EngineClosedError` after the engine is closed, and `MessageRefused` if the run
    cannot do what it is asked.
    """

    __slots__ = ()

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

    # --------------------------------------------------------------------------------------------- answered

    async def update(
        self, name: str, payload: Any = None, *, id: str = "", timeout_s: float | None = None, by: str = ""
    ) -> Any:
        """Send a signal, and wait for what the step or tool that waits for it makes of it.

        A step that waits answers with its result; a tool with its result, or with the ``reply`` of the
        `WaitFor` that it raises next.

        Args:
            name: the signal.
            payload: a JSON value.
            id: the same id is taken once, and answered the same.
            timeout_s: seconds to wait for the answer; the signal stays with the run.
            by: on whose behalf.

        Raises:
            MessageRefused: the run has ended before it took the signal, or what took it failed.
            SignalInvalid: it does not fit what the engine declares of signals; that is recorded.
            TimeoutError: nothing has answered in time.
        """
        id = id or uuid4().hex
        after = await self._directory.ask(
            self.id, Look(lambda run: 0 if id in run.signal_ids else run.version)
        )
        await self.signal(name, payload, id=id, relevant=False, by=by)
        answer = Answer(id)
        async with asyncio.timeout(timeout_s):
            async for record in self.facts(after=after):
                answer.take(record)
                if answer.is_there:
                    return answer.value
        raise MessageRefused(f"run {self.id} ended before anything took the signal {name!r} (id {id!r})")

    # --------------------------------------------------------------------------------------------- proposing

    async def propose(self, plan: Plan, *, epoch: int, by: str = "") -> int:
        """Replace what is left of the plan.

        While steps are in flight, no other one begins, and the proposal waits for them; it may refer to their
        results. It is stale where more has happened since its epoch than outcomes of what was in flight then:
        a step that began, or news from outside.

        Args:
            plan: the new tail.
            epoch: the epoch of the state it was made from (`RunState.epoch`).
            by: on whose behalf.

        Returns:
            the number of the new revision, once it is accepted. A caller that does not wait for that leaves
            the proposal with the run.

        Raises:
            ProposalRefusedError: it is stale, invalid, or contradicts what is committed.
        """
        facts = await self._ask(
            ProposePlan(at=self._now(), actor=actor(by), epoch=epoch, plan=plan, author="human")
        )
        held = next((fact for fact in facts if isinstance(fact, ProposalHeld)), None)
        if held is None:
            return proposal_outcome(self.id, facts)
        is_waiting = False
        async for record in self.facts(after=epoch):
            is_waiting = is_waiting or record.fact == held
            if is_waiting and is_end_of(held, record.fact):
                return proposal_outcome(self.id, (record.fact,))
        return proposal_outcome(self.id, ())
