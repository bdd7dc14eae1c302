"""How runs come into being: nothing of a run exists before its first facts are durable."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import get_args

import msgspec

from ..domain import ids
from ..domain.decide import record
from ..domain.errors import InvalidInputError
from ..domain.facts import Mode
from ..domain.fairness import Priority
from ..domain.incoming import checked
from ..domain.messages import StartRun
from ..domain.orders import Order
from ..domain.run import Run
from ..store import (
    GENESIS,
    Append,
    Appended,
    JournalError,
    KeyTakenError,
    RunIndex,
    VersionConflictError,
)
from .directory import Directory
from .errors import TooManyStartsError
from .indexing import row_of, warn_of_attention
from .loading import Loaded
from .reconciler import Reconciler
from .repeated import check_repeated


def check_choices(mode: object, priority: object) -> None:
    """Raise an `InvalidInputError` that says what there is, if one of them is nothing of the kind."""
    for name, value, choices in (
        ("mode", mode, get_args(Mode)),
        ("priority", priority, get_args(Priority)),
    ):
        if value not in choices:
            raise InvalidInputError(f"{name} is {value!r}; write one of {', '.join(choices)}")


class Starter:
    """Starts runs.

    Args:
        directory: takes them up.
        random: returns numbers from 0 to 1, for the ids.
        max_queued: starts that may wait to become durable, when others than schedules ask for one.
    """

    def __init__(self, directory: Directory, random: Callable[[], float], max_queued: int) -> None:
        self._directory = directory
        self._random = random
        self._max_queued = max_queued
        self._queued = 0

    def admit(self) -> None:
        """Raise a `TooManyStartsError` if one start more would be too many."""
        if self._queued >= self._max_queued:
            raise TooManyStartsError(self._queued)

    async def start_child(self, message: StartRun, run_id: str) -> None:
        """Start a child run under the id that its parent has recorded for it, unless there is one already.

        Raises:
            MidcourseError: the run cannot be started; nothing was recorded.
        """
        await self._start(checked(message), run_id)

    async def start(self, message: StartRun) -> str:
        """Return the id of a run once its start is durable; of the earlier run, if its key was used.

        Raises:
            MidcourseError: the run cannot be started; nothing was recorded.
        """
        self._queued += 1
        try:
            return await self._start_once(message)
        finally:
            self._queued -= 1

    async def _start_once(self, message: StartRun) -> str:
        if message.key:
            message = checked(message)
            known = await self._directory.journal.find_key(message.key)
            if known is not None:
                await check_repeated(self._directory.journal, known, message)
                return known
        try:
            return await self._start(message)
        except KeyTakenError as error:  # by a start at the same time
            await check_repeated(self._directory.journal, error.run_id, message)
            return error.run_id

    async def _start(self, message: StartRun, run_id: str = "") -> str:
        started: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._directory.busy.add(started)
        self._directory.post(partial(self._begin, message, started, run_id))
        return await started

    def _begin(self, message: StartRun, started: asyncio.Future[str], run_id: str) -> None:
        try:
            if not run_id:
                run_id = ids.run_id(message.at, int(self._random() * (1 << 32)))
                message = msgspec.structs.replace(message, lineage=run_id)
            run, directory = Run(run_id), self._directory
            begins = directory.places.take_now(run_id)
            facts, orders = (directory.decide if begins else record)(run, message, directory.catalog)
            entries = [(message.at, message.actor, cause, fact) for fact, cause in facts]
            row = row_of(run, None, message.at)
            done = partial(self._done, message, started, run, row, orders if begins else None)
            directory.journal.submit(Append(run_id, 0, GENESIS, entries, row), done)
        except Exception as error:  # noqa: BLE001 - a boundary: whatever keeps a run from starting is its caller's
            self._refuse(started, run_id, error)

    def _done(
        self,
        message: StartRun,
        started: asyncio.Future[str],
        run: Run,
        row: RunIndex,
        orders: list[Order] | None,
        result: Appended | JournalError,
    ) -> None:
        """Take a run up that is durable, with its orders; without any, once it has its place."""
        if isinstance(result, Appended):
            directory = self._directory
            loaded = Loaded(run, result.head_hash, row)
            if orders is not None:
                Reconciler.start(
                    run_id=run.id, home=directory, dispatcher=directory.dispatcher, loaded=loaded
                )
                directory.active[run.id].settle(orders, message.at)
            elif directory.places.admit(run):
                directory.activate(run.id, loaded)
            warn_of_attention(run, None, row)
            self._answer(started, run.id)
        elif isinstance(result, VersionConflictError) and message.parent is not None:
            self._directory.places.leave(run.id)
            self._answer(started, run.id)  # it was started before
        elif isinstance(result, VersionConflictError):
            self._directory.places.leave(run.id)
            self._begin(message, started, "")  # the id is taken, which happens once in four thousand million
        else:
            self._refuse(started, run.id, result)

    def _refuse(self, started: asyncio.Future[str], run_id: str, error: Exception) -> None:
        self._directory.places.leave(run_id)
        self._answer(started, error)

    def _answer(self, started: asyncio.Future[str], answer: str | Exception) -> None:
        self._directory.rest(started)
        if started.done():  # its caller was cancelled; the run goes on
            return
        if isinstance(answer, str):
            started.set_result(answer)
        else:
            started.set_exception(answer)
