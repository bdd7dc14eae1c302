"""Schedules of an engine, with a clock that is moved by hand."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from midcourse import (
    Engine,
    EngineClosedError,
    Goal,
    InvalidInputError,
    Plan,
    PlanInvalid,
    RunFilter,
    ScheduleNotFoundError,
    ScheduleState,
    Step,
    UnknownPlannerError,
)
from midcourse.actors.schedule_stream import write_schedule
from midcourse.actors.timers import HORIZON_S
from midcourse.domain.schedules import facts as f
from midcourse.domain.schedules import messages as m
from midcourse.domain.schedules.timing import Every, moment
from midcourse.store import Record
from midcourse.store.memory import MemoryJournal, MemoryStore
from midcourse.testing import ManualClock, ScriptedPlanner, ScriptedTool, TrialEngine, scripted_tool

BERLIN = ZoneInfo("Europe/Berlin")
HOUR, DAY = 3600, 86400
WORK = Plan((Step("work", "work"),))


def working() -> ScriptedTool:
    return scripted_tool("work", effect="read")


def waiting_for(gate: asyncio.Event, *more: str) -> ScriptedTool:
    """A tool whose first call waits."""

    async def wait(_context: object) -> str:
        await gate.wait()
        return "waited"

    return scripted_tool("work", wait, *(more or ["done"] * 9), effect="read")


async def facts_of(engine: TrialEngine, name: str) -> list[f.ScheduleFact]:
    with MemoryJournal(engine.store) as journal:
        return [record.fact for record in await journal.read(f"schedule/{name}")]  # type: ignore[misc]


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Let the loop turn until something holds; time stands still meanwhile."""
    async with asyncio.timeout(10):
        while not await condition():  # noqa: ASYNC110 - there is no event for what others have written
            await asyncio.sleep(0)


async def settled(engine: TrialEngine, name: str, *kinds: type[f.ScheduleFact]) -> list[f.ScheduleFact]:
    """Wait until a schedule has had exactly these kinds of facts since it was added; return them."""

    async def has_them() -> bool:
        return [type(fact) for fact in await facts_of(engine, name)][1:] == list(kinds)

    try:
        await until(has_them)
    except TimeoutError:
        assert [kind.__name__ for kind in kinds] == [
            type(fact).__name__ for fact in (await facts_of(engine, name))[1:]
        ]
    await rest()
    return (await facts_of(engine, name))[1:]


async def rest() -> None:
    """Let the engine come to rest, now that all is recorded: the next timer is set a few turns later."""
    for _ in range(20):
        await asyncio.sleep(0)


async def ended(engine: TrialEngine, count: int) -> list[str]:
    """Wait until so many runs are completed; return the keys of all."""

    async def are_there() -> bool:
        return len((await engine.runs(RunFilter(statuses=("completed",)))).runs) >= count

    await until(are_there)
    await rest()
    return sorted(run.key for run in (await engine.runs()).runs)


def clock_at(*local: int) -> ManualClock:
    return ManualClock(datetime(*local, tzinfo=BERLIN).timestamp())  # type: ignore[arg-type, misc]


FIRED, STARTED, QUEUED, SKIPPED = f.ScheduleFired, f.ScheduledRunStarted, f.ScheduleQueued, f.ScheduleSkipped


async def test_a_month_of_nights_in_which_the_clock_goes_forward() -> None:
    work = working()
    async with TrialEngine(tools=[work], clock=clock_at(2027, 3, 15, 12)) as engine:
        state = await engine.schedules.add("nightly", "x", cron="30 2 * * *", zone="Europe/Berlin", plan=WORK)
        assert isinstance(state, ScheduleState)
        for night in range(1, 31):
            engine.clock.advance(DAY)
            await ended(engine, night)
        keys = await ended(engine, 30)
    assert [f"schedule/nightly/2027-03-{day}T01:30:00Z" for day in range(16, 28)] == keys[:12]
    assert keys[12:14] == ["schedule/nightly/2027-03-28T01:00:00Z", "schedule/nightly/2027-03-29T00:30:00Z"]
    assert (len(keys), len(work.calls)) == (30, 30)


