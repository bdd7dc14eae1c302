"""What steps refer to: templates, expressions, ``needs``, and where each may read what."""

from typing import Any

import pytest


def step(step_id: str, tool_name: str = "user__work", /, **fields: Any) -> dict[str, Any]:
    return {"id": step_id, "tool_name": tool_name, "input": fields.pop("input", {}), **fields}


def call(**input: Any) -> dict[str, Any]:
    return {"tool_name": "user__work", "input": input}


def test_a_step_reads_what_came_before_it(plan: Any) -> None:
    made = plan(
        step("E0", input={"a": "{{input.x}} {{board.y}}"}),
        step("E1", input={"a": ["{{E0.items.0}}"]}, operation="{{E0.id}}"),
        output={"a": "{{E1}}", "b": {"c": ["{{E0.x}}"]}},
    )
    assert [each.id for each in made.steps] == ["E0", "E1"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (
            "{{E1.a}}",
            (
                "steps.0.input.a: step E0: a template reads step 'E1', which comes later; move it before "
                "this one"
            ),
        ),
        ("{{E0.a}}", "steps.0.input.a: step E0: a template reads step 'E0', which is this step itself"),
        (
            "{{E7.a}}",
            ("steps.0.input.a: step E0: a template reads 'E7', which is no step (available: board, input)"),
        ),
        (
            "{{inputs.a}}",
            ("steps.0.input.a: step E0: a template reads 'inputs', which is no step (did you mean 'input'?)"),
        ),
        (
            "{{item.a}}",
            (
                "steps.0.input.a: step E0: a template reads 'item', which exists only in the body or "
                "gate of a map, reduce or filter"
            ),
        ),
        (
            ["", {"b": "{{input.a"}],
            (
                "steps.0.input.a.1.b: step E0: template syntax error: a tag is opened but "
                "not closed; write '}}' after it"
            ),
        ),
        (
            "a\nb {{> x}}",
            (
                "steps.0.input.a: step E0: template syntax error: line 2, column 3 of the text: "
                "partials are not part of the template language; write a path, or a section with '#' or '^'"
            ),
        ),
    ],
)
def test_what_a_step_may_not_read(wrong: Any, value: Any, said: str) -> None:
    assert wrong(step("E0", input={"a": value}), step("E1")) == [said]


def test_a_reference_is_pointed_at_where_it_stands(wrong: Any) -> None:
    value = {"fine": "{{input.a}}", "list": ["x", {"deep": "{{input.b}} {{E9}}"}]}
    [problem] = wrong(step("E0", input=value))
    assert problem.startswith("steps.0.input.list.1.deep: ")


@pytest.mark.parametrize("field", ["solver", "output"])
def test_the_end_reads_every_step(wrong: Any, field: str) -> None:
    text = "{{E0}} {{E8.x}}"
    value = {"x": text} if field == "output" else {"query_to_answer": text, "data": {"a": "{{E0}}"}}
    [problem] = wrong(step("E0"), **{field: value})
    assert "a template reads 'E8', which is no step" in problem


def test_ids_are_unique_in_bodies_too(wrong: Any) -> None:
    body = [step("E0"), step("E2"), step("E2")]
    assert wrong(step("E0"), step("E0"), step("E1", "map", input={"over": [], "do": body})) == [
        "steps.1.id: step E0: two steps have the id 'E0'; ids are unique, in bodies too",
        "steps.2.input.do.0.id: step E0: two steps have the id 'E0'; ids are unique, in bodies too",
        "steps.2.input.do.2.id: step E2: two steps have the id 'E2'; ids are unique, in bodies too",
    ]


def test_a_body_reads_its_item_and_the_steps_before_it(plan: Any) -> None:
    body = [step("E2", input={"a": "{{item.id}} {{index}} {{E0.x}}"}), step("E3", input={"a": "{{E2.x}}"})]
    plan(step("E0"), step("E1", "map", input={"over": "{{E0.items}}", "do": body}))
    plan(step("E1", "reduce", input={"over": [1], "do": call(a="{{accumulator}} {{item}}")}))
    plan(step("E1", "filter", input={"over": [1], "where": {"expr": "item.x > index"}}))


