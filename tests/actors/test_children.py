"""Child runs, end to end: started by steps and by tools, waited for, cancelled together, undone in order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from midcourse import (
    Budget,
    Engine,
    Goal,
    Limits,
    Plan,
    PlanInvalid,
    PlanningContext,
    RetryPolicy,
    RunHandle,
    RunState,
    Settings,
    Step,
    ToolContext,
    WaitFor,
    tool,
)
from midcourse.domain import facts as f
from midcourse.store import RunFilter

PARENT = Plan([Step("trip", "plan_and_execute", {"query": "book", "inputs": {"n": "1"}}), Step("say", "say")])


class World:
    """What tools do, in order."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.hold = asyncio.Event()
        self.held = asyncio.Event()
        self.refuse_undo: set[str] = set()

    def tools(self) -> list[Any]:
        @tool(effect="reversible", undo="unbook", idempotent=True)
        async def book(what: str) -> str:
            self.done.append(f"book {what}")
            return what

        @tool(idempotent=True)
        async def unbook(what: str) -> None:
            if what in self.refuse_undo:
                raise ValueError(f"{what} cannot be taken back")
            self.done.append(f"unbook {what}")

        @tool
        async def send(what: str) -> str:
            self.done.append(f"send {what}")
            return what

        @tool(effect="read")
        async def wait_here() -> str:
            self.held.set()
            await self.hold.wait()
            return "went on"

        @tool(effect="read")
        async def say() -> str:
            self.done.append("say")
            return "said"

        @tool(effect="read", retry=RetryPolicy(max_attempts=1))
        async def fail() -> None:
            self.held.set()
            raise ValueError("it is broken")

        return [book, unbook, send, wait_here, say, fail]


def planner(**plans: Sequence[Step]) -> Any:
    """Plans by the text of the goal; what it has no plan for, it books."""

    def plan(context: PlanningContext) -> Plan:
        steps = plans.get(context.goal.text.replace(" ", "_"))
        if steps is None:
            steps = [Step("A", "book", {"what": "{{input.n}}"}), Step("B", "book", {"what": "b{{input.n}}"})]
        return Plan(list(steps))

    return plan


async def until(run: RunHandle, fact: type[f.Fact], count: int = 1) -> list[Any]:
    found = []
    async for record in run.facts():
        if isinstance(record.fact, fact):
            found.append(record.fact)
            if len(found) == count:
                break
    return found


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/runs.db"


async def child_of(engine: Engine, run: RunHandle) -> tuple[RunHandle, RunState]:
    state = await run.state()
    child = engine.run(state.children[0].run)
    return child, await child.state()


async def test_a_step_is_a_child_run_and_its_result_is_that_of_the_step(url: str) -> None:
    world = World()
    async with Engine(url, tools=world.tools(), planners={"p": planner()}) as engine:
        run = await engine.start("parent", plan=PARENT, by="ada", priority="high")
        outcome = await run.outcome(timeout_s=10)
        child, state = await child_of(engine, run)
        children = await engine.runs(RunFilter(tags={"parent": run.id}))
        parent = await run.state()
    assert (outcome.status, world.done) == ("completed", ["book 1", "book b1", "say"])
    assert outcome.ledger[0].receipt.result == "b1"
    assert (state.lineage, state.key) == (run.id, "")
    assert state.parent is not None
    assert (state.parent.run, state.parent.step, state.planner) == (run.id, "trip", "p")
    assert state.priority == "high"
    assert [each.run_id for each in children.runs] == [child.id]
    assert [(each.run, each.state, each.result) for each in parent.children] == [
        (child.id, "completed", "b1")
    ]


async def test_a_child_run_that_fails_fails_its_step_and_is_named(url: str) -> None:
    world = World()
    steps = [Step("A", "book", {"what": "a"}), Step("B", "fail")]
    limits = Limits(replans=0)
    plan = Plan([Step("trip", "plan_and_execute", {"query": "bad", "limits": {"replans": 0}})])
    async with Engine(url, tools=world.tools(), planners={"p": planner(bad=steps)}) as engine:
        run = await engine.start("parent", plan=plan, limits=limits)
        await world.held.wait()
        child, _ = await child_of(engine, run)
        await until(child, f.RunStuck)
        await child.cancel("it cannot be mended")
        outcome = await run.outcome(timeout_s=10)
    assert outcome.status == "failed"
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.step) == ("child", "trip")
    assert outcome.failure.message == f"child run {child.id} was cancelled: it cannot be mended"
    assert world.done == ["book a", "unbook a"]


async def test_each_item_of_a_map_can_be_a_child_run(url: str) -> None:
    world = World()
    do = {"tool_name": "plan_and_execute", "input": {"query": "trip {{item}}", "inputs": {"n": "{{item}}"}}}
    plan = Plan([Step("all", "map", {"over": "{{input.items}}", "do": do, "concurrency": 2})])
    async with Engine(url, tools=world.tools(), planners={"p": planner()}) as engine:
        run = await engine.start(Goal("parent", {"items": ["1", "2", "3"]}), plan=plan)
        outcome = await run.outcome(timeout_s=10)
        state = await run.state()
    assert outcome.result == {"count": 3, "results": ["b1", "b2", "b3"]}
    assert [(each.goal, each.step) for each in state.children] == [
        ("trip 1", "all/do.0"), ("trip 2", "all/do.1"), ("trip 3", "all/do.2"),
    ]  # fmt: skip


