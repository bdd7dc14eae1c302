"""Planners made of Python callables."""

import functools
from typing import Any

import pytest

from midcourse.actors.planners.function import FunctionPlanner, PlannerAnswerError
from midcourse.domain.plan import GoalReached, NoPlan, Plan, Step
from midcourse.domain.planning import Planner, PlanningContext

from .contexts import context

STEP = Step(tool_name="charge")


@pytest.fixture(name="context")
def _context() -> PlanningContext:
    return context()


@pytest.mark.parametrize("answer", [Plan((STEP,)), Plan(undo=("op",)), NoPlan("no route"), GoalReached()])
async def test_a_sync_function_answers(context: PlanningContext, answer: Any) -> None:
    planner: Planner = FunctionPlanner(lambda _: answer)
    assert answer is await planner.plan(context)


async def test_an_async_function_answers(context: PlanningContext) -> None:
    async def plan(context: PlanningContext) -> Plan:
        return Plan((STEP,), reason=context.goal.text)

    assert Plan((STEP,), reason="a goal") == await FunctionPlanner(plan).plan(context)


async def test_any_callable_will_do(context: PlanningContext) -> None:
    class Planning:
        async def __call__(self, context: PlanningContext) -> NoPlan:
            return NoPlan(context.run_id)

    def plan(reason: str, context: PlanningContext) -> NoPlan:
        return NoPlan(f"{reason} {context.run_id}")

    assert NoPlan("run") == await FunctionPlanner(Planning()).plan(context)
    assert NoPlan("for run") == await FunctionPlanner(functools.partial(plan, "for")).plan(context)


async def test_a_list_of_steps_is_a_plan(context: PlanningContext) -> None:
    assert Plan((STEP, STEP)) == await FunctionPlanner(lambda _: [STEP, STEP]).plan(context)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (None, "answered None, which is nothing;"),
        ("charge", "answered 'charge', which is of type str;"),
        ([], "answered [], which does not say whether the goal is reached;"),
        (["charge"], "answered ['charge'], whose item 0 is of type str;"),
        ((STEP,), "which is of type tuple;"),
    ],
)
async def test_nonsense_is_named(context: PlanningContext, answer: Any, problem: str) -> None:
    with pytest.raises(PlannerAnswerError) as caught:
        await FunctionPlanner(lambda _: answer, name="orders").plan(context)
    assert str(caught.value).startswith("planner 'orders' answered ")
    assert problem in str(caught.value)
    assert str(caught.value).endswith("or GoalReached()")
    assert ("orders", answer) == (caught.value.planner, caught.value.answer)


async def test_a_long_answer_is_shortened(context: PlanningContext) -> None:
    with pytest.raises(PlannerAnswerError) as caught:
        await FunctionPlanner(lambda _: "x" * 10_000).plan(context)  # type: ignore[arg-type, return-value]
    assert len(str(caught.value)) < 500


async def test_what_the_function_raises_is_raised(context: PlanningContext) -> None:
    def plan(_: PlanningContext) -> Plan:
        raise LookupError("no such order")

    with pytest.raises(LookupError, match="no such order"):
        await FunctionPlanner(plan).plan(context)


async def test_a_planner_is_called_by_its_functions_name(context: PlanningContext) -> None:
    def plan_nothing(_: PlanningContext) -> Any:
        return 5

    with pytest.raises(PlannerAnswerError, match=r"plan_nothing' answered 5"):
        await FunctionPlanner(plan_nothing).plan(context)
