"""What the planner says when a goal is out of reach."""

from typing import Any

from midcourse.domain.goap import Goap
from midcourse.domain.plan import NoPlan
from midcourse.domain.tools import ToolSpec


def tool(
    name: str, pre: dict[str, bool] | None = None, post: dict[str, bool] | None = None, **rest: Any
) -> ToolSpec:
    return ToolSpec(f"user__{name}", pre=pre or {}, post=post or {}, **rest)


def reason(goal: dict[str, bool], context: Any, **options: Any) -> str:
    answer = Goap([goal], **options).plan(context)
    assert isinstance(answer, NoPlan), answer
    return answer.reason


def test_no_tool_brings_it_about(context_of: Any) -> None:
    assert reason({"there": True}, context_of([])) == (
        "goal (there) cannot be reached: there cannot become true: it is unknown, and no tool has it in its "
        "post; the board or the inputs may give it, or a function of the planner"
    )


def test_a_tool_waits_for_something_nobody_brings_about(context_of: Any) -> None:
    tools = [tool("drive", {"fuel": True, "car": True}, {"there": True}), tool("buy", post={"car": True})]
    assert reason({"there": True}, context_of(tools, board={"fuel": False})) == (
        "goal (there) cannot be reached: there cannot become true: user__drive needs fuel to be true (it is "
        "false); fuel cannot become true: it is false, and no tool has it in its post; the board or the "
        "inputs may give it, or a function of the planner"
    )


def test_a_function_says_no(context_of: Any) -> None:
    tools = [tool("drive", {"fuel": True}, {"there": True})]
    assert reason({"there": True}, context_of(tools), conditions={"fuel": lambda _: None}).endswith(
        "fuel cannot become true: no tool has it in its post, and its function says unknown"
    )


def test_a_circle_is_named(context_of: Any) -> None:
    tools = [
        tool("start", {"oiled": True}, {"runs": True}),
        tool("oil", {"warm": True}, {"oiled": True}),
        tool("warm_up", {"runs": True}, {"warm": True}),
    ]
    assert reason({"runs": True}, context_of(tools)) == (
        "goal (runs) cannot be reached: runs cannot become true: user__start needs oiled to be true (it is "
        "false); oiled cannot become true: user__oil needs warm to be true (it is false); warm cannot become "
        "true: user__warm_up needs runs to be true (it is false); these wait for each other: runs → oiled → "
        "warm → runs"
    )


def test_a_result_nobody_can_deliver(context_of: Any) -> None:
    tools = [
        tool("quote", {"open": True}, effect="read"),
        tool("pay", post={"paid": True}, input={"cents": "{{quote.cents}}"}),
    ]
    assert reason({"paid": True}, context_of(tools, board={"open": False})).startswith(
        "goal (paid) cannot be reached: paid cannot become true: user__pay needs the result of quote; there "
        "cannot be a result of quote: user__quote needs open to be true (it is false); open cannot become"
    )


def test_conditions_that_exclude_each_other(context_of: Any) -> None:
    tools = [tool("heads", post={"up": True, "down": False}), tool("tails", post={"up": False, "down": True})]
    assert reason({"up": True, "down": True}, context_of(tools)) == (
        "goal (up, down) cannot be reached: each of these conditions can be reached, but no order of the "
        "tools makes all of them hold at once: what one brings about, another takes away"
    )


def test_of_many_tools_only_some_are_listed(context_of: Any) -> None:
    tools = [tool(f"t{n}", {"key": True}, {"open": True}) for n in range(9)]
    text = reason({"open": True}, context_of(tools))
    assert "user__t4 needs key to be true (it is unknown), and 4 more tools cannot run either;" in text
    assert "user__t5" not in text


def test_every_goal_is_explained(context_of: Any) -> None:
    answer = Goap([{"a": True}, {"b": False}]).plan(context_of([]))
    assert isinstance(answer, NoPlan)
    assert "goal 1 of 2 (a) cannot be reached: a cannot become true" in answer.reason
    assert "goal 2 of 2 (not b) cannot be reached: b cannot become false" in answer.reason


def test_a_goal_only_an_excluded_tool_reaches_says_so(context_of: Any) -> None:
    tools = [tool("go", post={"there": True}), tool("stay", post={"home": True})]
    context = context_of(tools, excluded=frozenset({"user__go"}))
    answer = Goap([{"there": True}, {"home": True}]).plan(context)
    assert "there cannot become true: user__go is left out of this plan" in answer.reason
