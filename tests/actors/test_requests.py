"""What people ask of a run while it is on its way: another plan, a plan of their own, an effect undone."""

import asyncio
from typing import Any

import pytest

from midcourse import (
    Engine,
    GoalReached,
    InvalidInputError,
    Plan,
    ProposalRefusedError,
    RunHandle,
    RunParkedError,
    Step,
    ToolContext,
    tool,
)
from midcourse.domain.facts import (
    AttemptStopRequested,
    CompensationIssued,
    PlanAccepted,
    ProposalHeld,
    ReplanAnswered,
    StepCompleted,
    StepStarted,
)
from midcourse.domain.ids import digest
from midcourse.store import Append, JournalFailedError, OnDone
from midcourse.store.memory import MemoryJournal, MemoryStore
from midcourse.testing import ScriptedPlanner, TrialEngine, scripted_tool, wait_for_fact


class Slow:
    """A tool that ends when a test says so."""

    def __init__(self, **terms: Any) -> None:
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()
        self.stopped = asyncio.Event()

        @tool(name="slow", **terms)
        async def slow(*, context: ToolContext) -> str:
            self.begun.set()
            try:
                await self.may_end.wait()
            except asyncio.CancelledError:
                self.stopped.set()
                raise
            return f"done as {context.step}"

        self.tool = slow


def plan(*steps: str | Step, reason: str = "") -> Plan:
    return Plan([Step(tool_name=each) if isinstance(each, str) else each for each in steps], reason=reason)


async def topics(run: RunHandle) -> list[str]:
    return [record.topic async for record in run.facts()]


async def test_a_jump_has_its_answers() -> None:
    slow = Slow()
    planner = ScriptedPlanner(plan("slow", "more"), plan("more"))
    tools = [slow.tool, scripted_tool("more", "m")]
    async with TrialEngine(tools=tools, planners={"p": planner}) as engine:
        run = await engine.start("go")
        await slow.begun.wait()
        token = (await run.state()).revision_token
        assert await run.replan("it froze", revision_token=token, id="j1") == "ACCEPTED"
        assert await run.replan("it froze", revision_token=token, id="j1") == "ACCEPTED"
        assert await run.replan("it thawed", revision_token=token, id="j1") == "CONFLICT"
        assert await run.replan("it thawed", revision_token=token, id="j2") == "PROCESSING"
        assert await run.replan("it froze more", revision_token="of another", id="j3") == "STALE"
        assert await run.replan("no token") == "PROCESSING"
        slow.may_end.set()
        assert (await run.outcome(timeout_s=10)).result == "m"
        assert [record.fact async for record in run.facts() if record.topic == "replan_answered"] == [
            ReplanAnswered("j1", digest(["it froze", token]), "ACCEPTED"),
            ReplanAnswered("j3", digest(["it froze more", "of another"]), "STALE"),
        ]


async def test_a_person_proposes_while_a_step_is_in_flight_and_is_told_once_it_is_a_revision() -> None:
    slow = Slow()
    planner = ScriptedPlanner(plan("slow", "more"))
    async with TrialEngine(
        tools=[slow.tool, scripted_tool("more"), scripted_tool("other", "o")], planners={"p": planner}
    ) as engine:
        run = await engine.start("go")
        await slow.begun.wait()
        epoch = (await run.state()).epoch
        proposal = asyncio.create_task(run.propose(plan("other"), epoch=epoch, by="ann"))
        await wait_for_fact(run, ProposalHeld)
        assert not proposal.done()
        with pytest.raises(ProposalRefusedError) as refusal:
            await run.propose(plan("more"), epoch=epoch, by="bob")
        assert refusal.value.code == "stale"
        slow.may_end.set()
        assert await proposal == 2
        assert (await run.outcome(timeout_s=10)).result == "o"


async def test_a_proposal_that_waits_ends_with_its_run() -> None:
    slow = Slow(effect="read")
    async with TrialEngine(tools=[slow.tool, scripted_tool("more")]) as engine:
        run = await engine.start("go", plan=plan("slow", "more"))
        await slow.begun.wait()
        epoch = (await run.state()).epoch
        proposal = asyncio.create_task(run.propose(plan("more"), epoch=epoch))
        await wait_for_fact(run, ProposalHeld)
        await run.cancel("enough")
        with pytest.raises(ProposalRefusedError, match="the run was ended"):
            await proposal


async def test_a_proposal_that_is_no_good_any_more_once_it_is_taken_up_is_refused() -> None:
    slow = Slow()
    planner = ScriptedPlanner(plan("slow", "more"), GoalReached("so be it"))
    async with TrialEngine(tools=[slow.tool, scripted_tool("more")], planners={"p": planner}) as engine:
        run = await engine.start("go")
        await slow.begun.wait()
        epoch = (await run.state()).epoch
        proposal = asyncio.create_task(run.propose(plan("more"), epoch=epoch))
        await wait_for_fact(run, ProposalHeld)
        await run.signal("news")
        slow.may_end.set()
        with pytest.raises(ProposalRefusedError, match="more has happened"):
            await proposal
        assert (await run.outcome(timeout_s=10)).status == "completed"