def fan_out(*goals: str) -> Any:
    @tool(effect="read")
    async def spread(*, context: ToolContext) -> list[Any]:
        children = [await context.start_child(Goal(goal, {"n": goal[-1]})) for goal in goals]
        if not all(child.ended for child in children):
            raise WaitFor(children=children)
        if lost := [child.failure for child in children if child.state != "completed"]:
            raise ValueError("; ".join(lost))
        return [child.result for child in children]

    return spread


async def test_a_tool_starts_child_runs_and_waits_for_their_results_in_order(url: str) -> None:
    world = World()
    tools = [*world.tools(), fan_out("trip 1", "trip 2")]
    async with Engine(
        url, tools=tools, planners={"p": planner()}, settings=Settings(passivate=True)
    ) as engine:
        run = await engine.start("parent", plan=Plan([Step("all", "spread")]))
        outcome = await run.outcome(timeout_s=10)
    assert outcome.result == ["b1", "b2"]
    assert sorted(world.done) == ["book 1", "book 2", "book b1", "book b2"]
    assert [entry.tool for entry in outcome.ledger] == [
        "plan_and_execute",
        "plan_and_execute",
        "user__spread",
    ]


async def test_what_children_of_a_tool_did_is_undone_when_its_run_fails(url: str) -> None:
    world = World()
    tools = [*world.tools(), fan_out("trip 1")]
    async with Engine(url, tools=tools, planners={"p": planner()}) as engine:
        run = await engine.start("parent", plan=Plan([Step("all", "spread"), Step("bad", "fail")]))
        outcome = await run.outcome(timeout_s=10)
    assert outcome.status == "failed"
    assert world.done == ["book 1", "book b1", "unbook b1", "unbook 1"]


async def test_cancelling_a_parent_cancels_its_child_mid_effect_and_waits_for_it(url: str) -> None:
    world = World()
    steps = [Step("A", "book", {"what": "a"}), Step("B", "wait_here")]
    plan = Plan([Step("first", "book", {"what": "0"}), Step("trip", "plan_and_execute", {"query": "long"})])
    async with Engine(url, tools=world.tools(), planners={"p": planner(long=steps)}) as engine:
        run = await engine.start("parent", plan=plan)
        await world.held.wait()
        await run.cancel("the customer has changed her mind")
        outcome = await run.outcome(timeout_s=10)
        child, state = await child_of(engine, run)
        ended = await child.outcome(timeout_s=10)
    assert (outcome.status, ended.status) == ("cancelled", "cancelled")
    assert ended.failure is not None
    assert ended.failure.message == "the customer has changed her mind"
    assert [(each.kind, each.message) for each in (await_failure(state),)] == [
        ("cancelled", "the customer has changed her mind")
    ]
    assert world.done == ["book 0", "book a", "unbook a", "unbook 0"]


def await_failure(state: RunState) -> f.Failure:
    assert state.failure is not None
    return state.failure


async def test_a_parent_that_fails_takes_back_a_child_that_is_complete_in_reverse_order(url: str) -> None:
    world = World()
    plan = Plan(
        [
            Step("first", "book", {"what": "0"}),
            Step("trip", "plan_and_execute", {"query": "book", "inputs": {"n": "1"}}),
            Step("last", "book", {"what": "9"}),
            Step("bad", "fail"),
        ]
    )
    async with Engine(url, tools=world.tools(), planners={"p": planner()}) as engine:
        run = await engine.start("parent", plan=plan)
        outcome = await run.outcome(timeout_s=10)
        _, state = await child_of(engine, run)
    assert outcome.status == "failed"
    assert world.done[-4:] == ["unbook 9", "unbook b1", "unbook 1", "unbook 0"]
    assert state.status == "cancelled"
    assert [entry.state for entry in outcome.ledger] == ["undone", "undone", "undone"]


async def test_an_undo_parked_in_a_child_parks_that_of_its_parent_until_a_person_waives_it(url: str) -> None:
    world = World()
    world.refuse_undo.add("b1")
    plan = Plan(
        [
            Step("first", "book", {"what": "0"}),
            Step("trip", "plan_and_execute", {"query": "book", "inputs": {"n": "1"}}),
            Step("bad", "fail"),
        ]
    )
    async with Engine(url, tools=world.tools(), planners={"p": planner()}) as engine:
        run = await engine.start("parent", plan=plan)
        await until(run, f.CompensationParked)
        child, state = await child_of(engine, run)
        assert state.status == "attention"
        operation = next(item.subject for item in state.attention)
        await child.compensate(operation, waive=True, reason="it may stay")
        outcome = await run.outcome(timeout_s=10)
    assert outcome.status == "failed"
    assert world.done == ["book 0", "book 1", "book b1", "unbook 1", "unbook 0"]


