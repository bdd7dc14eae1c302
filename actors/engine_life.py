"""The life of an engine: how its parts are put together, opened and closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from ..store import Journal
from .assembly import start_couriers
from .clock import Clock, Timers
from .directory import Directory
from .equipment import Equipment
from .errors import EngineClosedError
from .opening import open_owned
from .schedules import Schedules
from .settings import Settings
from .shutdown import shut_down
from .starting import Starter
from .waking import Waking, recover


class EngineLife:
    """Opens an engine once, and closes it.

    Args:
        store: a store URL, or an open journal.
        equipment: what the engine was handed.
        settings: how it works.
        clock: tells the time in seconds since the epoch.
        timers: makes things happen later; ``None`` for the running event loop.
        random: returns numbers from 0 to 1.

    Attributes:
        schedules: what starts runs by itself, at set times.
    """

    def __init__(
        self,
        store: str | Journal,
        equipment: Equipment,
        *,
        settings: Settings,
        clock: Clock,
        timers: Timers | None,
        random: Callable[[], float],
    ) -> None:
        self._equipment = equipment
        self._settings = settings
        self._store = store
        self._clock = clock
        self._timers = timers
        self._random = random
        self.schedules = Schedules()
        self._directory: Directory | None = None
        self._starter: Starter | None = None
        self._waking: Waking | None = None
        self._exit = AsyncExitStack()
        self._was_opened = False
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aenter__(self) -> Self:
        if self._was_opened:
            raise EngineClosedError("an engine is opened once; make a new one")
        self._was_opened = True
        async with AsyncExitStack() as stack:
            await self._open(stack)
            self._exit = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop admitting, let running steps finish for a while, write what is queued, and give up the store.

        Nothing is recorded as cancelled: the next engine goes on where this one ended. Another event loop
        than that of the engine is refused with a `WrongLoopError`.
        """
        if self._directory is not None:
            self._directory.check_loop()
        exit_, self._exit = self._exit, AsyncExitStack()
        await exit_.aclose()

    async def _open(self, stack: AsyncExitStack) -> None:
        loop = asyncio.get_running_loop()
        timers = self._timers or loop
        settings = self._settings
        journal = await open_owned(self._store)
        stack.push_async_callback(journal.aclose)
        directory = Directory(
            journal=journal,
            catalog=self._equipment.catalog,
            planners=self._equipment.planners,
            clock=self._clock,
            timers=timers,
            passivate=settings.passivate,
            max_active_runs=settings.max_active_runs,
        )
        stack.push_async_callback(directory.close)
        journal.on_ownership_lost(directory.fail)
        starter = Starter(directory, self._random, settings.max_starts_queued)
        directory.couriers = await start_couriers(
            stack, directory, self._equipment, starter, settings=settings, timers=timers, random=self._random
        )
        stack.push_async_callback(shut_down, directory)
        self._directory = directory
        self._starter = starter
        self._loop = loop
        self._waking = Waking(directory)
        directory.spawn(recover(directory), name="recover")
        stack.callback(self.schedules.open(directory, self._starter, self._equipment.planners, timers))

    def _open_parts(self) -> tuple[Directory, Starter]:
        if self._directory is None or self._starter is None:
            raise EngineClosedError(
                "the engine is not open; use it inside `async with Engine(...) as engine`"
            )
        return self._directory, self._starter
