import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from midcourse import (
    Engine,
    InvalidInputError,
    MessageRefused,
    MidcourseError,
    Plan,
    RunNotFoundError,
    RunParkedError,
    Settings,
    Step,
    tool,
)
from midcourse.actors.conflicts import MOST_CONFLICTS
from midcourse.actors.home import Look
from midcourse.actors.loading import load
from midcourse.actors.writer import write
from midcourse.domain.facts import PlanningFailed, SignalReceived, StepStarted, UnwindingBegan
from midcourse.domain.messages import ReceiveSignal, RequestCancel
from midcourse.store import (
    Append,
    Journal,
    JournalFailedError,
    OnDone,
    VersionConflictError,
    open_journal,
)
from midcourse.store.memory import MemoryJournal, MemoryStore
from midcourse.testing import ScriptedPlanner, scripted_tool, wait_for_fact


@tool(effect="read")
async def double(n: int) -> int:
    """Return twice a number."""
    return 2 * n


DOUBLING = Plan(tuple(Step(tool_name="double", input={"n": n}) for n in range(5)))


class Intercepted:
    """A journal whose appends go through a function first, which says whether they go on."""

    def __init__(self, journal: Journal, intercept: Callable[[Append, OnDone], bool]) -> None:
        self._journal = journal
        self._intercept = intercept

    def submit(self, append: Append, on_done: OnDone) -> None:
        if self._intercept(append, on_done):
            self._journal.submit(append, on_done)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)


def intercepted(journal: Journal, intercept: Callable[[Append, OnDone], bool]) -> Journal:
    return cast(Journal, Intercepted(journal, intercept))


class Interloper:
    """Writes a signal to every run just before an append of its engine, a number of times."""

    def __init__(self, store: MemoryStore, times: int) -> None:
        self.journal = MemoryJournal(store)
        self.left = times
        self.done: list[Any] = []

    def __call__(self, append: Append, _on_done: OnDone) -> bool:
        if self.left and append.expected_version:
            self.left -= 1
            foreign = Append(
                append.run_id,
                append.expected_version,
                append.prev_hash,
                [(1.0, "interloper", 0, SignalReceived(f"s{self.left}"))],
            )
            self.journal.submit(foreign, self.done.append)
            self.journal.flush()
        return True


async def test_an_append_that_meets_a_foreign_one_is_decided_again() -> None:
    store = MemoryStore()
    interloper = Interloper(store, 3)
    journal = intercepted(MemoryJournal(store, owner=True), interloper)
    async with interloper.journal, Engine(journal, tools=[double]) as engine:
        run = await engine.start("double", plan=DOUBLING)
        outcome = await run.outcome(timeout_s=10)
        topics = [record.topic async for record in run.facts()]
        assert list(journal.verify()) == []
    assert [entry.receipt.result for entry in outcome.ledger] == [0, 2, 4, 6, 8]
    assert (topics.count("signal_received"), topics.count("step_started")) == (3, 5)


async def test_an_asker_is_answered_once_a_conflict_is_over() -> None:
    store = MemoryStore()
    interloper = Interloper(store, 0)
    journal = intercepted(MemoryJournal(store, owner=True), interloper)
    never = scripted_tool("double", lambda _context, **_: asyncio.Event().wait(), arguments=["n"])
    async with interloper.journal, Engine(journal, tools=[never]) as engine:
        run = await engine.start("double", plan=DOUBLING)
        interloper.left = 1
        await run.signal("mine")
        assert [signal.name for signal in (await run.state()).signals] == ["s0", "mine"]
        await run.cancel()


async def test_a_run_that_others_write_to_faster_than_its_engine_goes_on_in_the_end() -> None:
    store = MemoryStore()
    interloper = Interloper(store, 3 * MOST_CONFLICTS)
    journal = intercepted(MemoryJournal(store, owner=True), interloper)
    async with interloper.journal, Engine(journal, tools=[double]) as engine:
        run = await engine.start("double", plan=DOUBLING)
        outcome = await run.outcome(timeout_s=10)
        topics = [record.topic async for record in run.facts()]
    assert [entry.receipt.result for entry in outcome.ledger] == [0, 2, 4, 6, 8]
    assert topics.count("signal_received") == 3 * MOST_CONFLICTS


async def test_a_run_whose_append_is_refused_though_nothing_is_new_is_parked() -> None:
    def refuse(append: Append, on_done: OnDone) -> bool:
        at = append.expected_version
        if at:
            asyncio.get_running_loop().call_soon(on_done, VersionConflictError(append.run_id, at, at))
        return not at

    journal = intercepted(MemoryJournal(MemoryStore(), owner=True), refuse)
    async with Engine(journal, tools=[double]) as engine:
        run = await engine.start("double", plan=DOUBLING)
        with pytest.raises(RunParkedError, match="expected at version"):
            await run.outcome(timeout_s=10)
        assert list(engine.parked) == [run.id]


