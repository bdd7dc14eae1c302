import asyncio
import contextvars
from pathlib import Path
from typing import Any

import pytest

from midcourse import (
    Engine,
    EngineClosedError,
    Goal,
    InvalidInputError,
    Plan,
    PlanInvalid,
    RunFilter,
    Step,
    ToolDefinitionError,
    UnknownPlannerError,
    tool,
)
from midcourse.domain.facts import PlanRequested, RunStarted
from midcourse.testing import ScriptedPlanner, TrialEngine, scripted_tool, wait_for_fact


@tool(effect="read")
async def double(n: int) -> int:
    """Return twice a number."""
    return 2 * n


def doubling(*numbers: int) -> Plan:
    return Plan(tuple(Step(tool_name="double", input={"n": n}) for n in numbers))


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'runs.db'}"


async def test_a_plan_runs_to_its_end_on_a_real_store(url: str) -> None:
    async with Engine(url, tools=[double]) as engine:
        run = await engine.start(Goal("double", inputs={"n": 21}), plan=doubling(1, 2, 3))
        outcome = await run.outcome(timeout_s=10)
    assert (outcome.status, outcome.result, outcome.failure) == ("completed", 6, None)
    assert [entry.receipt.result for entry in outcome.ledger] == [2, 4, 6]


async def test_later_steps_see_earlier_results(url: str) -> None:
    plan = Plan(
        (
            Step(id="a", tool_name="double", input={"n": "{{input.n}}"}),
            Step(tool_name="double", input={"n": "{{a}}"}),
        )
    )
    async with Engine(url, tools=[double]) as engine:
        run = await engine.start(Goal("double twice", inputs={"n": 3}), plan=plan)
        assert (await run.outcome(timeout_s=10)).result == 12


async def test_a_start_is_durable_when_it_returns(url: str) -> None:
    async with Engine(url, tools=[double]) as engine:
        run = await engine.start("double", plan=doubling(1), tags={"team": "a"}, by="alice")
        listed = (await engine.runs(RunFilter(tags={"team": "a"}))).runs
        assert [row.run_id for row in listed] == [run.id]
        first = await wait_for_fact(run, RunStarted)
    assert (first.version, first.actor, first.cause) == (1, "host:alice", 0)


async def test_the_same_key_is_the_same_run() -> None:
    async with TrialEngine(tools=[double]) as engine:
        first = await engine.start("double", plan=doubling(1), key="order-42")
        await first.outcome(timeout_s=10)
        full_name = Plan([Step(id="E0", tool_name="user__double", input={"n": 1})])
        again = await engine.start("double", plan=full_name, key="order-42")
        assert (again.id, (await again.outcome(timeout_s=10)).result) == (first.id, 2)


@pytest.mark.parametrize(
    ("goal", "start", "differing"),
    [
        ("double", {"plan": doubling(2)}, "another plan"),
        ("treble", {"plan": doubling(1)}, "another goal"),
        ("double", {"planner": "doubler"}, "another planner ('none'), plan"),
    ],
)
async def test_a_key_is_for_one_start(goal: str, start: dict[str, Any], differing: str) -> None:
    planners = {"doubler": ScriptedPlanner(doubling(1))}
    async with TrialEngine(tools=[double], planners=planners) as engine:
        first = await engine.start("double", plan=doubling(1), key="order-42")
        with pytest.raises(InvalidInputError) as refused:
            await engine.start(goal, key="order-42", **start)
        assert str(refused.value).startswith(
            f"key 'order-42' belongs to run {first.id}, which was started with {differing}: nothing"
        )
        assert len((await engine.runs()).runs) == 1


async def test_of_starts_with_one_key_at_the_same_time_one_is_the_run(url: str) -> None:
    async with Engine(url, tools=[double]) as engine:
        starts = (engine.start("double", plan=doubling(n), key="order-42") for n in (1, 2))
        answers = await asyncio.gather(*starts, return_exceptions=True)
        assert sorted(type(answer).__name__ for answer in answers) == ["InvalidInputError", "RunHandle"]