async def test_a_step_that_cancels_on_replan_is_stopped_and_one_that_drains_is_not() -> None:
    slow = Slow(effect="read")
    planner = ScriptedPlanner(plan(Step(tool_name="slow", on_replan="cancel"), "more"), plan("more"))
    async with TrialEngine(tools=[slow.tool, scripted_tool("more", "m")], planners={"p": planner}) as engine:
        run = await engine.start("go")
        await slow.begun.wait()
        await run.replan("cheaper elsewhere")
        assert (await run.outcome(timeout_s=10)).result == "m"
        assert slow.stopped.is_set()
        assert [r.fact.reason async for r in run.facts() if isinstance(r.fact, AttemptStopRequested)] == [
            "cheaper elsewhere"
        ]


async def test_a_step_that_is_adopted_goes_on_through_the_revision() -> None:
    slow = Slow()

    def keep(context: Any) -> Plan:
        (open_,) = context.open_operations
        return plan(open_.step, "more")

    planner = ScriptedPlanner(plan(Step(id="long", tool_name="slow", on_replan="adopt"), "other"), keep)
    tools = [slow.tool, scripted_tool("more", "m"), scripted_tool("other")]
    async with TrialEngine(tools=tools, planners={"p": planner}) as engine:
        run = await engine.start("go")
        await slow.begun.wait()
        await run.replan("add more")
        async for record in run.facts():
            if isinstance(record.fact, PlanAccepted) and record.fact.revision == 2:
                slow.may_end.set()
        assert (await run.outcome()).result == "m"
        started = [r.fact.step async for r in run.facts() if isinstance(r.fact, StepStarted)]
        done = [r.fact.receipt.result async for r in run.facts() if isinstance(r.fact, StepCompleted)]
    assert (started, done) == (["long", "E1"], ["done as long", "m"])


async def test_an_adopting_step_that_is_left_out_is_undone_when_its_receipt_comes() -> None:
    slow = Slow(effect="reversible", undo="unslow")
    planner = ScriptedPlanner(plan(Step(tool_name="slow", on_replan="adopt"), "more"), plan("more"))
    tools = [slow.tool, scripted_tool("unslow", "undone", idempotent=True), scripted_tool("more", "m")]
    async with TrialEngine(tools=tools, planners={"p": planner}) as engine:
        run = await engine.start("go")
        await slow.begun.wait()
        await run.replan("without it")
        async for record in run.facts():
            if isinstance(record.fact, PlanAccepted) and record.fact.revision == 2:
                slow.may_end.set()
        assert (await run.outcome()).result == "m"
        causes = [r.fact.cause async for r in run.facts() if isinstance(r.fact, CompensationIssued)]
        states = {entry.tool: entry.state for entry in (await run.state()).ledger}
    assert states == {"user__slow": "undone", "user__more": "committed"}
    assert causes == ["late"]
    assert states == {"user__slow": "undone", "user__more": "committed"}


async def test_an_effect_is_undone_on_request() -> None:
    tools = [
        scripted_tool("book", "b", effect="reversible", undo="unbook"),
        scripted_tool("unbook", "u", idempotent=True),
    ]
    async with TrialEngine(tools=tools) as engine:
        run = await engine.start("go", plan=plan("book"))
        await run.outcome(timeout_s=10)
        (entry,) = (await run.state()).ledger
        with pytest.raises(InvalidInputError, match="takes one of undo=True, retry=True and waive=True"):
            await run.compensate(entry.operation)
        await run.compensate(entry.operation, undo=True, reason="the guest is ill", by="ann")
        state = await run.state()
        while state.status == "compensating":
            await asyncio.sleep(0)
            state = await run.state()
        assert (state.status, state.ledger[0].state) == ("completed", "undone")


class LosesSight(MemoryJournal):
    """A journal that records an append and cannot tell, as when the disk fails during a commit."""

    is_blind = False

    def submit(self, append: Append, on_done: OnDone) -> None:
        def blind(_result: object) -> None:
            on_done(JournalFailedError("the disk is gone"))

        super().submit(append, blind if self.is_blind else on_done)


async def test_a_jump_whose_recording_cannot_be_told_is_told_so_and_may_be_made_again() -> None:
    slow, store = Slow(effect="read"), MemoryStore()
    planner = ScriptedPlanner(plan("slow", "more"), plan("more"))
    tools = [slow.tool, scripted_tool("more", "m")]
    journal = LosesSight(store, owner=True)
    async with Engine(journal, tools=tools, planners={"p": planner}) as engine:
        run = await engine.start("go")
        await slow.begun.wait()
        token = (await run.state()).revision_token
        journal.is_blind = True
        assert await run.replan("it froze", revision_token=token, id="j1") == "OUTCOME_UNKNOWN"
        with pytest.raises(RunParkedError):
            await run.replan("it froze", revision_token=token, id="j1")
    async with Engine(MemoryJournal(store, owner=True), tools=tools, planners={"p": planner}) as engine:
        run = engine.run(run.id)
        assert await run.replan("it froze", revision_token=token, id="j1") == "ACCEPTED"
        assert (await run.outcome(timeout_s=10)).result == "m"
        assert (await run.state()).replans == 1
