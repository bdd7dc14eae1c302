import asyncio
from typing import Any

import pytest

from midcourse import (
    InvalidInputError,
    MessageRefused,
    Plan,
    ProposalRefusedError,
    Receipt,
    Step,
    ToolError,
)
from midcourse.domain.facts import (
    CompensationCompleted,
    CompensationParked,
    OutcomeSettled,
    OutcomeUnknown,
    ReplanRequested,
    RunCompleted,
    SignalReceived,
    StepStarted,
)
from midcourse.testing import ScriptedPlanner, ScriptedTool, TrialEngine, scripted_tool, wait_for_fact


class Gate:
    """An outcome of a scripted tool that waits until it is opened."""

    def __init__(self, result: Any = None) -> None:
        self.opened = asyncio.Event()
        self.result = result

    async def __call__(self, _context: object, **_arguments: object) -> Any:
        await self.opened.wait()
        return self.result


def steps(*names: str) -> Plan:
    return Plan(tuple(Step(id=f"s{n}", tool_name=name) for n, name in enumerate(names)))


async def test_the_facts_of_a_run_come_as_they_land_and_end_with_it() -> None:
    gate = Gate("done")
    async with TrialEngine(tools=[scripted_tool("work", gate)]) as engine:
        run = await engine.start("work", plan=steps("work"))
        topics: list[str] = []
        async for record in run.facts():
            topics.append(record.topic)
            if record.topic == "step_started":
                gate.opened.set()
        assert topics == [
            "run_started",
            "plan_proposed",
            "plan_accepted",
            "step_started",
            "step_completed",
            "run_completed",
        ]
        assert [record.version async for record in run.facts(after=4)] == [5, 6]
        assert [record async for record in run.facts(after=6)] == []


