"""The rules of the planner, one by one."""

from typing import Any

import msgspec
import pytest

from midcourse.domain.errors import InvalidInputError, ToolDefinitionError, UnknownTool
from midcourse.domain.goap import Goap
from midcourse.domain.plan import GoalReached, NoPlan, Plan
from midcourse.domain.tools import ToolSpec


def tool(
    name: str, pre: dict[str, bool] | None = None, post: dict[str, bool] | None = None, **rest: Any
) -> ToolSpec:
    return ToolSpec(f"user__{name}", pre=pre or {}, post=post or {}, **rest)


def names(answer: object) -> list[str]:
    assert isinstance(answer, Plan), answer
    return [step.tool_name.removeprefix("user__") for step in answer.steps]


# ------------------------------------------------------------------------------------------------- conditions


@pytest.mark.parametrize("wanted", [True, False])
def test_an_unknown_condition_satisfies_no_precondition(context_of: Any, wanted: bool) -> None:
    tools = [tool("open", {"unlocked": wanted}, {"open": True})]
    assert isinstance(Goap([{"open": True}]).plan(context_of(tools)), NoPlan)


@pytest.mark.parametrize("wanted", [True, False])
def test_a_goal_over_an_unknown_condition_is_not_reached(context_of: Any, wanted: bool) -> None:
    tools = [tool("look", post={"empty": wanted})]
    goap = Goap([{"empty": wanted}], conditions={"empty": None})
    assert names(goap.plan(context_of(tools))) == ["look"]


def test_what_some_tool_makes_true_is_false_at_first(context_of: Any) -> None:
    assert isinstance(
        Goap([{"open": False}]).plan(context_of([tool("open", post={"open": True})])), GoalReached
    )


def test_what_no_tool_makes_true_is_unknown_at_first(context_of: Any) -> None:
    assert names(Goap([{"open": False}]).plan(context_of([tool("close", post={"open": False})]))) == ["close"]


@pytest.mark.parametrize("where", [{"board": {"ready": True}}, {"inputs": {"ready": True}}])
def test_booleans_of_board_and_inputs_are_conditions(context_of: Any, where: dict[str, Any]) -> None:
    tools = [tool("go", {"ready": True}, {"gone": True})]
    assert names(Goap([{"gone": True}]).plan(context_of(tools, **where))) == ["go"]


def test_the_board_is_newer_than_the_inputs(context_of: Any) -> None:
    context = context_of([], inputs={"ready": False}, board={"ready": True})
    assert isinstance(Goap([{"ready": True}]).plan(context), GoalReached)


def test_other_values_of_the_board_say_nothing(context_of: Any) -> None:
    context = context_of([tool("go", {"ready": True}, {"gone": True})], board={"ready": "yes"})
    assert isinstance(Goap([{"gone": True}]).plan(context), NoPlan)


def test_the_last_standing_operation_decides(context_of: Any, entry_of: Any) -> None:
    tools = [tool("open", post={"open": True}), tool("close", post={"open": False})]
    ledger = (entry_of("E0", "user__open"), entry_of("E1", "user__close"))
    goap = Goap([{"open": True}])
    assert names(goap.plan(context_of(tools, ledger=ledger, board={"open": True}))) == ["open"]
    assert isinstance(goap.plan(context_of(tools, ledger=ledger[::-1])), GoalReached)
    undone = (ledger[0], msgspec.structs.replace(ledger[1], state="undone"))
    assert isinstance(goap.plan(context_of(tools, ledger=undone)), GoalReached)


def test_a_function_has_the_last_word(context_of: Any, entry_of: Any) -> None:
    goap = Goap([{"open": True}], conditions={"open": lambda context: context.board["door"] == "ajar"})
    tools = [tool("open", post={"open": True})]
    ledger = (entry_of("E0", "user__open"),)
    assert isinstance(goap.plan(context_of(tools, board={"door": "ajar"})), GoalReached)
    answer = goap.plan(context_of(tools, board={"door": "shut"}, ledger=ledger))
    assert names(answer) == ["open"]
    assert isinstance(answer, Plan)
    assert answer.conditions == {"open": False}


def test_a_function_must_answer_in_three_values(context_of: Any) -> None:
    conditions: Any = {"open": lambda context: len(context.board)}
    goap = Goap([{"open": True}], conditions=conditions)
    with pytest.raises(InvalidInputError, match="'open' answered 0; it must answer True, False or None"):
        goap.plan(context_of([]))


# ------------------------------------------------------------------------------------------------------ costs


def test_the_cheapest_way_wins_not_the_shortest(context_of: Any) -> None:
    tools = [
        tool("fly", post={"there": True}, cost=10),
        tool("walk", post={"halfway": True}, cost=2),
        tool("walk_on", {"halfway": True}, {"there": True}, cost=2),
    ]
    assert names(Goap([{"there": True}]).plan(context_of(tools))) == ["walk", "walk_on"]


