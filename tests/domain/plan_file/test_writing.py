"""Writing a plan, changing its document, and the schema of all of them."""

import json
from typing import Any

import jsonschema_rs
import pytest

from midcourse.domain.errors import InvalidInputError
from midcourse.domain.plan_file import plan_file_schema, read_plan_file, written
from midcourse.domain.plan_file.editing import (
    with_changed_step,
    with_field,
    with_renamed_step,
    with_step,
    without_step,
)

DOCUMENT = {
    "steps": [
        {"input": {"a": 1}, "toolName": "user__look", "id": "E0"},
        {
            "tool_name": "map",
            "id": "E1",
            "input": {
                "do": [
                    {"id": "E2", "input": {"x": "{{item.a}} {{E0.b}}"}, "toolName": "user__look"},
                    {
                        "id": "E3",
                        "input": {"x": "{{E2.b}}"},
                        "tool_name": "user__send",
                        "operation": "{{E0.id}}",
                    },
                ],
                "over": "{{E0.items}}",
            },
        },
        {
            "id": "E4",
            "tool_name": "exit",
            "input": {
                "status": "error",
                "when": {"expr": "E1.count > 0 && E0.text != 'E1.count' && x.E1 == 1"},
            },
        },
        {
            "id": "E5",
            "tool_name": "user__look",
            "input": {"t": "{{#E1.results}}{{E1}}{{/E1.results}}{{E10}}"},
        },
    ],
    "solver": {"data": {"a": "{{E1.count}}"}, "queryToAnswer": "{{ E1.x }}?"},
    "description": "d",
    "name": "n",
    "identifier": "i",
}
PLAN = {
    "identifier": "i",
    "name": "n",
    "description": "d",
    "steps": [
        {"id": "E0", "tool_name": "user__look", "input": {"a": 1}},
        {
            "id": "E1",
            "tool_name": "decide",
            "input": {
                "if": {"op": "empty", "value": "{{E0}}"},
                "then": {"input": {}, "toolName": "agent"},
                "else": [{"toolName": "ask", "id": "E2", "input": {"whenUnanswered": "fail"}}],
            },
        },
    ],
}


def ordered(value: Any) -> str:
    return json.dumps(value)


def test_a_plan_is_written_in_one_order_and_one_spelling() -> None:
    document = dict(reversed(DOCUMENT.items())) | {"steps": DOCUMENT["steps"][:2]}  # type: ignore[index]
    document["solver"] = {"data": {}, "queryToAnswer": "?"}
    plan = read_plan_file(document).plan
    assert plan is not None
    assert ordered(written(plan)) == ordered(
        {
            "identifier": "i",
            "name": "n",
            "description": "d",
            "steps": [
                {"id": "E0", "tool_name": "user__look", "input": {"a": 1}},
                {
                    "id": "E1",
                    "tool_name": "map",
                    "input": {
                        "over": "{{E0.items}}",
                        "do": [
                            {"id": "E2", "tool_name": "user__look", "input": {"x": "{{item.a}} {{E0.b}}"}},
                            {
                                "id": "E3",
                                "tool_name": "user__send",
                                "input": {"x": "{{E2.b}}"},
                                "operation": "{{E0.id}}",
                            },
                        ],
                    },
                },
            ],
            "solver": {"query_to_answer": "?", "data": {}},
        }
    )


def test_what_is_written_reads_as_the_same_plan() -> None:
    plan = read_plan_file({**DOCUMENT, "steps": DOCUMENT["steps"][:2], "solver": None}).plan  # type: ignore[index]
    assert plan is not None
    again = read_plan_file(written(plan)).plan
    assert again is not None
    assert written(again) == written(plan)


def test_a_field_is_set_and_left_out() -> None:
    document = {"name": "n", "output": {}}
    assert with_field(document, "description", "d") == {"name": "n", "output": {}, "description": "d"}
    assert with_field(document, "output", None) == {"name": "n"}
    with pytest.raises(InvalidInputError, match=r"has no field 'nam' .did you mean 'name'"):
        with_field(document, "nam", 1)
    with pytest.raises(InvalidInputError, match="steps are changed one by one"):
        with_field(document, "steps", [])


def ids(document: Any) -> list[str]:
    return [each["id"] for each in document["steps"]]


def test_a_step_is_added() -> None:
    new = {"id": "N", "tool_name": "x", "input": {}}
    assert ids(with_step(PLAN, new)) == ["E0", "E1", "N"]
    assert ids(with_step(PLAN, new, before="E0")) == ["N", "E0", "E1"]
    assert ids(with_step(PLAN, new, after="E0")) == ["E0", "N", "E1"]
    with pytest.raises(InvalidInputError, match=r"the plan has no step 'E9' .it has: E0, E1"):
        with_step(PLAN, new, after="E9")