@pytest.mark.parametrize(
    ("input", "said"),
    [
        ({"over": "{{item}}", "do": call()}, "reads 'item', which exists only in the body or gate"),
        (
            {"over": [], "do": call(a="{{accumulator}}")},
            ("reads 'accumulator', which exists only in the body or gate of a reduce"),
        ),
        (
            {"over": [], "do": [step("E2", input={"a": "{{E3}}"}), step("E3")]},
            ("reads step 'E3', which comes later"),
        ),
        ({"over": [], "do": call(a="{{E1.count}}")}, "reads step 'E1', which is this step itself"),
    ],
)
def test_what_a_body_may_not_read(wrong: Any, input: dict[str, Any], said: str) -> None:
    [problem] = wrong(step("E1", "map", input=input))
    assert said in problem


def test_what_happens_in_a_body_stays_there(wrong: Any) -> None:
    inner = step("E1", "map", input={"over": [], "do": [step("E2")]})
    [problem] = wrong(inner, step("E3", input={"a": "{{E2.x}}"}))
    assert "a template reads 'E2', which is no step" in problem


def test_the_item_of_a_filter_is_for_its_gate(wrong: Any) -> None:
    where = {"value": "{{item.open}}", "op": "eq", "to": True}
    assert wrong(step("E0", "filter", input={"over": [1], "where": where})) == []
    [problem] = wrong(step("E0", "filter", input={"over": "{{item}}", "where": where}))
    assert "a template reads 'item'" in problem


def test_an_expression_reads_roots(wrong: Any) -> None:
    def exit_when(expr: str) -> dict[str, Any]:
        return step("E1", "exit", input={"when": {"expr": expr}, "status": "success"})

    assert wrong(step("E0"), exit_when("E0.items.exists(x, x.id > input.least) && size(E0.items) > 3")) == []
    assert wrong(step("E0"), exit_when("E0.n > 3 && E5.n > 3")) == [
        (
            "steps.1.input.when.expr: step E1: the expression reads 'E5', which is no step "
            "(available: E0, board, input)"
        )
    ]


def test_needs_are_steps(wrong: Any) -> None:
    assert wrong(step("E0"), step("E1", needs=["E0", "E00", "x"])) == [
        "steps.1.needs.1: step E1: needs 'E00', which is no step (did you mean 'E0'?)",
        "steps.1.needs.2: step E1: needs 'x', which is no step (available: E0, E1)",
    ]


def test_a_dag_may_read_in_any_order(plan: Any) -> None:
    made = plan(step("E0", needs=[], input={"a": "{{E1.x}}"}), step("E1"))
    assert len(made.steps) == 2


@pytest.mark.parametrize(
    "steps",
    [
        (step("E0", needs=["E2"]), step("E1", needs=["E0"]), step("E2", input={"a": "{{E1.x}}"})),
        (
            step("E0", needs=["E2"]),
            step("E1", needs=["E0"]),
            step("E2", "map", input={"over": [], "do": {"tool_name": "user__x", "input": {"a": "{{E1}}"}}}),
        ),
        (
            step("E0", needs=["E2"]),
            step("E1", needs=["E0"]),
            step("E2", "exit", input={"when": {"expr": "E1.x"}, "status": "error"}),
        ),
    ],
    ids=["template", "body", "expression"],
)
def test_a_cycle_is_named(wrong: Any, steps: Any) -> None:
    assert wrong(*steps) == [
        "steps.0: step E0: the steps wait for each other in a cycle: E0 → E2 → E1 → E0; break it"
    ]


def test_a_dag_step_cannot_read_itself(wrong: Any) -> None:
    problems = wrong(step("E0", needs=[], input={"a": "{{E0.x}}"}))
    assert "a template reads step 'E0', which is this step itself" in problems[0]