async def test_a_key_with_a_planner_for_this_run_alone_is_the_same_run() -> None:
    async with TrialEngine(tools=[double]) as engine:
        planners = [ScriptedPlanner(doubling(1)), ScriptedPlanner(doubling(1))]
        runs = [await engine.start("double", planner=each, ephemeral=True, key="k") for each in planners]
        assert runs[0].id == runs[1].id


async def test_the_same_key_at_the_same_time_is_the_same_run(url: str) -> None:
    async with Engine(url, tools=[double]) as engine:
        runs = await asyncio.gather(
            *(engine.start("double", plan=doubling(1, 2), key="order-42") for _ in range(20))
        )
        assert len({run.id for run in runs}) == 1
        assert {(await run.outcome(timeout_s=10)).result for run in runs} == {4}
        assert len((await engine.runs()).runs) == 1


async def test_the_same_key_is_the_same_run_after_a_restart(url: str) -> None:
    async with Engine(url, tools=[double]) as engine:
        first = await engine.start("double", plan=doubling(1), key="order-42")
        await first.outcome(timeout_s=10)
    async with Engine(url, tools=[double]) as engine:
        again = await engine.start("double", plan=doubling(1), key="order-42")
        assert again.id == first.id
        assert (await again.outcome(timeout_s=10)).result == 2


async def test_the_only_planner_is_the_default() -> None:
    planner = ScriptedPlanner(doubling(4))
    async with TrialEngine(tools=[double], planners={"doubler": planner}) as engine:
        run = await engine.start("double")
        assert (await run.outcome(timeout_s=10)).result == 8
        assert (await wait_for_fact(run, PlanRequested)).fact == PlanRequested(1, "doubler", "start")
    assert [context.goal.text for context in planner.contexts] == ["double"]


async def test_without_a_default_the_planner_has_to_be_named() -> None:
    planners = {"a": ScriptedPlanner(), "b": ScriptedPlanner()}
    async with TrialEngine(tools=[double], planners=planners) as engine:
        with pytest.raises(UnknownPlannerError, match=r"say which planner to ask.*registered: a, b"):
            await engine.start("double")
        assert list((await engine.runs()).runs) == []


async def test_an_unknown_planner_is_refused_and_nothing_recorded() -> None:
    async with TrialEngine(tools=[double], planners={"a": ScriptedPlanner()}) as engine:
        with pytest.raises(UnknownPlannerError, match=r"no planner 'b' \(registered: a\)"):
            await engine.start("double", planner="b")
        assert list((await engine.runs()).runs) == []


async def test_a_registered_callable_may_be_named_by_itself() -> None:
    async def plan_it(_context: object) -> Plan:
        return doubling(5)

    async with TrialEngine(tools=[double], planners={"a": plan_it, "b": ScriptedPlanner()}) as engine:
        run = await engine.start("double", planner=plan_it)
        assert (await run.outcome(timeout_s=10)).result == 10
        assert (await run.state()).planner == "a"


async def test_an_unregistered_callable_is_refused_unless_it_is_said_to_be_ephemeral() -> None:
    async def plan_it(_context: object) -> Plan:
        return doubling(5)

    async with TrialEngine(tools=[double]) as engine:
        with pytest.raises(UnknownPlannerError, match="ephemeral=True"):
            await engine.start("double", planner=plan_it)
        assert list((await engine.runs()).runs) == []
        run = await engine.start("double", planner=plan_it, ephemeral=True)
        assert engine.planners == ("ephemeral/1",)
        assert (await run.outcome(timeout_s=10)).result == 10
        assert list(engine.planners) == []


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        (Plan((Step(tool_name="duble"),)), "did you mean"),
        (Plan((Step(tool_name="double"),)), "needs the argument 'n'"),
        (Plan((Step(tool_name="double", input={"n": 1, "m": 2}),)), "takes no argument 'm'"),
        (Plan((Step(id="a", tool_name="double", input={"n": 1}, needs=("a",)),)), "cycle"),
        (Plan((Step(tool_name="double", input={"n": "{{nope.x}}"}),)), "'nope', which is no step"),
    ],
)
async def test_an_invalid_plan_is_refused_and_nothing_recorded(plan: Plan, problem: str) -> None:
    async with TrialEngine(tools=[double]) as engine:
        with pytest.raises(PlanInvalid, match=problem):
            await engine.start("double", plan=plan)
        assert list((await engine.runs()).runs) == []