def test_a_step_is_changed_in_a_body_too() -> None:
    changed = with_changed_step(PLAN, "E0", {"toolName": "user__send", "input": None})
    assert changed["steps"][0] == {"id": "E0", "tool_name": "user__send"}
    inner = with_changed_step(PLAN, "E2", {"tool_name": "user__send", "reasoning": "why"})
    assert inner["steps"][1]["input"]["else"] == [
        {"id": "E2", "input": {"whenUnanswered": "fail"}, "tool_name": "user__send", "reasoning": "why"}
    ]
    assert PLAN["steps"][1]["input"]["else"][0]["toolName"] == "ask"  # type: ignore[index]
    with pytest.raises(InvalidInputError, match="rename"):
        with_changed_step(PLAN, "E0", {"id": "E9"})


def test_a_step_is_removed_from_a_body_too() -> None:
    assert ids(without_step(PLAN, "E0")) == ["E1"]
    assert without_step(PLAN, "E2")["steps"][1]["input"]["else"] == []
    with pytest.raises(InvalidInputError, match=r"no step 'E22' .did you mean 'E2'"):
        without_step(PLAN, "E22")


def test_what_refers_to_a_step_is_renamed_with_it() -> None:
    renamed = with_renamed_step(DOCUMENT, "E1", "mapped")
    assert ids(renamed) == ["E0", "mapped", "E4", "E5"]
    assert renamed["steps"][2]["input"]["when"]["expr"] == (
        "mapped.count > 0 && E0.text != 'E1.count' && x.E1 == 1"
    )
    assert renamed["steps"][3]["input"]["t"] == ("{{#mapped.results}}{{mapped}}{{/mapped.results}}{{E10}}")
    assert renamed["solver"] == {"data": {"a": "{{mapped.count}}"}, "queryToAnswer": "{{ mapped.x }}?"}


def test_what_refers_to_a_step_in_bodies_is_renamed_with_it() -> None:
    renamed = with_renamed_step(DOCUMENT, "E0", "first")
    inner = renamed["steps"][1]["input"]
    assert inner["over"] == "{{first.items}}"
    assert inner["do"][0]["input"] == {"x": "{{item.a}} {{first.b}}"}
    assert inner["do"][1]["operation"] == "{{first.id}}"
    within = with_renamed_step(DOCUMENT, "E2", "second")["steps"][1]["input"]["do"]
    assert (within[0]["id"], within[1]["input"]) == ("second", {"x": "{{second.b}}"})


def test_needs_are_renamed() -> None:
    document = {"steps": [{"id": "a", "needs": []}, {"id": "b", "needs": ["a", "ab"]}]}
    assert with_renamed_step(document, "a", "z")["steps"][1]["needs"] == ["z", "ab"]


SCHEMA = jsonschema_rs.Draft202012Validator(plan_file_schema())


def test_the_schema_takes_what_the_loader_takes() -> None:
    plan = read_plan_file({**DOCUMENT, "steps": DOCUMENT["steps"][:2], "solver": None}).plan  # type: ignore[index]
    assert plan is not None
    assert [error.message for error in SCHEMA.iter_errors(written(plan))] == []


@pytest.mark.parametrize(
    "change",
    [
        {"identifier": "a b"},
        {"steps": []},
        {"extra": 1},
        {"output": {}, "solver": {"query_to_answer": "x", "data": {}}},
        {"steps": [{"id": "item", "tool_name": "x", "input": {}}]},
        {"steps": [{"id": "E0", "tool_name": "x"}]},
        {"steps": [{"id": "E0", "tool_name": "workbench__x", "input": {}}]},
        {"steps": [{"id": "E0", "tool_name": "exit", "input": {}}]},
        {"steps": [{"id": "E0", "tool_name": "exit", "input": {"status": "error", "when": {"expr": 1}}}]},
        {"steps": [{"id": "E0", "tool_name": "map", "input": {"over": [], "do": []}}]},
        {"steps": [{"id": "E0", "tool_name": "map", "input": {"over": [], "do": {"tool_name": "wait"}}}]},
        {"steps": [{"id": "E0", "tool_name": "wait", "input": {"for_s": 1, "until": "x"}}]},
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(change: dict[str, Any]) -> None:
    step = {"id": "E0", "tool_name": "user__look", "input": {}}
    document = {"identifier": "i", "name": "n", "description": "d", "steps": [step]}
    assert SCHEMA.is_valid(document)
    assert not SCHEMA.is_valid(document | change)
    assert read_plan_file(document | change).problems


@pytest.mark.parametrize(
    ("input", "fits"),
    [
        ({"query": "x"}, True),
        (
            {"query": "{{input.q}}", "inputs": "{{E0}}", "limits": {"replans": 3, "budgets": [{"steps": 3}]}},
            True,
        ),
        ({"query": 3}, False),
        ({"inputs": {}}, False),
        ({"query": "x", "inputs": "E0"}, False),
        ({"query": "x", "limits": {"replan": 1}}, False),
    ],
)
def test_the_schema_knows_the_terms_of_a_child_run(input: dict[str, Any], fits: bool) -> None:
    step = {"id": "E0", "tool_name": "plan_and_execute", "input": input}
    assert SCHEMA.is_valid({"identifier": "i", "name": "n", "description": "d", "steps": [step]}) is fits
