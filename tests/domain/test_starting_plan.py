"""Plans that are started with again: checked and prepared once, and never taken for one another."""

from __future__ import annotations

import datetime
import math
from typing import Any

import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.decide import react
from midcourse.domain.decide.starting_plan import MOST_KEPT_BYTES, first_draft
from midcourse.domain.errors import InvalidInputError, PlanInvalid
from midcourse.domain.goal import Goal
from midcourse.domain.incoming import checked
from midcourse.domain.plan import Plan, Step
from midcourse.domain.run import Run
from midcourse.domain.tools import Catalog, ToolSpec

from .kit import CATALOG, step


def _start(plan: Plan, *, at: float = 1.0, catalog: Catalog = CATALOG) -> list[f.Fact]:
    message = m.StartRun(at=at, goal=Goal("g"), lineage="run", plan=plan)
    return [fact for fact, _ in react(Run("run"), message, catalog).facts]


def _recorded(facts: list[f.Fact]) -> Plan:
    return next(fact.plan for fact in facts if isinstance(fact, f.PlanProposed))


def test_the_same_plan_gives_the_same_facts_as_the_first_time() -> None:
    plan = Plan([step("ship", input={"n": 1}), step("notify", input={"n": 2})])
    assert _start(plan) == _start(plan)


def test_an_equal_plan_gives_the_same_facts_and_shares_the_steps() -> None:
    first, second = (_recorded(_start(Plan([step("ship", input={"n": 1})]))) for _ in range(2))
    assert first == second
    assert first.steps[0] is second.steps[0]


def test_what_is_kept_is_not_the_plan_of_the_caller() -> None:
    owned = {"n": 1}
    plan = Plan([step("ship", input=owned)])
    before = _recorded(_start(plan))
    owned["n"] = 2
    assert before.steps[0].input == {"n": 1}
    assert _recorded(_start(plan)).steps[0].input == {"n": 2}
    owned["n"] = 1
    assert _recorded(_start(plan)).steps[0].input == {"n": 1}


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, True), (1, 1.0), (0, False), ("1", 1), (None, "null"), ({"a": 1}, {"a": 1.0}), ([], {})],
)
def test_values_that_python_calls_equal_are_not_confused(one: Any, other: Any) -> None:
    for value in (one, other, one):
        found = _recorded(_start(Plan([step("ship", input={"n": value})]))).steps[0].input["n"]
        assert (type(found), found) == (type(value), value)


def test_the_order_of_arguments_is_kept_as_it_was_given() -> None:
    for names in (("a", "b"), ("b", "a")):
        plan = Plan([step("ship", input=dict.fromkeys(names, 1))])
        assert tuple(_recorded(_start(plan)).steps[0].input) == names


def test_a_plan_is_prepared_anew_for_other_tools() -> None:
    plan = Plan([Step("s", "ship")])
    other = Catalog((ToolSpec("mcp__ship"),))
    assert _recorded(_start(plan)).steps[0].tool_name == "user__ship"
    assert _recorded(_start(plan, catalog=other)).steps[0].tool_name == "mcp__ship"
    assert _recorded(_start(plan)).steps[0].tool_name == "user__ship"


def test_a_plan_that_cannot_be_used_is_refused_every_time() -> None:
    plan = Plan([step("shipp")])
    for _ in range(2):
        with pytest.raises(PlanInvalid, match="did you mean 'ship'"):
            _start(plan)


def test_a_number_that_turns_into_nan_is_refused() -> None:
    owned: dict[str, Any] = {"n": None}
    plan = Plan([step("ship", input=owned)])
    _start(plan)
    owned["n"] = math.nan
    with pytest.raises(InvalidInputError):
        _start(plan)


def test_a_plan_that_reads_alike_and_is_of_the_wrong_types_is_refused() -> None:
    day: Any = datetime.date(2026, 1, 1)
    _start(Plan([step("ship", reasoning="2026-01-01")]))
    with pytest.raises(InvalidInputError):
        _start(Plan([step("ship", reasoning=day)]))


def test_the_rest_of_a_message_is_checked_each_time() -> None:
    plan = Plan([step("ship")])
    tags: Any = {"a": 1}
    message = m.StartRun(at=1.0, goal=Goal("g"), lineage="run", plan=plan, key="k")
    assert checked(message) == checked(message)
    with pytest.raises(InvalidInputError, match="tags"):
        checked(m.StartRun(at=1.0, goal=Goal("g"), lineage="run", plan=plan, tags=tags))


def test_a_long_plan_is_prepared_each_time() -> None:
    plan = Plan([step("ship", "s", reasoning="x" * MOST_KEPT_BYTES)])
    drafts = [first_draft(plan, CATALOG) for _ in range(2)]
    assert drafts[0] == drafts[1]
    assert drafts[0].plan is not drafts[1].plan