async def test_a_goal_that_cannot_be_recorded_is_refused() -> None:
    async with TrialEngine(tools=[double]) as engine:
        with pytest.raises(InvalidInputError, match="type object"):
            await engine.start(Goal("double", inputs={"what": object()}), plan=doubling(1))
        assert list((await engine.runs()).runs) == []


async def test_a_mode_that_does_not_exist_is_refused() -> None:
    async with TrialEngine(tools=[double]) as engine:
        with pytest.raises(InvalidInputError, match="autonomous, interactive"):
            await engine.start("double", plan=doubling(1), mode="auto")  # type: ignore[arg-type]


async def test_a_cancelled_start_leaves_the_engine_and_the_run_alone() -> None:
    async with TrialEngine(tools=[double]) as engine:
        start = asyncio.create_task(engine.start("double", plan=doubling(1), key="k"))
        await asyncio.sleep(0)
        start.cancel()
        with pytest.raises(asyncio.CancelledError):
            await start
        again = await engine.start("double", plan=doubling(1), key="k")
        assert (await again.outcome(timeout_s=10)).result == 2
        assert len((await engine.runs()).runs) == 1


async def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="two tools are named 'user__double'"):
        TrialEngine(tools=[double, double])


async def test_a_planner_that_cannot_plan_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="hand in an instance"):
        TrialEngine(planners={"p": ScriptedPlanner})  # type: ignore[dict-item]
    with pytest.raises(InvalidInputError, match="hand in a function"):
        TrialEngine(planners={"p": 3})  # type: ignore[dict-item]


async def test_an_engine_that_is_not_open_says_so() -> None:
    engine = TrialEngine(tools=[double])
    with pytest.raises(EngineClosedError, match="async with"):
        await engine.start("double", plan=doubling(1))
    with pytest.raises(EngineClosedError, match="async with"):
        engine.run("x")


async def test_an_engine_is_opened_once() -> None:
    engine = TrialEngine(tools=[double])
    async with engine:
        pass
    with pytest.raises(EngineClosedError, match="opened once"):
        await engine.__aenter__()


async def test_the_context_variables_of_callers_do_not_leak_into_tools() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
    seen = scripted_tool("look", lambda _context: variable.get(), effect="read")
    async with TrialEngine(tools=[seen]) as engine:
        variable.set("the caller's")
        run = await engine.start("look", plan=Plan((Step(tool_name="look"),)))
        assert (await run.outcome(timeout_s=10)).result == "unset"


async def test_a_start_whose_id_cannot_be_made_is_answered_and_holds_no_close_up() -> None:
    def exhausted() -> float:
        raise OSError("no entropy")

    async with Engine("memory:", tools=[double], random=exhausted) as engine:
        with pytest.raises(OSError, match="no entropy"):
            await engine.start("double", plan=doubling(1))
        assert [*(await engine.runs()).runs] == []


async def test_a_start_with_bodies_and_the_same_key_is_the_same_run(tmp_path: Path) -> None:
    look = scripted_tool("look", "seen", effect="read")
    body = {"tool_name": "look", "input": {}}
    plan = Plan([Step("M", "map", {"over": [1], "do": body})])
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=[look]) as engine:
        first = await engine.start("look", plan=plan, key="k")
        await first.outcome()
        assert (await engine.start("look", plan=plan, key="k")).id == first.id
        other = Plan([Step("M", "map", {"over": [1], "do": {**body, "tool_name": "stare"}})])
        with pytest.raises(InvalidInputError, match="another plan"):
            await engine.start("look", plan=other, key="k")
