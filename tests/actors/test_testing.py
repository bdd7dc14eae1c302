import asyncio
from pathlib import Path

import pytest

from midcourse import Engine, NoPlan, Plan, Step, ToolError
from midcourse.domain.facts import AttemptFailed, PlanningFailed, RunCompleted, StepFailed, StepStarted
from midcourse.store import Journal
from midcourse.testing import (
    CrashAt,
    FactMissingError,
    ManualClock,
    ScenarioEndedError,
    ScenarioError,
    ScriptedPlanner,
    TrialEngine,
    crash_at_every_fact,
    facts,
    kill_scenario,
    run_scenario,
    scripted_tool,
    wait_for_fact,
)

ONE_STEP = Plan((Step(tool_name="work", input={"n": 1}),))


async def test_a_manual_clock_calls_what_falls_due_in_order() -> None:
    clock = ManualClock(start=100.0)
    seen: list[tuple[str, float]] = []
    clock.call_later(20, lambda name: seen.append((name, clock())), "later")
    clock.call_later(10, lambda name: seen.append((name, clock.time())), "sooner")
    clock.call_later(15, seen.append, ("never", 0.0)).cancel()
    clock.advance(15)
    assert seen == [("sooner", 110.0)]
    clock.advance(15)
    assert (seen, clock()) == ([("sooner", 110.0), ("later", 120.0)], 130.0)


async def test_what_is_due_at_once_happens_without_moving_the_clock() -> None:
    happened = asyncio.Event()
    clock = ManualClock(start=100.0)
    clock.call_later(0, happened.set)
    await asyncio.wait_for(happened.wait(), 10)
    assert clock() == 100.0


async def test_a_scripted_tool_remembers_its_calls() -> None:
    work = scripted_tool(
        "work",
        ToolError("not now", retryable=True, retry_after_s=30),
        lambda context, n: (context.attempt, n),
        arguments=["n"],
        effect="read",
    )
    async with TrialEngine(tools=[work]) as engine:
        run = await engine.start("work", plan=ONE_STEP)
        await wait_for_fact(run, AttemptFailed)
        engine.clock.advance(30)
        assert (await run.outcome(timeout_s=10)).result == [2, 1]
    assert [(call.attempt, call.arguments) for call in work.calls] == [(1, {"n": 1}), (2, {"n": 1})]
    assert len({call.operation for call in work.calls}) == 1


async def test_scripts_that_have_ended_say_so() -> None:
    work = scripted_tool("work", "once", arguments=["n"], effect="read")
    planner = ScriptedPlanner(ONE_STEP, RuntimeError("no idea"), NoPlan("there is none"))
    async with TrialEngine(tools=[work], planners={"p": planner}) as engine:
        first = await engine.start("work")
        assert (await first.outcome(timeout_s=10)).result == "once"
        second = await engine.start("work")
        failed = await wait_for_fact(second, PlanningFailed)
        assert "no idea" in failed.fact.failure.message
        third = await engine.start("work", plan=ONE_STEP)
        step = await wait_for_fact(third, StepFailed)
        assert "1 outcomes, and was called again" in step.fact.failure.message
    assert planner.contexts[1].goal.text == "work"


async def test_a_fact_that_does_not_come_is_an_error_that_lists_those_that_did() -> None:
    async with TrialEngine(tools=[scripted_tool("work", "done", arguments=["n"])]) as engine:
        run = await engine.start("work", plan=ONE_STEP)
        with pytest.raises(FactMissingError, match="no step_failed before the end; it had run_started"):
            await wait_for_fact(run, StepFailed)
        assert (await wait_for_fact(run, RunCompleted)).fact.result == "done"
        with pytest.raises(FactMissingError, match="no step_started before the end"):
            await wait_for_fact(run, StepStarted, where=lambda fact: fact.step == "other")


async def test_the_same_seed_gives_the_same_ids() -> None:
    ids = []
    for _ in range(2):
        async with TrialEngine(tools=[scripted_tool("work", arguments=["n"])], seed=7) as engine:
            ids.append((await engine.start("work", plan=ONE_STEP)).id)
    assert ids[0] == ids[1]


async def test_a_wait_in_vain_points_to_the_clock() -> None:
    work = scripted_tool("work", ToolError("not now", retryable=True, retry_after_s=30), arguments=["n"])
    async with TrialEngine(tools=[work]) as engine:
        run = await engine.start("work", plan=ONE_STEP)
        with pytest.raises(TimeoutError, match=r"clock stands still: clock\.advance\(seconds\)"):
            await run.outcome(timeout_s=0)


def test_the_kinds_of_facts_are_at_hand() -> None:
    assert facts.StepFailed is StepFailed


async def scenario(journal: Journal, folder: Path) -> object:
    async with Engine(journal, tools=[scripted_tool("work", "done", arguments=["n"])]) as engine:
        run = await engine.start("work", plan=ONE_STEP, key="work")
        return (await run.outcome(timeout_s=30)).result


def test_a_scenario_takes_a_folder_by_its_name(tmp_path: Path) -> None:
    assert run_scenario(scenario, folder=str(tmp_path)).result == "done"


def test_a_scenario_without_its_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"there is no folder .* make it first"):
        run_scenario(scenario, folder=tmp_path / "missing")


def test_a_folder_that_was_used_before_is_refused(tmp_path: Path) -> None:
    (tmp_path / "uncrashed").mkdir()
    with pytest.raises(ScenarioError, match="left from an earlier call"):
        next(crash_at_every_fact(scenario, folder=tmp_path))


def test_a_scenario_inside_a_function_is_refused(tmp_path: Path) -> None:
    async def nested(journal: Journal, folder: Path) -> object:
        return await scenario(journal, folder)

    with pytest.raises(ScenarioError, match="top level of a module"):
        run_scenario(nested, folder=tmp_path)


def test_a_scenario_that_ends_before_it_is_killed_says_so(tmp_path: Path) -> None:
    with pytest.raises(ScenarioEndedError, match="to be killed before append 99"):
        kill_scenario(scenario, CrashAt(99, "before"), folder=tmp_path)
