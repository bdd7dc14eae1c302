"""An engine for tests: in memory, at a standstill in time, the same in every run."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar, cast

from ...domain.authority import Authority
from ...domain.errors import MidcourseError
from ...domain.facts import Fact
from ...store.memory import MemoryJournal, MemoryStore
from ..engine import Engine
from ..handle import RunHandle
from ..registry import AnyPlanner
from ..settings import Settings
from ..tools import Tool
from .clock import ManualClock

F = TypeVar("F", bound=Fact)


class TrialEngine(Engine):
    """An `Engine` on a store in memory, with a clock that a test moves, and random numbers that repeat.

    Args:
        tools: as for `Engine`.
        planners: as for `Engine`.
        settings: as for `Engine`.
        authority: as for `Engine`.
        store: what an earlier engine has left; a new store if it is left out.
        clock: the clock; a new one if it is left out.
        seed: of its random numbers.

    Attributes:
        store: hand it to another `TrialEngine` to see what that one makes of it.
        clock: the clock.
    """

    def __init__(
        self,
        *,
        tools: Iterable[Tool | Callable[..., Any]] = (),
        planners: Mapping[str, AnyPlanner] | None = None,
        settings: Settings | None = None,
        authority: Authority | None = None,
        store: MemoryStore | None = None,
        clock: ManualClock | None = None,
        seed: int = 0,
    ) -> None:
        self.store = store or MemoryStore()
        self.clock = clock or ManualClock()
        super().__init__(
            MemoryJournal(self.store, owner=True),
            tools=tools,
            planners=planners,
            settings=settings,
            authority=authority,
            clock=self.clock,
            timers=self.clock,
            random=random.Random(seed).random,  # noqa: S311 - numbers that repeat are wanted
        )


class FactMissingError(MidcourseError, AssertionError):
    """A run has ended, or time was up, without the fact that was waited for."""


class RecordOf(Protocol[F]):
    """A record whose fact is of a kind that is known; see `midcourse.Record`."""

    run_id: str
    version: int
    at: float
    actor: str
    cause: int
    fact: F
    topic: str
    position: int


async def wait_for_fact(
    run: RunHandle,
    fact: type[F],
    *,
    where: Callable[[F], bool] = lambda _fact: True,
    after: int = 0,
    timeout_s: float = 10.0,
) -> RecordOf[F]:
    """Wait for a fact of a run, and return its record.

    Args:
        run: the run.
        fact: the kind of fact.
        where: what else must be true of it.
        after: version of the last record that does not count.
        timeout_s: seconds of real time to wait.

    Raises:
        FactMissingError: it did not come; the message lists those that did.
    """
    seen: list[str] = []
    try:
        async with asyncio.timeout(timeout_s):
            async for record in run.facts(after=after):
                if isinstance(record.fact, fact) and where(record.fact):
                    return cast(RecordOf[F], record)
                seen.append(record.topic)
    except TimeoutError:
        end = f"within {timeout_s:g} s"
    else:
        end = "before the end"
    raise FactMissingError(
        f"run {run.id} had no {fact.topic} {end}; it had {', '.join(seen) or 'nothing new'}"
    )