async def test_a_run_is_parked_when_its_facts_cannot_be_recorded(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    failed: list[str] = []

    def fail_second(append: Append, on_done: OnDone) -> bool:
        if append.expected_version < 5 or failed not in ([], [append.run_id]):
            return True
        failed.append(append.run_id)
        asyncio.get_running_loop().call_soon(on_done, JournalFailedError("the disk is on fire"))
        return False

    journal = intercepted(open_journal(url, owner=True), fail_second)
    async with Engine(journal, tools=[double]) as engine:
        run = await engine.start("double", plan=DOUBLING)
        with pytest.raises(RunParkedError, match="the disk is on fire") as raised:
            await run.outcome(timeout_s=10)
        assert isinstance(raised.value.__cause__, JournalFailedError)
        with pytest.raises(RunParkedError, match="the disk is on fire"):
            await run.signal("news")
        with pytest.raises(RunParkedError, match="the disk is on fire"):
            await run.outcome()
        assert {run_id: str(error) for run_id, error in engine.parked.items()} == {run.id: str(raised.value)}
        assert (await run.state()).version == 6
        other = await engine.start("double", plan=DOUBLING)
        assert (await other.outcome(timeout_s=10)).result == 8
    async with Engine(url, tools=[double]) as engine:
        assert (await engine.run(run.id).outcome(timeout_s=10)).result == 8


async def test_only_the_message_that_cannot_be_recorded_is_refused() -> None:
    never = scripted_tool("double", lambda _context, **_: asyncio.Event().wait(), arguments=["n"])
    async with Engine("memory:", tools=[never]) as engine:
        run = await engine.start("double", plan=DOUBLING)
        answers = await asyncio.gather(
            run.signal("good", 1),
            run.signal("bad", object()),
            run.signal("bad \ud800"),
            run.signal("good", 2),
            return_exceptions=True,
        )
        state = await run.state()
        await run.cancel()
    assert [type(answer) for answer in answers] == [
        type(None),
        InvalidInputError,
        InvalidInputError,
        type(None),
    ]
    assert [(signal.name, signal.payload) for signal in state.signals] == [("good", 1), ("good", 2)]
    assert [step.attempt for step in state.steps] == [1, 0, 0, 0, 0]


async def test_a_plan_that_cannot_be_recorded_is_a_failure_of_its_planner() -> None:
    odd = Plan((Step(tool_name="double", input={"n": object()}),))
    planner = ScriptedPlanner(odd, DOUBLING)
    async with Engine("memory:", tools=[double], planners={"p": planner}) as engine:
        run = await engine.start("double")
        record = await wait_for_fact(run, PlanningFailed)
        assert record.fact.failure.kind == "planner"
        assert (await run.outcome(timeout_s=10)).result == 8


async def test_a_refused_message_leaves_its_neighbours_alone() -> None:
    never = scripted_tool("double", lambda _context, **_: asyncio.Event().wait(), arguments=["n"])
    async with Engine("memory:", tools=[never]) as engine:
        run = await engine.start("double", plan=DOUBLING)
        answers = await asyncio.gather(
            run.signal(""), run.signal("news"), run.replan("for fun"), return_exceptions=True
        )
        await run.cancel()
    assert [type(answer) for answer in answers] == [MessageRefused, type(None), MessageRefused]


async def test_a_run_that_does_not_exist_is_not_found() -> None:
    async with Engine("memory:") as engine:
        nowhere = engine.run("nowhere")
        for ask in (nowhere.signal("x"), nowhere.cancel(), nowhere.state(), nowhere.outcome()):
            with pytest.raises(RunNotFoundError, match="no run 'nowhere' in memory:"):
                await ask
        with pytest.raises(RunNotFoundError, match="no run 'nowhere'"):
            await anext(nowhere.facts())


async def test_a_record_that_cannot_be_read_parks_its_run_only(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    hesitant = {"p": ScriptedPlanner(hesitate, hesitate)}
    async with Engine(url, tools=[double], planners=hesitant) as engine:
        broken = await engine.start("double")
        whole = await engine.start("double")
    _edit(tmp_path / "runs.db", "UPDATE stored_events SET state = X'78' WHERE originator_id = ?", broken.id)
    async with Engine(url, tools=[double], planners={"p": ScriptedPlanner(DOUBLING)}) as engine:
        assert (await engine.run(whole.id).outcome(timeout_s=10)).result == 8
        with pytest.raises(RunParkedError, match="is damaged"):
            await engine.run(broken.id).signal("hello")


async def hesitate(_context: object) -> Plan:
    await asyncio.Event().wait()
    return DOUBLING


def _edit(database: Path, statement: str, *parameters: str) -> None:
    import sqlite3

    connection = sqlite3.connect(database)
    connection.execute(statement, parameters)
    connection.commit()
    connection.close()


# ------------------------------------------------------------------------------------- other processes

WRITER = """
import asyncio, sys
from midcourse.actors.writer import write
from midcourse.domain.messages import ReceiveSignal
from midcourse.store import open_journal

async def main(url, run_id, count):
    async with open_journal(url) as journal:
        for number in range(count):
            await write(journal, run_id, ReceiveSignal(at=1.0, actor="os:me", name="news", payload=number))

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


async def test_another_process_writes_while_the_run_goes_on(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    running = asyncio.Event()

    @tool(effect="irreversible", idempotent=True)
    async def work(n: int) -> int:
        running.set()
        if n == 299:
            await ended.wait()
        return n

    ended = asyncio.Event()
    plan = Plan(tuple(Step(tool_name="work", input={"n": n}) for n in range(300)))
    async with Engine(url, tools=[work]) as engine:
        run = await engine.start("work", plan=plan)
        await running.wait()
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", WRITER, url, run.id, "40")
        assert await process.wait() == 0
        ended.set()
        outcome = await run.outcome(timeout_s=30)
        signals = [
            (record.actor, record.fact.payload)
            async for record in run.facts()
            if isinstance(record.fact, SignalReceived)
        ]
    assert [entry.receipt.result for entry in outcome.ledger] == list(range(300))
    assert signals == [("os:me", number) for number in range(40)]
    with open_journal(url, read_only=True) as journal:
        assert list(journal.verify()) == []


async def test_a_cancel_by_another_process_stops_what_runs(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    cancelled = asyncio.Event()

    @tool(effect="irreversible", idempotent=True)
    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async with Engine(url, tools=[wait]) as engine, open_journal(url) as other:
        run = await engine.start("wait", plan=Plan((Step(tool_name="user__wait"),)))
        await wait_for_fact(run, StepStarted)
        await write(other, run.id, RequestCancel(at=1.0, actor="os:me", reason="no more"))
        await asyncio.wait_for(cancelled.wait(), 10)
        record = await wait_for_fact(run, UnwindingBegan)
        assert (record.actor, record.fact.status) == ("os:me", "cancelled")


async def test_a_run_that_others_have_written_to_is_taken_up(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    unknown = scripted_tool("work", LookupError("?"), effect="irreversible")
    async with Engine(url, tools=[unknown], planners={"p": ScriptedPlanner()}) as engine:
        run = await engine.start("x", planner="p")
        async with open_journal(url) as other:
            await write(other, run.id, RequestCancel(at=1.0, reason="enough"))
        assert (await run.outcome(timeout_s=10)).status in ("cancelled", "failed")


async def test_a_writer_tries_again_when_the_run_moves_under_it() -> None:
    store = MemoryStore()
    interloper = Interloper(store, 2)
    async with MemoryJournal(store, owner=True) as mine, interloper.journal:
        never = scripted_tool("double", lambda _context, **_: asyncio.Event().wait(), arguments=["n"])
        async with Engine(MemoryJournal(store), tools=[never]) as engine:
            run = await engine.start("double", plan=DOUBLING)
            slow = _Racing(mine, interloper)
            await write(cast(Journal, slow), run.id, ReceiveSignal(at=1.0, name="mine"))
            found = await load(mine, run.id)
            assert found is not None
            assert [signal.name for signal in found.run.signals] == ["s1", "s0", "mine"]
            await run.cancel()


class _Racing(Intercepted):
    async def append(self, append: Append) -> object:
        self._intercept(append, lambda _: None)
        return await self._journal.append(append)


async def test_a_mistake_inside_parks_the_run_instead_of_leaving_it_hanging() -> None:
    never = scripted_tool("double", lambda _context, **_: asyncio.Event().wait(), arguments=["n"])
    settings = Settings(drain_s=0.0, close_grace_s=0.0)
    async with Engine("memory:", tools=[never], settings=settings) as engine:
        run = await engine.start("double", plan=DOUBLING)
        waiting = asyncio.create_task(run.outcome(timeout_s=30))
        await wait_for_fact(run, StepStarted)
        asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
        broken = Look(lambda _run: 1 // 0)
        with pytest.raises(MidcourseError):
            await engine._directory.ask(run.id, broken)  # type: ignore[union-attr]  # noqa: SLF001
        with pytest.raises(RunParkedError, match="division"):
            await waiting
        with pytest.raises(RunParkedError, match="division"):
            await run.signal("news")