def test_of_equally_cheap_ways_the_shortest_wins(context_of: Any) -> None:
    tools = [
        tool("a", post={"halfway": True}, cost=0),
        tool("b", {"halfway": True}, {"there": True}, cost=0),
        tool("c", post={"there": True}, cost=0),
    ]
    assert names(Goap([{"there": True}]).plan(context_of(tools))) == ["c"]


def test_costs_that_do_not_add_up_exactly_as_floats_are_compared_exactly(context_of: Any) -> None:
    tools = [
        tool("a", post={"x": True}, cost=0.1),
        tool("b", {"x": True}, {"there": True}, cost=0.2),
        tool("c", post={"there": True}, cost=0.30000000000000004),
    ]
    assert names(Goap([{"there": True}]).plan(context_of(tools))) == ["a", "b"]


def test_costs_may_depend_on_the_state(context_of: Any) -> None:
    tools = [tool("sea", post={"there": True}), tool("air", post={"there": True}, cost=5)]
    goap = Goap([{"there": True}], costs={"sea": lambda context: 9.0 if context.board.get("storm") else 1.0})
    assert names(goap.plan(context_of(tools))) == ["sea"]
    assert names(goap.plan(context_of(tools, board={"storm": True}))) == ["air"]


@pytest.mark.parametrize("cost", [-1.0, float("nan"), float("inf"), True, "much"])
def test_costs_must_be_numbers_of_at_least_zero(context_of: Any, cost: Any) -> None:
    goap = Goap([{"there": True}], costs={"go": lambda _: cost})
    with pytest.raises(ToolDefinitionError, match="'user__go': the cost computed for it is"):
        goap.plan(context_of([tool("go", post={"there": True})]))


def test_a_declared_cost_must_not_be_negative(context_of: Any) -> None:
    with pytest.raises(ToolDefinitionError, match=r"its declared cost is -0\.5; use a finite number"):
        Goap([{"there": True}]).plan(context_of([tool("go", post={"there": True}, cost=-0.5)]))


def test_a_cost_for_an_unknown_tool_is_an_error(context_of: Any) -> None:
    with pytest.raises(UnknownTool, match="did you mean 'go'"):
        Goap([{"there": True}], costs={"goo": lambda _: 1.0}).plan(context_of([tool("go")]))


# ------------------------------------------------------------------------------------------- goals and limits


@pytest.mark.parametrize(
    ("goals", "message"),
    [
        ([], "goals must be a list"),
        ({"there": True}, "goals must be a list"),
        ([{}], "goal 1 is empty"),
        ([{"there": True}, {"there": None}], "goal 2: 'there' is None"),
    ],
)
def test_bad_goals_are_refused(goals: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Goap(goals)


def test_a_bad_condition_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="condition 'there' is 'yes'; it must be a function"):
        Goap([{"there": True}], conditions={"there": "yes"})  # type: ignore[dict-item]


@pytest.mark.parametrize("limit", [0, 1 << 20])
def test_a_limit_out_of_range_is_refused(limit: int) -> None:
    with pytest.raises(InvalidInputError, match=f"node_limit is {limit}; it must be between 1 and 1048575"):
        Goap([{"there": True}], node_limit=limit)


def test_the_first_goal_that_can_be_reached_is_planned_for(context_of: Any) -> None:
    goap = Goap([{"moon": True}, {"there": True}, {"home": True}])
    answer = goap.plan(context_of([tool("go", post={"there": True}), tool("stay", post={"home": True})]))
    assert names(answer) == ["go"]


def test_at_the_limit_no_lesser_goal_is_taken_instead(context_of: Any) -> None:
    tools = [tool("a", post={"x": True}), tool("b", {"x": True}, {"there": True})]
    answer = Goap([{"there": True}, {"x": False}], node_limit=1).plan(context_of(tools))
    assert isinstance(answer, NoPlan)
    assert answer.reason.startswith("goal 1 of 2 (there): no plan found among the first 1 states")
    assert "raise node_limit" in answer.reason


def test_excluded_tools_are_left_out(context_of: Any) -> None:
    tools = [tool("air", post={"there": True}), tool("sea", post={"there": True}, cost=5)]
    context = context_of(tools, excluded=frozenset({"user__air"}))
    assert names(Goap([{"there": True}]).plan(context)) == ["sea"]


def test_excluded_tools_are_put_back_if_nothing_else_helps(context_of: Any) -> None:
    tools = [tool("air", post={"there": True})]
    context = context_of(tools, excluded=frozenset({"user__air"}))
    assert names(Goap([{"there": True}]).plan(context)) == ["air"]


# ------------------------------------------------------------------------------------------------------- size


def test_twenty_steps_among_two_hundred_tools_take_few_states(context_of: Any) -> None:
    chain = [tool(f"a{n}", {f"c{n - 1}": True} if n else {}, {f"c{n}": True}) for n in range(10)]
    loose = [tool(f"b{n}_{way}", post={f"d{n}": True}, cost=1 + way) for n in range(10) for way in range(19)]
    goal = {"c9": True, **{f"d{n}": True for n in range(10)}}
    plan = Goap([goal], node_limit=100).plan(context_of(chain + loose))
    assert isinstance(plan, Plan)
    assert (len(plan.steps), plan.cost) == (20, 20.0)
