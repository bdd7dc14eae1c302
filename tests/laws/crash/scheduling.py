"""Scenarios of schedules: a run that is due, one that waits for another, due times that were missed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

from midcourse import Engine, Plan, RunFilter, Step, tool
from midcourse.actors.timers import HORIZON_S
from midcourse.domain.schedules.facts import Overlap
from midcourse.store import Journal
from midcourse.testing import ManualClock

BEGINNING = 1_900_000_000
HOUR = 3600
STREAM = "schedule/hourly"
PLAN = Plan([Step("work", "work")])


class Wall(ManualClock):
    """A clock that can be set forward, beside monotonic time that goes on."""

    set_by = 0.0

    def __call__(self) -> float:
        return super().__call__() + self.set_by


class Play:
    """An hourly schedule in one life of a process.

    In the first life it is added, and time goes on by hand. A later life begins at the first due time,
    whatever the one before has seen: so its clock may be set back.

    Args:
        journal: where the facts go.
        clock: the time.
    """

    def __init__(self, journal: Journal, clock: Wall) -> None:
        self.clock = clock
        self.gate = asyncio.Event()
        self._journal = journal

        @tool(effect="read")
        async def work() -> None:
            await self.gate.wait()

        self.engine = Engine(journal, tools=[work], clock=clock, timers=clock)

    async def seen(self, topic: str, count: int = 1) -> None:
        """Wait until the schedule has had so many facts of a kind."""
        async with aclosing(self._journal.follow(0)) as records:
            async for record in records:
                count -= record.run_id == STREAM and record.topic == topic
                if not count:
                    return

    async def ended(self, *statuses: str) -> Any:
        """Wait until the runs have ended so, and return what there is then."""
        runs = (await self.engine.runs()).runs
        outcomes = [await self.engine.run(run.run_id).outcome(timeout_s=20) for run in reversed(runs)]
        assert sorted(statuses) == sorted(outcome.status for outcome in outcomes)
        assert not (await self.engine.runs(RunFilter(active=True))).runs
        facts = [(record.topic, record.fact) for record in await self._journal.read(STREAM)]
        return [
            sorted((run.key, run.status) for run in (await self.engine.runs()).runs),
            [(topic, getattr(fact, "due", 0.0) - BEGINNING) for topic, fact in facts],
            [problem.what for problem in self._journal.verify()],
        ]


@asynccontextmanager
async def play(journal: Journal, *, first_hour: bool = True, **policies: Any) -> AsyncIterator[Play]:
    """Live with an engine and the schedule; by default until its first due time."""
    is_first = not await journal.read(STREAM)
    it = Play(journal, Wall(float(BEGINNING if is_first else BEGINNING + HOUR * first_hour)))
    async with it.engine:
        await it.engine.schedules.add("hourly", "work", every_s=HOUR, anchor=BEGINNING, plan=PLAN, **policies)
        if is_first and first_hour:
            it.clock.advance(HOUR)
        yield it


async def one_start(journal: Journal, _folder: Path) -> Any:
    """One due time, one run."""
    async with play(journal) as it:
        it.gate.set()
        await it.seen("scheduled_run_started")
        return await it.ended("completed")


async def one_after_the_other(journal: Journal, _folder: Path, overlap: Overlap) -> Any:
    """A second due time waits for the end of the first run, or has it cancelled."""
    async with play(journal, overlap=overlap) as it:
        await it.seen("scheduled_run_started")
        it.clock.advance(HOUR)
        await it.seen("schedule_queued")
        if overlap == "cancel_previous":
            await it.seen("schedule_fired", 2)
        it.gate.set()
        await it.seen("scheduled_run_started", 2)
        return await it.ended("cancelled" if overlap == "cancel_previous" else "completed", "completed")


async def caught_up(journal: Journal, _folder: Path) -> Any:
    """The clock is set forward over three due times; two of them are made up for."""
    policies = {"overlap": "allow", "catch_up": "all", "catch_up_limit": 2}
    async with play(journal, first_hour=False, **policies) as it:
        it.gate.set()
        it.clock.set_by = 3.5 * HOUR
        it.clock.advance(2 * HORIZON_S)
        await it.seen("scheduled_run_started", 2)
        return await it.ended("completed", "completed")