async def test_a_cancelled_waiter_leaves_the_run_alone() -> None:
    gate = Gate("done")
    async with TrialEngine(tools=[scripted_tool("work", gate)]) as engine:
        run = await engine.start("work", plan=steps("work"))
        waiters = [asyncio.create_task(run.outcome()) for _ in range(3)]
        await wait_for_fact(run, StepStarted)
        waiters[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiters[0]
        gate.opened.set()
        assert [(await waiter).result for waiter in waiters[1:]] == ["done", "done"]


async def test_waiting_may_have_an_end() -> None:
    gate = Gate("done")
    async with TrialEngine(tools=[scripted_tool("work", gate)]) as engine:
        run = await engine.start("work", plan=steps("work"))
        with pytest.raises(TimeoutError, match=f"run {run.id} has not ended within 0 s; it goes on"):
            await run.outcome(timeout_s=0)
        gate.opened.set()
        assert (await run.outcome(timeout_s=10)).result == "done"


async def test_the_state_shows_what_is_durable() -> None:
    gate = Gate("second")
    tools = [scripted_tool("work", "first", gate, effect="read"), scripted_tool("more")]
    async with TrialEngine(tools=tools) as engine:
        run = await engine.start("work", plan=steps("work", "work", "more"), tags={"a": "b"}, key="k")
        await wait_for_fact(run, StepStarted, where=lambda fact: fact.step == "s1")
        state = await run.state()
        gate.opened.set()
        await run.outcome(timeout_s=10)
        final = await run.state()
    assert (state.status, state.revision, state.author) == ("running", 1, "human")
    assert (state.tags, state.key, state.goal.text) == ({"a": "b"}, "k", "work")
    assert [(step.id, step.state, step.result) for step in state.steps] == [
        ("s0", "done", "first"),
        ("s1", "running", None),
        ("s2", "pending", None),
    ]
    assert (final.status, final.result, [step.state for step in final.steps]) == (
        "completed",
        None,
        ["done", "done", "done"],
    )


async def test_a_signal_with_an_id_is_taken_once() -> None:
    gate = Gate()
    async with TrialEngine(tools=[scripted_tool("work", gate)]) as engine:
        run = await engine.start("work", plan=steps("work"))
        for _ in range(3):
            await run.signal("news", {"n": 1}, id="same", relevant=False, by="bob")
        gate.opened.set()
        await run.outcome(timeout_s=10)
        signals = [
            (record.actor, record.fact.payload)
            async for record in run.facts()
            if isinstance(record.fact, SignalReceived)
        ]
        assert signals == [("host:bob", {"n": 1})]
        with pytest.raises(MessageRefused, match="has ended"):
            await run.signal("late")


async def test_cancel_undoes_what_can_be_undone() -> None:
    gate = Gate()
    tools = [
        scripted_tool("take", "taken", effect="reversible", undo="give_back", arguments=["n"]),
        scripted_tool("give_back", idempotent=True, arguments=["n"]),
        scripted_tool("wait", gate, effect="read"),
    ]
    plan = Plan((Step(tool_name="take", input={"n": 3}), Step(tool_name="user__wait")))
    async with TrialEngine(tools=tools) as engine:
        run = await engine.start("take", plan=plan)
        await wait_for_fact(run, StepStarted, where=lambda fact: fact.tool == "user__wait")
        await run.cancel("no more", by="bob")
        outcome = await run.outcome(timeout_s=10)
        undone = await wait_for_fact(run, CompensationCompleted)
    assert outcome.failure is not None
    assert (outcome.status, outcome.failure.message) == ("cancelled", "no more")
    assert [entry.state for entry in outcome.ledger] == ["undone"]
    assert tools[1].calls[0].operation == undone.fact.operation
    assert tools[1].calls[0].arguments["n"] == 3


async def unknown_outcome(engine: TrialEngine) -> tuple[Any, str]:
    run = await engine.start("work", plan=steps("work"))
    return run, (await wait_for_fact(run, OutcomeUnknown)).fact.operation


def doubtful() -> ScriptedTool:
    from midcourse import OutcomeUnknownError

    return scripted_tool("work", OutcomeUnknownError("connection lost"), "second")


async def test_an_unknown_outcome_is_settled_as_happened() -> None:
    async with TrialEngine(tools=[doubtful()]) as engine:
        run, operation = await unknown_outcome(engine)
        waiting = await engine.attention()
        assert [(each.items[0].kind, each.items[0].subject) for each in waiting] == [
            ("unknown_outcome", operation)
        ]
        await run.settle(operation, happened=Receipt("first"), reason="seen in the books", by="bob")
        outcome = await run.outcome(timeout_s=10)
        assert (outcome.result, [entry.receipt.result for entry in outcome.ledger]) == ("first", ["first"])
        assert (await wait_for_fact(run, OutcomeSettled)).actor == "host:bob"
        assert await engine.attention() == []


async def test_an_unknown_outcome_is_settled_as_not_happened() -> None:
    work = doubtful()
    async with TrialEngine(tools=[work]) as engine:
        run, operation = await unknown_outcome(engine)
        with pytest.raises(MessageRefused, match="needs a reason"):
            await run.settle(operation, not_happened=True)
        await run.settle(operation, not_happened=True, reason="not in the books")
        assert (await run.outcome(timeout_s=10)).result == "second"
    assert [call.operation for call in work.calls] == [operation, operation]


async def test_settling_says_one_thing() -> None:
    async with TrialEngine(tools=[doubtful()]) as engine:
        run, operation = await unknown_outcome(engine)
        with pytest.raises(InvalidInputError, match="takes one of happened"):
            await run.settle(operation)
        with pytest.raises(InvalidInputError, match="takes one of happened"):
            await run.settle(operation, happened=1, not_happened=True)
        with pytest.raises(MessageRefused, match="no unknown outcome"):
            await run.settle("other", happened=None)
        await run.settle(operation, happened=None)
        assert (await run.outcome(timeout_s=10)).result is None


async def hesitate(_context: object) -> Plan:
    await asyncio.Event().wait()
    return steps("work")


async def test_a_person_proposes_a_plan() -> None:
    gate = Gate("slow")
    tools = [scripted_tool("work", gate), scripted_tool("other", "better")]
    planner = ScriptedPlanner(hesitate)
    async with TrialEngine(tools=tools, planners={"p": planner}) as engine:
        run = await engine.start("work")
        await run.signal("news")
        epoch = (await run.state()).epoch
        with pytest.raises(ProposalRefusedError, match="stale") as stale:
            await run.propose(steps("other"), epoch=epoch - 1)
        with pytest.raises(ProposalRefusedError, match="unknown tool 'nope'") as invalid:
            await run.propose(steps("nope"), epoch=epoch)
        assert (stale.value.code, invalid.value.code) == ("stale", "invalid")
        assert await run.propose(steps("other"), epoch=epoch, by="bob") == 1
        assert (await run.outcome(timeout_s=10)).result == "better"


async def test_a_person_asks_for_another_plan() -> None:
    gate = Gate("slow")
    tools = [scripted_tool("work", gate, effect="read"), scripted_tool("other", "better")]
    planner = ScriptedPlanner(steps("work", "other"), Plan((Step(id="t0", tool_name="other"),)))
    async with TrialEngine(tools=tools, planners={"p": planner}) as engine:
        run = await engine.start("work")
        await wait_for_fact(run, StepStarted)
        await run.replan("the first way is closed", by="bob")
        gate.opened.set()
        outcome = await run.outcome(timeout_s=10)
        assert (outcome.result, outcome.revision) == ("better", 2)
        record = await wait_for_fact(run, ReplanRequested)
        assert (record.actor, record.fact.cause) == ("host:bob", "person")
    assert [context.reason for context in planner.contexts] == ["start", "the first way is closed"]


async def parked_undo(engine: TrialEngine) -> tuple[Any, str]:
    plan = Plan((Step(tool_name="take"), Step(tool_name="fail")))
    run = await engine.start("take", plan=plan)
    return run, (await wait_for_fact(run, CompensationParked)).fact.operation


def stubborn() -> list[ScriptedTool]:
    return [
        scripted_tool("take", "taken", effect="reversible", undo="give_back"),
        scripted_tool("give_back", ToolError("closed", retryable=False), "given", idempotent=True),
        scripted_tool("fail", ToolError("no", no_effect=True, retryable=False)),
    ]


async def test_a_parked_undo_is_tried_again() -> None:
    async with TrialEngine(tools=stubborn()) as engine:
        run, undo = await parked_undo(engine)
        assert (await engine.attention())[0].items[0].subject == undo
        await run.compensate(undo, retry=True, reason="open again")
        outcome = await run.outcome(timeout_s=10)
        assert (outcome.status, [entry.state for entry in outcome.ledger]) == ("failed", ["undone"])


async def test_a_parked_undo_is_waived() -> None:
    async with TrialEngine(tools=stubborn()) as engine:
        run, undo = await parked_undo(engine)
        with pytest.raises(InvalidInputError, match="takes one of undo=True, retry"):
            await run.compensate(undo)
        with pytest.raises(MessageRefused, match="needs a reason"):
            await run.compensate(undo, waive=True)
        await run.compensate(undo, waive=True, reason="written off")
        outcome = await run.outcome(timeout_s=10)
        assert (outcome.status, [entry.state for entry in outcome.ledger]) == ("failed", ["committed"])


async def test_the_last_fact_is_there_when_the_outcome_is() -> None:
    async with TrialEngine(tools=[scripted_tool("work", "done")]) as engine:
        run = await engine.start("work", plan=steps("work"))
        outcome = await run.outcome(timeout_s=10)
        last = [record async for record in run.facts()][-1]
        assert (last.version, last.fact) == (outcome.version, RunCompleted("done"))
