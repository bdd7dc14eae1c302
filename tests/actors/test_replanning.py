"""Tools that ask for another plan by themselves, and the board that tools see."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from midcourse import (
    GoalReached,
    Plan,
    PlanningContext,
    Receipt,
    ReplanDecision,
    RequestReplan,
    RetryPolicy,
    Step,
    Tool,
    ToolContext,
    ToolDefinitionError,
    conditional_replan,
    replan_always,
    replan_and_add,
    replan_when,
    tool,
)
from midcourse.domain.facts import BoardUpdated, ReplanRequested, ReplanRuleFailed, StepCompleted
from midcourse.domain.messages import ReportReplan, ReportSuccess
from midcourse.domain.orders import Execute
from midcourse.testing import ScriptedPlanner, TrialEngine, scripted_tool

Start = Callable[..., Any]


@tool(effect="read")
async def measure(depth: int = 0) -> dict[str, int]:
    """Measure the depth.

    More than one line.
    """
    return {"depth": depth}


def deep(result: dict[str, int]) -> bool:
    return result["depth"] > 5


async def report(executor: Start, wrapped: Tool, **input_: Any) -> Any:
    kit = executor(wrapped)
    kit.execute(wrapped.name.removeprefix("user__"), input=input_)
    return await kit.reports.next()


def test_a_wrapped_tool_keeps_its_name_contract_and_function() -> None:
    wrapped = replan_when(replan_and_add(measure, deep), deep)
    assert (wrapped.spec, wrapped.function) == (measure.spec, measure.function)
    assert [rule.name for rule in wrapped.rules] == ["replan_and_add", "replan_when"]
    always = replan_always(wrapped, reason="look again")
    assert (always.spec.replans, always.rules) == ("look again", wrapped.rules)


def test_a_plain_function_is_wrapped_as_the_tool_it_would_be() -> None:
    def ring(times: int) -> int:
        return times

    wrapped = replan_always(ring)
    assert (wrapped.name, wrapped.spec.effect) == ("user__ring", "irreversible")
    assert wrapped.spec.replans == "user__ring asks for another plan after every call"


async def test_replan_when_asks_if_the_predicate_holds_on_the_result(executor: Start) -> None:
    wrapped = replan_when(measure, deep, reason="too deep to anchor")
    assert await report(executor, wrapped, depth=9) == ReportReplan(
        at=1_000.0, operation="op.0", attempt=1, reason="too deep to anchor", receipt=Receipt({"depth": 9})
    )
    assert await report(executor, wrapped, depth=1) == ReportSuccess(
        at=1_000.0, operation="op.0", attempt=1, receipt=Receipt({"depth": 1})
    )


async def test_replan_and_add_puts_a_value_on_the_board_and_nothing_where_there_is_none(
    executor: Start,
) -> None:
    wrapped = replan_and_add(measure, lambda result: result["depth"] or None)
    asked = await report(executor, wrapped, depth=9)
    assert (asked.updates, asked.reason) == ({"measure": 9}, "user__measure found out measure")
    assert isinstance(await report(executor, wrapped, depth=0), ReportSuccess)
    named = await report(executor, replan_and_add(measure, deep, name="is_deep", reason="so be it"), depth=9)
    assert (named.updates, named.reason) == ({"is_deep": True}, "so be it")


async def test_conditional_replan_asks_its_decider_and_not_where_there_is_no_result(executor: Start) -> None:
    asked: list[Any] = []

    def decide(result: Any) -> ReplanDecision | None:
        asked.append(result)
        return ReplanDecision("elsewhere", {"seen": result}) if result["depth"] else None

    @tool
    async def nothing() -> None:
        return None

    found = await report(executor, conditional_replan(measure, decide), depth=2)
    assert (found.reason, found.updates) == ("elsewhere", {"seen": {"depth": 2}})
    assert isinstance(await report(executor, conditional_replan(measure, decide)), ReportSuccess)
    assert isinstance(await report(executor, conditional_replan(nothing, decide)), ReportSuccess)
    assert asked == [{"depth": 2}, {"depth": 0}]


async def test_rules_look_at_the_result_as_the_function_returned_it(executor: Start) -> None:
    seen: list[Any] = []

    @tool
    def pair() -> Any:
        return (1, 2)

    @tool
    def slip() -> Receipt:
        return Receipt(result=7)

    for each in (pair, slip):
        await report(executor, replan_when(each, seen.append))
    assert seen == [(1, 2), 7]


async def test_what_several_rules_say_is_put_together(executor: Start) -> None:
    wrapped = replan_and_add(
        replan_when(measure, deep, reason="deep"), lambda _: 1, name="a", reason="found a"
    )
    asked = await report(executor, wrapped, depth=9)
    assert (asked.reason, asked.updates) == ("deep; found a", {"a": 1})


async def test_a_rule_that_raises_is_a_failure_and_the_receipt_is_kept(executor: Start) -> None:
    wrapped = replan_and_add(replan_when(measure, lambda result: result["width"]), lambda _: 1, name="a")
    asked = await report(executor, wrapped, depth=9)
    assert asked.receipt == Receipt({"depth": 9})
    assert asked.updates == {"a": 1}
    assert (asked.failure.kind, asked.failure.error_type) == ("replan_rule", "KeyError")
    assert asked.failure.message == (
        "replan_when on user__measure raised KeyError: 'width'; the receipt of the call stands"
    )


async def test_a_decider_that_answers_something_else_is_a_failure(executor: Start) -> None:
    asked = await report(executor, conditional_replan(measure, lambda _: "yes"))  # type: ignore[arg-type,return-value]
    assert asked.failure.message.startswith(
        "conditional_replan on user__measure raised TypeError: it answered"
    )


def test_a_rule_that_would_have_to_wait_is_refused() -> None:
    async def ask_somebody(_: Any) -> bool:
        return True

    for wrap in (replan_when, replan_and_add, conditional_replan):
        with pytest.raises(ToolDefinitionError, match=r"plain function of the result.*raise RequestReplan"):
            wrap(measure, ask_somebody)  # type: ignore[arg-type]


async def test_rules_are_not_asked_about_an_undo(executor: Start) -> None:
    kit = executor(replan_when(measure, lambda _: True))
    kit.execute("measure", operation="undo/op.0")
    assert isinstance(await kit.reports.next(), ReportReplan)
    kit.order(Execute("undo/op.1", 1, "user__measure", {}))
    assert isinstance(await kit.reports.next(), ReportSuccess)


async def test_a_tool_sees_the_board_as_it_was_when_it_began_and_cannot_change_it(executor: Start) -> None:
    boards: list[Any] = []

    @tool
    async def look(*, context: ToolContext) -> None:
        boards.append(context.board)
        context.board["ports"].append("Bergen")

    board = {"ports": ["Oslo"]}
    kit = executor(look)
    kit.execute("look", board=board)
    await kit.reports.next()
    assert boards == [{"ports": ["Oslo", "Bergen"]}]
    assert board == {"ports": ["Oslo"]}
    with pytest.raises(TypeError):
        boards[0]["more"] = 1


# -- in an engine


async def test_a_value_found_by_a_tool_reaches_the_planner_and_the_tools_of_the_next_plan() -> None:
    boards: list[dict[str, Any]] = []

    @tool
    async def anchor(*, context: ToolContext) -> str:
        boards.append(dict(context.board))
        return "anchored"

    def second(context: PlanningContext) -> Plan:
        assert context.board == {"measure": 9}
        assert context.excluded == {"user__measure"}
        return Plan([Step(tool_name="anchor")])

    planner = ScriptedPlanner(
        Plan([Step(tool_name="measure", input={"depth": 9}), Step(tool_name="anchor")]), second
    )
    tools = [replan_and_add(measure, lambda result: result["depth"]), anchor]
    async with TrialEngine(tools=tools, planners={"p": planner}) as engine:
        run = await engine.start("anchor")
        assert (await run.outcome(timeout_s=10)).result == "anchored"
        facts = [record.fact async for record in run.facts()]
    assert boards == [{"measure": 9}]
    assert [type(fact) for fact in facts[5:8]] == [StepCompleted, BoardUpdated, ReplanRequested]


async def test_replan_always_asks_after_the_last_retry_has_failed() -> None:
    calls = 0

    @tool(effect="read", retry=RetryPolicy(max_attempts=3, initial_s=0.0))
    async def radio() -> None:
        nonlocal calls
        calls += 1
        raise ValueError("static")

    planner = ScriptedPlanner(Plan([Step(tool_name="radio")]), GoalReached("never mind"))
    always = replan_always(radio, reason="listen elsewhere")
    async with TrialEngine(tools=[always], planners={"p": planner}) as engine:
        run = await engine.start("listen")
        await run.outcome(timeout_s=10)
    assert calls == 3
    assert planner.contexts[1].reason == "listen elsewhere: static"


async def test_requests_of_parallel_steps_are_one_plan_with_every_receipt_and_value() -> None:
    both = asyncio.Barrier(2)

    @tool
    async def dig(place: str) -> str:
        await both.wait()
        raise RequestReplan(f"water in {place}", {place: True}, Receipt(f"hole in {place}"))

    steps = [Step(id=place, tool_name="dig", input={"place": place}, needs=()) for place in ("east", "west")]
    planner = ScriptedPlanner(Plan(steps), GoalReached("wet enough"))
    async with TrialEngine(tools=[dig], planners={"p": planner}) as engine:
        run = await engine.start("dig")
        await run.outcome(timeout_s=10)
        state = await run.state()
    context = planner.contexts[1]
    assert len(planner.contexts) == 2
    assert state.replans == 1
    assert context.board == {"east": True, "west": True}
    assert {entry.receipt.result for entry in context.ledger} == {"hole in east", "hole in west"}
    assert {asker.reason for asker in context.askers} == {"water in east", "water in west"}


async def test_a_rule_that_raises_under_a_plan_by_a_person_fails_the_run_and_keeps_the_receipt() -> None:
    wrapped = replan_when(measure, lambda result: result["width"])
    async with TrialEngine(tools=[wrapped, scripted_tool("sail")]) as engine:
        run = await engine.start("sail", plan=Plan([Step(tool_name="measure"), Step(tool_name="sail")]))
        outcome = await run.outcome(timeout_s=10)
        state = await run.state()
        facts = [record.fact async for record in run.facts()]
    assert outcome.failure is not None
    assert outcome.failure.kind == "replan_rule"
    assert [entry.receipt.result for entry in state.ledger] == [{"depth": 0}]
    assert any(isinstance(fact, ReplanRuleFailed) for fact in facts)
