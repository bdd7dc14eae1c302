"""Shapes of results, and paths that cannot fit them."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain.plan_file import Surroundings, problems_in, read_plan_file
from midcourse.domain.shapes import MOST_KEYS, Shape, declared_shape
from midcourse.domain.templates.reading import paths_in
from midcourse.domain.tools import Catalog, ToolSpec

RESULTS = [
    {"items": [{"id": 1, "who": {"name": "Mia"}}, {"id": 2, "who": None}], "total": 2, "next": None},
    {"items": [{"id": 3}], "total": 1, "next": "x", "note": "hm"},
]


def shape_of(*results: Any) -> Shape:
    shape = Shape()
    for result in results:
        shape.observe(result)
    return shape


def misfit(shape: Shape, text: str) -> str:
    [(_, path)] = paths_in(f"{{{{{text}}}}}")
    return shape.misfit(path)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("E", ""),
        ("E.items", ""),
        ("E.items.7.id", ""),
        ("E.items.length", ""),
        ("E.note", ""),  # it was there once
        ("E.next.length", ""),
        ("E.items.0.who.name", ""),
        ("E.itmes", "no key 'itmes' at E (did you mean 'items'?)"),
        ("E.items.0.ix", "no key 'ix' at E.items.0 (there are: id, who)"),
        ("E.items.first", "cannot read 'first' from an array at E.items"),
        ("E.total.x", "cannot read 'x' from a number at E.total"),
        ("E.total.length", ".length applies to arrays and strings, and at E.total is a number"),
        ("E.length", ".length applies to arrays and strings, and at E is an object"),
        ("E.items.0.who.nam", "no key 'nam' at E.items.0.who (did you mean 'name'?)"),
    ],
)
def test_a_path_fits_what_was_seen_or_is_said_not_to(path: str, problem: str) -> None:
    assert misfit(shape_of(*RESULTS), path) == problem


@pytest.mark.parametrize(
    ("results", "path"),
    [
        ([], "E.x"),
        ([None], "E.x"),
        ([[]], "E.0.x"),
        ([{}], "E.x"),
        ([{"a": 1}, {"b": 1}], "E.c"),  # no key was always there: the keys are data
        ([{"a": 1}, [1]], "E.c"),
        ([{f"k{number}": 1 for number in range(MOST_KEYS + 1)}], "E.c"),
    ],
)
def test_where_anything_may_come_nothing_is_said(results: Any, path: str) -> None:
    assert misfit(shape_of(*results), path) == ""


DECLARED = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": {"$ref": "#/$defs/item"}},
        "total": {"type": ["integer", "null"]},
        "open": {"type": "object", "properties": {"a": {}}, "additionalProperties": True},
    },
}


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("E.items.0.anything", ""),
        ("E.open.b", ""),
        ("E.open.a.b", ""),
        ("E.total.x", "cannot read 'x' from a number at E.total"),
        ("E.itmes", "no key 'itmes' at E (did you mean 'items'?)"),
    ],
)
def test_a_path_fits_what_is_declared(path: str, problem: str) -> None:
    assert misfit(declared_shape(DECLARED), path) == problem


def test_a_shape_for_people() -> None:
    assert shape_of(*RESULTS).lines() == [
        "  object", "    items: array of", "      object", "        id: number",
        "        who: null or object, not always", "          name: string", "    total: number",
        "    next: null or string", "    note: string, not always",
    ]  # fmt: skip


def test_paths_that_a_section_asks_about_need_not_lead_anywhere() -> None:
    text = "{{E.a}}{{#E.b}}{{E.b.c}}{{E.d}}{{name}}{{/E.b}}{{^E.e}}{{E.f}}{{/E.e}}"
    found = [path.text for _, path in paths_in({"x": [text]})]
    assert sorted(found) == ["E.a", "E.d", "E.f"]


def warnings(steps: list[dict[str, Any]], output: dict[str, Any], **spec: Any) -> list[tuple[str, str, bool]]:
    document = {"identifier": "p", "name": "p", "description": "p", "steps": steps, "output": output}
    plan = read_plan_file(document).plan
    assert plan is not None
    tools = Catalog([ToolSpec("user__search", effect="read", **spec), ToolSpec("user__tell")])
    around = Surroundings(tools, shapes={"user__search": shape_of(*RESULTS)})
    return [
        (".".join(map(str, each.path)), each.text, each.is_error)
        for each in problems_in(plan, around)
        if "fit" in each.text
    ]


SEARCH = {"id": "E", "tool_name": "search", "input": {}}
SAYS = (
    "{{E.itmes.0}} does not fit any of 2 results of user__search: no key 'itmes' at E (did you mean 'items'?)"
)


def test_steps_bodies_and_output_are_warned_of_and_stay_valid() -> None:
    over = {"id": "M", "tool_name": "map", "input": {
        "over": "{{E.items}}",
        "do": [{"id": "S", "tool_name": "search", "input": {}},
               {"id": "T", "tool_name": "tell", "input": {"a": ["{{S.total.x}} {{E.itmes.0}}"]}}],
    }}  # fmt: skip
    assert warnings([SEARCH, over], {"o": "{{E.itmes.0}}", "fine": "{{E.total}} {{M.count}}"}) == [
        (
            "steps.1.input.do.1.input.a.0",
            (
                "{{S.total.x}} does not fit any of 2 results of user__search: "
                "cannot read 'x' from a number at S.total"
            ),
            False,
        ),
        ("steps.1.input.do.1.input.a.0", SAYS, False),
        ("output.o", SAYS, False),
    ]


def test_what_is_declared_wins() -> None:
    schema = {"type": "object", "properties": {"itmes": {"type": "array"}}}
    assert warnings([SEARCH], {"o": "{{E.itmes.0}}", "p": "{{E.items}}"}, output_schema=schema) == [
        (
            "output.p",
            (
                "{{E.items}} does not fit the output_schema of user__search: "
                "no key 'items' at E (did you mean 'itmes'?)"
            ),
            False,
        )
    ]


def test_a_step_that_may_have_another_result_is_not_looked_at() -> None:
    step = {**SEARCH, "when_unapproved": "default", "default": {"itmes": []}}
    assert warnings([step], {"o": "{{E.itmes.0}}"}) == []
