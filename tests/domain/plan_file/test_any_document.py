"""Whatever stands in a document: reading it, looking around it and changing it raise nothing."""

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from midcourse.domain.control.bodies import STEP_FIELDS
from midcourse.domain.control.model import CONTROLS
from midcourse.domain.control.parse import FIELDS as CONTROL_FIELDS
from midcourse.domain.errors import InvalidInputError
from midcourse.domain.plan_file import Surroundings, normal_document, problems_in, read_plan_file, written
from midcourse.domain.plan_file.document import FIELDS
from midcourse.domain.plan_file.editing import with_renamed_step
from midcourse.domain.tools import Catalog, ToolSpec

CONDITION = ("toolName", "expr", "value", "op", "to")
NAMES = sorted({*FIELDS, *STEP_FIELDS, *CONDITION}.union(*CONTROL_FIELDS.values()))
TEXTS = [
    "",
    "E0",
    "E1",
    "item",
    "{{E0}}",
    "{{item.x}}",
    "{{",
    "E0.x > 1",
    "size(",
    "error",
    "eq",
    "plan__p",
    "user__w",
]
SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([*TEXTS, *CONTROLS])
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=8,
)
PLAN: dict[str, Any] = {
    "identifier": "p",
    "name": "p",
    "description": "p",
    "input_schema": {"type": "object", "properties": {"a": {}}},
    "steps": [
        {"id": "E0", "tool_name": "user__w", "input": {"a": "{{input.a}}"}},
        {
            "id": "E1",
            "tool_name": "map",
            "input": {
                "over": "{{E0.x}}",
                "do": [
                    {"id": "E2", "tool_name": "user__w", "input": {"a": "{{item}}"}},
                    {"id": "E3", "tool_name": "filter", "input": {"over": [], "where": {"expr": "item.a"}}},
                ],
            },
        },
        {
            "id": "E4",
            "tool_name": "decide",
            "input": {
                "if": {"value": "{{E0.n}}", "op": "gt", "to": 1},
                "then": {"tool_name": "plan__p", "input": {}},
                "else": {"tool_name": "exit", "input": {"status": "error"}},
            },
        },
    ],
    "output": {"a": "{{E1.count}}"},
}
AROUND = Surroundings(Catalog([ToolSpec("user__w", input_schema={"properties": {"a": {}}})]))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        found += places(each, (*path, key))
    return found


@st.composite
def documents(draw: st.DrawFn) -> Any:
    """A plan of which some places hold anything."""
    document = copy.deepcopy(PLAN)
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(places(document)))
        target: Any = document
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = draw(JSON)
    return document


@settings(deadline=None, max_examples=300)
@given(document=documents() | JSON)
def test_nothing_is_raised(document: Any) -> None:
    plan, problems = read_plan_file(document)
    assert (plan is None) == any(each.is_error for each in problems)
    if plan is not None:
        problems_in(plan, AROUND)
        plan.plan()
        plan.unsupported()
        again = read_plan_file(written(plan))
        assert (again.problems, again.plan) == ([], plan)
    if isinstance(document, dict):
        normal_document(document)
        try:
            with_renamed_step(document, "E0", "E9")
        except InvalidInputError as error:
            assert "the plan has no step 'E0'" in str(error)  # noqa: PT017 - most documents have one