async def test_irreversible_effects_of_a_child_are_constraints_of_its_parent(url: str) -> None:
    world = World()
    seen: list[PlanningContext] = []

    def plan(context: PlanningContext) -> Plan:
        if context.goal.text == "mail":
            return Plan([Step("A", "send", {"what": "letter"})])
        seen.append(context)
        if context.is_replanning:
            return Plan([Step("ok", "say")])
        return Plan([Step("trip", "plan_and_execute", {"query": "mail"}), Step("bad", "fail")])

    async with Engine(url, tools=world.tools(), planners={"p": plan}) as engine:
        run = await engine.start("parent", planner="p")
        outcome = await run.outcome(timeout_s=10)
    assert outcome.status == "completed"
    assert [(each.tool, each.step) for each in seen[-1].constraints] == [("user__send", "trip")]


async def test_a_pause_reaches_the_children_and_so_does_its_end(url: str) -> None:
    world = World()
    steps = [Step("B", "wait_here"), Step("C", "book", {"what": "c"})]
    plan = Plan([Step("trip", "plan_and_execute", {"query": "long"})])
    async with Engine(url, tools=world.tools(), planners={"p": planner(long=steps)}) as engine:
        run = await engine.start("parent", plan=plan)
        await world.held.wait()
        await run.pause("lunch")
        child, _ = await child_of(engine, run)
        await until(child, f.RunPaused)
        world.hold.set()
        await until(child, f.StepCompleted)
        assert world.done == []
        await run.unpause()
        outcome = await run.outcome(timeout_s=10)
    assert (outcome.status, world.done) == ("completed", ["book c"])


async def test_what_a_child_uses_up_counts_against_its_parent(url: str) -> None:
    @tool(effect="read")
    async def think(*, context: ToolContext) -> None:
        context.spend(tokens=70, cost=0.5)

    steps = [Step("A", "think")]
    plan = Plan([Step("trip", "plan_and_execute", {"query": "think"})])
    async with Engine(url, tools=[think], planners={"p": planner(think=steps)}) as engine:
        run = await engine.start("parent", plan=plan, limits=Limits(budgets=(Budget(tokens=100),)))
        await run.outcome(timeout_s=10)
        state = await run.state()
    assert (state.usage.tokens, state.usage.cost) == (70, 0.5)


async def test_the_time_of_a_step_ends_its_child(url: str) -> None:
    world = World()
    steps = [Step("A", "book", {"what": "a"}), Step("B", "wait_here")]
    plan = Plan([Step("trip", "plan_and_execute", {"query": "long"}, timeout_s=0.2)])
    async with Engine(url, tools=world.tools(), planners={"p": planner(long=steps)}) as engine:
        run = await engine.start("parent", plan=plan)
        outcome = await run.outcome(timeout_s=10)
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.step) == ("timeout", "trip")
    assert world.done[-1] == "unbook a"


async def test_children_go_on_under_the_next_engine(url: str) -> None:
    world = World()
    steps = [Step("B", "wait_here"), Step("C", "book", {"what": "c"})]
    plan = Plan([Step("trip", "plan_and_execute", {"query": "long"}), Step("say", "say")])
    settings = Settings(drain_s=0.0, close_grace_s=0.1)
    async with Engine(
        url, tools=world.tools(), planners={"p": planner(long=steps)}, settings=settings
    ) as engine:
        run = await engine.start("parent", plan=plan)
        await world.held.wait()
        id = run.id
    world.hold.set()
    async with Engine(url, tools=world.tools(), planners={"p": planner(long=steps)}) as engine:
        outcome = await engine.run(id).outcome(timeout_s=10)
        page = await engine.runs()
    assert (outcome.status, world.done) == ("completed", ["book c", "say"])
    assert len(page.runs) == 2


async def test_a_plan_that_plans_and_executes_needs_a_planner(url: str) -> None:
    async with Engine(url, tools=World().tools()) as engine:
        with pytest.raises(PlanInvalid, match="none is registered with this engine; register one"):
            await engine.start("parent", plan=PARENT)


async def test_plan_and_execute_starts_a_run_and_returns_its_outcome(url: str) -> None:
    world = World()
    async with Engine(url, tools=world.tools(), planners={"p": planner()}) as engine:
        outcome = await engine.plan_and_execute(Goal("book", {"n": "7"}), key="once")
        again = await engine.plan_and_execute(Goal("book", {"n": "7"}), key="once")
    assert (outcome.status, outcome.result, again.run_id) == ("completed", "b7", outcome.run_id)
    assert world.done == ["book 7", "book b7"]


async def test_runs_nest_only_so_deep(url: str) -> None:
    asked: list[str] = []
    deep = asyncio.Event()

    def plan(context: PlanningContext) -> Plan:
        asked.append(context.run_id)
        if len(asked) == 9:
            deep.set()
        return Plan([Step("deeper", "plan_and_execute", {"query": "deeper"})])

    async with Engine(url, tools=[], planners={"p": plan}) as engine:
        await engine.start("deep", planner="p")
        await deep.wait()
        failed = await until(engine.run(asked[8]), f.StepFailed)
    assert "runs nest 8 deep at most" in failed[0].failure.message