async def test_the_night_on_which_the_clock_goes_back_has_one_run() -> None:
    async with TrialEngine(tools=[working()], clock=clock_at(2027, 10, 30, 12)) as engine:
        await engine.schedules.add("nightly", "x", cron="30 2 * * *", zone="Europe/Berlin", plan=WORK)
        for _ in range(DAY // 900):
            engine.clock.advance(900)
            await asyncio.sleep(0)
        assert await ended(engine, 1) == ["schedule/nightly/2027-10-31T00:30:00Z"]
        assert len(await settled(engine, "nightly", FIRED, STARTED)) == 2


async def test_what_is_recorded_of_a_start() -> None:
    async with TrialEngine(tools=[working()]) as engine:
        await engine.schedules.add("hourly", "x", every_s=HOUR, plan=WORK, tags={"a": "b"}, by="ada")
        engine.clock.advance(HOUR)
        await ended(engine, 1)
        due = engine.clock()
        fired, started = await settled(engine, "hourly", FIRED, STARTED)
        (run,) = (await engine.runs()).runs
        records = [record async for record in engine.run(run.run_id).facts()]
        with MemoryJournal(engine.store) as journal:
            stream = await journal.read("schedule/hourly")
            assert list(journal.verify()) == []
            assert list(await journal.streams("schedule/")) == ["schedule/hourly"]
    assert f.ScheduleFired(due, f"schedule/hourly/{moment(due)}") == fired
    assert f.ScheduledRunStarted(due, run.run_id) == started
    assert {"schedule": "hourly", "due": moment(due), "a": "b"} == run.tags
    assert records[0].actor == "schedule:hourly"
    assert [(record.actor, record.cause) for record in stream] == [
        ("host:ada", 0),
        ("engine", 0),
        ("engine", 2),
    ]


async def test_a_planner_is_asked() -> None:
    planner = ScriptedPlanner(WORK)
    async with TrialEngine(tools=[working()], planners={"reports": planner}) as engine:
        await engine.schedules.add("hourly", "x", every_s=HOUR)
        engine.clock.advance(HOUR)
        await ended(engine, 1)
    assert len(planner.contexts) == 1


async def test_queue_starts_after_the_end_of_the_run_before() -> None:
    gate = asyncio.Event()
    async with TrialEngine(tools=[waiting_for(gate)]) as engine:
        await engine.schedules.add("hourly", "x", every_s=HOUR, plan=WORK, overlap="queue")
        for facts in ((FIRED, STARTED), (FIRED, STARTED, QUEUED), (FIRED, STARTED, QUEUED, SKIPPED)):
            engine.clock.advance(HOUR)
            await settled(engine, "hourly", *facts)
        (state,) = await engine.schedules.list()
        assert engine.clock() - HOUR == state.waiting
        gate.set()
        await settled(engine, "hourly", FIRED, STARTED, QUEUED, SKIPPED, FIRED, STARTED)
        assert len(await ended(engine, 2)) == 2


async def test_skip_starts_nothing_meanwhile() -> None:
    gate = asyncio.Event()
    async with TrialEngine(tools=[waiting_for(gate)]) as engine:
        await engine.schedules.add("hourly", "x", every_s=HOUR, plan=WORK)
        engine.clock.advance(HOUR)
        await settled(engine, "hourly", FIRED, STARTED)
        engine.clock.advance(HOUR)
        *_, skipped = await settled(engine, "hourly", FIRED, STARTED, SKIPPED)
        assert isinstance(skipped, SKIPPED)
        assert ("overlap", (await engine.runs()).runs[0].run_id) == (skipped.reason, skipped.run)
        gate.set()
        await ended(engine, 1)
        engine.clock.advance(HOUR)
        assert len(await ended(engine, 2)) == 2


async def test_allow_runs_side_by_side() -> None:
    gate = asyncio.Event()
    async with TrialEngine(tools=[waiting_for(gate)]) as engine:
        await engine.schedules.add("hourly", "x", every_s=HOUR, plan=WORK, overlap="allow")
        engine.clock.advance(HOUR)
        await settled(engine, "hourly", FIRED, STARTED)
        engine.clock.advance(HOUR)
        assert len(await ended(engine, 1)) == 2
        gate.set()
        await ended(engine, 2)


async def test_cancel_previous_starts_once_that_has_ended() -> None:
    gate = asyncio.Event()
    async with TrialEngine(tools=[waiting_for(gate)]) as engine:
        await engine.schedules.add("hourly", "x", every_s=HOUR, plan=WORK, overlap="cancel_previous")
        engine.clock.advance(HOUR)
        await settled(engine, "hourly", FIRED, STARTED)
        engine.clock.advance(HOUR)
        await settled(engine, "hourly", FIRED, STARTED, QUEUED, FIRED, STARTED)
        await ended(engine, 1)
        first, second = reversed((await engine.runs()).runs)
        assert (first.status, second.status) == ("cancelled", "completed")


@pytest.mark.parametrize(("catch_up", "count"), [("skip", 0), ("last", 1), ("all", 4)])
async def test_what_passed_between_two_engines(catch_up: f.CatchUp, count: int) -> None:
    store, clock = MemoryStore(), ManualClock()
    async with TrialEngine(tools=[working()], store=store, clock=clock) as engine:
        await engine.schedules.add(
            "hourly", "x", every_s=HOUR, plan=WORK, catch_up=catch_up, catch_up_limit=4, overlap="allow"
        )
    clock.advance(5.5 * HOUR)
    async with TrialEngine(tools=[working()], store=store, clock=clock) as engine:
        keys = await ended(engine, count)
        await settled(engine, "hourly", SKIPPED, *[FIRED] * count, *[STARTED] * count)
        begin = clock() - 5.5 * HOUR
        assert [f"schedule/hourly/{moment(begin + n * HOUR)}" for n in range(6 - count, 6)] == keys
        clock.advance(HOUR)
        assert len(await ended(engine, count + 1)) == count + 1


async def test_an_engine_that_lacks_the_planner_leaves_the_schedule_to_another(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store, clock = MemoryStore(), ManualClock()
    reports = {"reports": ScriptedPlanner(WORK)}
    async with TrialEngine(tools=[working()], planners=reports, store=store, clock=clock) as engine:
        await engine.schedules.add("hourly", "x", every_s=HOUR)
    async with TrialEngine(store=store, clock=clock) as engine:
        with caplog.at_level(logging.WARNING):
            clock.advance(HOUR)

            async def has_warned() -> bool:
                return "schedule hourly is left alone: planner 'reports' is not registered" in caplog.text

            await until(has_warned)
        assert await settled(engine, "hourly") == []
        (state,) = await engine.schedules.list()
        assert clock() == state.overdue_since
    async with TrialEngine(tools=[working()], planners=reports, store=store, clock=clock) as engine:
        assert len(await ended(engine, 1)) == 1


async def test_what_others_write_is_noticed() -> None:
    async with TrialEngine(tools=[working()]) as engine:
        at = engine.clock()
        terms = f.Terms(Every(HOUR), f.Start(Goal("x"), WORK))
        with MemoryJournal(engine.store) as other:
            await write_schedule(other, "hourly", m.AddSchedule(at=at, name="hourly", terms=terms))

            async def is_held() -> bool:
                engine.clock.advance(HOUR)
                return bool((await engine.runs()).runs)

            await until(is_held)
            await write_schedule(other, "hourly", m.PauseSchedule(at=engine.clock()))
            await asyncio.sleep(0)
            before = len((await engine.runs()).runs)
            engine.clock.advance(5 * HOUR)
            await write_schedule(other, "hourly", m.RemoveSchedule(at=engine.clock()))
            assert await engine.schedules.list() == []
            engine.clock.advance(5 * HOUR)
            await ended(engine, before)
            assert len((await engine.runs()).runs) == before


async def test_removed_and_paused_schedules_fall_due_no_more() -> None:
    work = working()
    async with TrialEngine(tools=[work]) as engine:
        await engine.schedules.add("removed", "x", every_s=HOUR, plan=WORK)
        await engine.schedules.add("paused", "x", every_s=HOUR, plan=WORK)
        await engine.schedules.remove("removed", "over", by="ada")
        await engine.schedules.pause("paused", "fair")
        engine.clock.advance(2.5 * HOUR)
        await engine.schedules.unpause("paused")
        (state,) = await engine.schedules.list(count=2)
        assert ("paused", (engine.clock() + HOUR / 2, engine.clock() + 1.5 * HOUR)) == (
            state.name,
            state.next,
        )
        engine.clock.advance(HOUR)
        assert len(await ended(engine, 1)) == 1
    assert len(work.calls) == 1


class JumpingClock(ManualClock):
    """A clock on the wall that is set, beside monotonic time that goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.set_by = 0.0

    def __call__(self) -> float:
        return super().__call__() + self.set_by


async def test_a_clock_that_is_set_back_starts_nothing_twice() -> None:
    clock = JumpingClock()
    async with TrialEngine(tools=[working()], clock=clock) as engine:
        await engine.schedules.add("hourly", "x", every_s=HOUR, plan=WORK)
        clock.advance(HOUR)
        await ended(engine, 1)
        clock.set_by = -HOUR / 2
        clock.advance(HOUR)
        (state,) = await engine.schedules.list()
        await settled(engine, "hourly", FIRED, STARTED)
        assert clock() + HOUR / 2 == state.next[0]
        clock.advance(HOUR / 2)
        assert len(await ended(engine, 2)) == 2


async def test_a_clock_that_is_set_forward_is_caught_up_with_soon() -> None:
    clock = JumpingClock()
    async with TrialEngine(tools=[working()], clock=clock) as engine:
        await engine.schedules.add("hourly", "x", every_s=HOUR, plan=WORK)
        clock.set_by = 10.5 * HOUR
        clock.advance(2 * HORIZON_S)
        assert len(await ended(engine, 1)) == 1
        skipped, _, _ = await settled(engine, "hourly", SKIPPED, FIRED, STARTED)
        assert isinstance(skipped, SKIPPED)
        assert skipped.until - skipped.due == 8 * HOUR


async def test_many_schedules_have_one_timer() -> None:
    async with TrialEngine(tools=[working()]) as engine:
        for number in range(50):
            await engine.schedules.add(f"s{number}", "x", every_s=HOUR + number, plan=WORK)
        pending = [alarm for alarm in engine.clock._alarms if alarm.callback is not None]  # noqa: SLF001
        assert len(pending) <= 2  # one of runs, one of schedules
        engine.clock.advance(HOUR + 50)
        assert len(await ended(engine, 50)) == 50


async def test_a_key_that_somebody_else_has_used_is_shown_and_not_tried_again() -> None:
    async with TrialEngine(tools=[working()]) as engine:
        await engine.schedules.add("hourly", "x", every_s=HOUR, plan=WORK)
        key = f"schedule/hourly/{moment(engine.clock() + HOUR)}"
        await engine.start("another goal", plan=WORK, key=key)
        engine.clock.advance(HOUR)
        await settled(engine, "hourly", FIRED, f.ScheduledStartRefused)
        (state,) = await engine.schedules.list()
        assert "which was started with another goal" in state.problem
        engine.clock.advance(HOUR)
        await ended(engine, 2)
        (state,) = await engine.schedules.list()
        assert not state.problem


async def test_what_is_wrong_is_said_before_anything_is_recorded() -> None:
    async with TrialEngine(tools=[working()], planners={"reports": ScriptedPlanner()}) as engine:
        with pytest.raises(UnknownPlannerError, match="report"):
            await engine.schedules.add("n", "x", every_s=HOUR, planner="report")
        with pytest.raises(PlanInvalid, match="wrok"):
            await engine.schedules.add("n", "x", every_s=HOUR, plan=Plan((Step("a", "wrok"),)))
        with pytest.raises(InvalidInputError, match=r"zone is 'Mars'"):
            await engine.schedules.add("n", "x", cron="0 2 * * *", zone="Mars", plan=WORK)
        with pytest.raises(ScheduleNotFoundError, match="no schedule 'n'; the store has none"):
            await engine.schedules.remove("n")
        await engine.schedules.add("nightly", "x", every_s=HOUR, plan=WORK)
        with pytest.raises(ScheduleNotFoundError, match=r"the store has nightly. Did you mean 'nightly'\?"):
            await engine.schedules.pause("nihgtly")
        with pytest.raises(InvalidInputError, match="reason is 5"):
            await engine.schedules.remove("nightly", 5)  # type: ignore[arg-type]
        with pytest.raises(InvalidInputError, match="there already, with another timing"):
            await engine.schedules.add("nightly", "x", every_s=2 * HOUR, plan=WORK)
        assert len(await engine.schedules.list()) == 1
    with pytest.raises(EngineClosedError):
        await engine.schedules.list()
    with pytest.raises(EngineClosedError):
        await Engine("memory:").schedules.add("n", "x", every_s=HOUR, plan=WORK)


async def test_a_schedule_is_no_run() -> None:
    async with TrialEngine(tools=[working()]) as engine:
        await engine.schedules.add("hourly", "x", every_s=HOUR, plan=WORK)
        assert (await engine.runs()).runs == []
        assert await engine.attention() == []
        with MemoryJournal(engine.store) as journal:
            assert await journal.get_index("schedule/hourly") is None
            records: list[Record] = await journal.read("schedule/hourly")
    assert [record.topic for record in records] == ["schedule_added"]
