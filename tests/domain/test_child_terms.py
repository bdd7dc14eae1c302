"""What a step that plans and executes may say."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain.budget import Budget
from midcourse.domain.child_terms import Terms, read_terms, term_problems
from midcourse.domain.errors import InvalidInputError
from midcourse.domain.facts import Limits
from midcourse.domain.goal import Requirement
from midcourse.domain.unknown_fields import unknown_fields

PLANNERS = frozenset(("air", "sea"))


def test_terms_are_read() -> None:
    given = {
        "query": "book",
        "inputs": {"n": 1},
        "planner": "air",
        "requirements": [{"id": "r", "text": "booked", "evidence": {"operation": "book*"}}],
        "limits": {"replans": 2, "budgets": [{"steps": 5}]},
    }
    assert read_terms(given) == Terms(
        query="book",
        inputs={"n": 1},
        planner="air",
        requirements=(Requirement(id="r", text="booked", evidence={"operation": "book*"}),),
        limits=Limits(replans=2, budgets=(Budget(steps=5),)),
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "missing required field `query` (it takes: query, inputs, planner, requirements, limits)"),
        ({"query": 7}, "Expected `str`, got `int` - at `$.query` (it takes: "),
        ({"query": "a", "querry": "b"}, "contains unknown field `querry` (it takes: "),
        ({"query": "a", "limits": {"replan": 1}}, "limits.replan: there is no field 'replan' (did you mean"),
    ],
)
def test_terms_that_are_none_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        read_terms(given)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("given", "own", "problems"),
    [
        ({"query": "a", "planner": "sea"}, "", []),
        ({"query": "a"}, "air", []),
        ({"query": "{{input.q}}", "planner": "{{input.p}}", "inputs": "{{E0}}"}, "", []),
        ({"query": "a"}, "", [("planner", "plan_and_execute: name the planner to ask in 'planner'")]),
        (
            {"query": "", "planner": "air"},
            "",
            [("query", "plan_and_execute: query: says what the child run is")],
        ),
        (
            {"query": 7, "inputs": [], "planner": "rail"},
            "",
            [
                ("query", "plan_and_execute: query: Expected `str`, got `int`"),
                ("inputs", "plan_and_execute: inputs: Expected `object`, got `array`"),
                ("planner", "plan_and_execute: there is no planner 'rail' (registered: air, sea)"),
            ],
        ),
        (
            {"query": "a", "planner": "air", "limits": {"budget": []}},
            "",
            [("limits", "plan_and_execute: limits.budget: there is no field 'budget'")],
        ),
    ],
)
def test_what_is_written_out_is_looked_at_before_it_is_rendered(
    given: dict[str, Any], own: str, problems: list[tuple[str, str]]
) -> None:
    found = list(term_problems(given, own, PLANNERS))
    assert [name for name, _ in found] == [name for name, _ in problems]
    for (_, said), (_, expected) in zip(found, problems, strict=True):
        assert said.startswith(expected)


def test_where_planners_are_not_known_none_is_missed() -> None:
    assert list(term_problems({"query": "a"}, "", None)) == []
    assert list(term_problems({"query": "a", "planner": "rail"}, "", None)) == []


def test_unknown_fields_are_found_however_deep() -> None:
    value = {"limits": {"budgets": [{"steps": 1}, {"cst": 2}]}, "colour": "red"}
    assert list(unknown_fields(value, Terms)) == [
        "limits.budgets[1].cst: there is no field 'cst' (did you mean 'cost'?)",
        "colour: there is no field 'colour' (it takes: query, inputs, planner, requirements, limits)",
    ]
