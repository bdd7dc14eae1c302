"""Control steps: what their inputs may be, and what is made of them."""

from typing import Any

import pytest

from midcourse.domain.control import (
    Agent,
    Ask,
    Condition,
    Decide,
    Exit,
    Filter,
    Map,
    PlanStep,
    Question,
    Reduce,
    Wait,
    as_control,
    outside_references,
    parse_control,
    steps_of,
)
from midcourse.domain.plan import Step
from midcourse.domain.problems import Place, Problem

CALL = {"tool_name": "user__work", "input": {"a": "{{item}}"}}
SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}}


@pytest.mark.parametrize(
    ("tool", "input", "made"),
    [
        ("exit", {"status": "success"}, Exit(status="success")),
        (
            "exit",
            {
                "when": {"value": "{{E0.n}}", "op": "gt", "to": 3},
                "status": "error",
                "message": "no",
                "output": {},
            },
            Exit(status="error", when=Condition("{{E0.n}}", "gt", 3), message="no", output={}),
        ),
        (
            "exit",
            {"infer": "is it?", "model": "judge", "status": "error"},
            Exit(status="error", infer="is it?", model="judge"),
        ),
        (
            "decide",
            {"if": {"expr": "E0.n > 3"}, "then": CALL, "else": [{"id": "E2", **CALL}]},
            Decide(
                if_=Condition(expr="E0.n > 3"),
                then=PlanStep("", "user__work", {"a": "{{item}}"}),
                else_=(PlanStep("E2", "user__work", {"a": "{{item}}"}),),
            ),
        ),
        (
            "filter",
            {"over": "{{E0.items}}", "infer": "urgent?", "concurrency": 4},
            Filter(over="{{E0.items}}", infer="urgent?", concurrency=4),
        ),
        (
            "map",
            {"over": [1, 2], "do": CALL, "concurrency": 2},
            Map(over=(1, 2), do=PlanStep("", "user__work", {"a": "{{item}}"}), concurrency=2),
        ),
        (
            "reduce",
            {"over": "{{E0.items}}", "do": CALL, "initial": {"n": 0}},
            Reduce(over="{{E0.items}}", do=PlanStep("", "user__work", {"a": "{{item}}"}), initial={"n": 0}),
        ),
        (
            "agent",
            {
                "prompt": "find",
                "outputSchema": SCHEMA,
                "tools": ["a__*"],
                "maxIterations": 3,
                "systemPrompt": "x",
            },
            Agent(prompt="find", output_schema=SCHEMA, tools=("a__*",), max_iterations=3, system_prompt="x"),
        ),
        (
            "ask",
            {
                "prompt": "ship?",
                "output_schema": SCHEMA,
                "whenUnanswered": "default",
                "default": {"ok": True},
            },
            Ask(prompt="ship?", output_schema=SCHEMA, when_unanswered="default", default={"ok": True}),
        ),
        (
            "ask",
            {"prompt": "?", "output_schema": "{{E0.schema}}"},
            Ask(prompt="?", output_schema="{{E0.schema}}"),
        ),
        ("wait", {"until": "2030-01-31T09:00:00+01:00"}, Wait(until="2030-01-31T09:00:00+01:00")),
        ("wait", {"for_s": 1.5}, Wait(for_s=1.5)),
        (
            "wait",
            {"signal": "paid", "timeout_s": "{{input.s}}"},
            Wait(signal="paid", timeout_s="{{input.s}}"),
        ),
    ],
)
def test_what_a_control_step_is_to_do(tool: str, input: dict[str, Any], made: Any) -> None:
    assert as_control(tool, input) == made


def test_gates() -> None:
    assert Exit(status="error").gate is None
    assert Exit(status="error", infer="is it?", model="m").gate == Question("is it?", "m")
    decided = as_control("decide", {"if": {"value": "", "op": "empty"}, "then": CALL})
    assert isinstance(decided, Decide)
    assert decided.gate == Condition("", "empty")
    filtered = as_control("filter", {"over": [], "where": {"expr": "item.x"}})
    assert isinstance(filtered, Filter)
    assert filtered.gate == Condition(expr="item.x")


def test_the_steps_of_a_body() -> None:
    one, two = PlanStep("a", "x"), PlanStep("b", "y")
    assert (steps_of(None), steps_of(one), steps_of((one, two))) == ((), (one,), (one, two))


@pytest.mark.parametrize(
    ("tool", "input", "said"),
    [
        ("exit", {}, ": the input of 'exit' needs the field 'status': 'success' or 'error'"),
        (
            "exit",
            {"status": "success", "when": {"expr": "a"}, "infer": "b"},
            ("infer: 'when' and 'infer' exclude each other; leave one of them out"),
        ),
        (
            "exit",
            {"status": "success", "wen": 1},
            ("wen: the input of 'exit' has no field 'wen' (did you mean 'when'?)"),
        ),
        (
            "exit",
            {"status": "success", "when": {"value": 1, "op": "is", "to": 1}},
            (
                "when.op: 'op' must be 'eq' "
                "or 'ne' or 'gt' or 'lt' or 'gte' or 'lte' or 'empty' or 'not_empty' or 'contains', "
                "not the string "
                "'is'"
            ),
        ),
        (
            "exit",
            {"status": "success", "when": {}},
            ("when: a condition needs 'value' and 'op': {value, op, to}, or {expr}"),
        ),
        (
            "exit",
            {"status": "success", "when": {"value": 1, "op": "eq"}},
            ("when: a condition with 'op: eq' needs the field 'to': what the value is compared to"),
        ),
        (
            "exit",
            {"status": "success", "when": {"value": "3", "op": "gt", "to": 2}},
            ("when.value: condition: ordering ops need numbers, got string"),
        ),
        (
            "exit",
            {"status": "success", "when": {"value": 1, "expr": "a"}},
            ("when: a condition is {value, op, to} or {expr}, not both; leave value out"),
        ),
        (
            "exit",
            {"status": "success", "when": {"expr": "E0.n >"}},
            ("when.expr: 'E0.n >' is not a CEL expression: mismatched input '<EOF>' at line 1, column 7"),
        ),
        (
            "exit",
            {"status": "success", "when": {"expr": "{{E0.n}} > 1"}},
            ("when.expr: an expression holds no templates; write the path itself: E0.count > 3"),
        ),
        ("decide", {"then": CALL}, ": the input of 'decide' needs 'if' or 'infer', to decide by"),
        (
            "decide",
            {"infer": "x"},
            (
                ": the input of 'decide' needs the field 'then': one tool call {tool_name, "
                "input}, or a list of steps"
            ),
        ),
        (
            "decide",
            {"infer": "x", "then": []},
            ("then: 'then' has no steps; write at least one, or a tool call {tool_name, input}"),
        ),
        (
            "decide",
            {"infer": "x", "then": {"id": "a", **CALL}},
            (
                "then.id: a tool call has no field 'id' (it has: "
                "tool_name, input, reasoning, operation, again, undoes, retry, timeout_s, review, "
                "when_unapproved, "
                "default, on_replan)"
            ),
        ),
        (
            "decide",
            {"infer": "x", "then": {"tool_name": "map", "input": {}}},
            (
                "then.tool_name: 'then' may not "
                "hold a 'map'; put it into a plan of its own and call that as plan__…"
            ),
        ),
        (
            "map",
            {"over": [], "do": [{"id": "a", "toolName": "exit", "input": {"status": "error"}}]},
            (
                "do.0.toolName: step a: 'do' may not "
                "hold an 'exit', only 'then' and 'else' may; filter the items instead"
            ),
        ),
        (
            "map",
            {"over": [], "do": [{"id": "a", "needs": [], **CALL}]},
            ("do.0.needs: step a: the steps of a body run in order; leave 'needs' out, or call a plan__…"),
        ),
        (
            "map",
            {"over": "items", "do": CALL},
            ("over: 'over' must be a list, or a template such as '{{E0.values}}', not the string 'items'"),
        ),
        (
            "map",
            {"over": [], "do": CALL, "concurrency": 0},
            ("concurrency: 'concurrency' must be a whole number, 1 or more, not the number 0"),
        ),
        ("filter", {"over": []}, ": the input of 'filter' needs 'where' or 'infer', to decide by"),
        (
            "agent",
            {"prompt": "x", "output_schema": SCHEMA, "tools": []},
            ("tools: 'tools' is empty; name tools or globs such as 'user__*', or leave it out for all"),
        ),
        (
            "agent",
            {"prompt": "x", "output_schema": SCHEMA, "tools": ["plan_and_execute"]},
            ("tools.0: an agent cannot call 'plan_and_execute'; name other tools"),
        ),
        (
            "agent",
            {"prompt": "x", "output_schema": {"type": "string"}},
            ("output_schema: 'output_schema' must say 'type: object', or have 'properties'"),
        ),
        (
            "ask",
            {"prompt": "x", "output_schema": {"properties": {"a": {"type": "array"}}}},
            (
                "output_schema.properties.a: property 'a' of what is asked must be a string, number, "
                "integer, boolean "
                "or enum, so that a person can fill it in"
            ),
        ),
        (
            "ask",
            {"prompt": "x", "output_schema": SCHEMA, "when_unanswered": "default"},
            ("when_unanswered: 'when_unanswered: default' needs the field 'default': the answer then"),
        ),
        (
            "ask",
            {"prompt": "x", "output_schema": SCHEMA, "default": {}},
            ("default: 'default' counts only with 'when_unanswered: default'; add that, or leave it out"),
        ),
        (
            "wait",
            {},
            ": the input of 'wait' needs one of 'until', 'for_s' and 'signal', and has none of them",
        ),
        (
            "wait",
            {"for_s": 1, "signal": "a"},
            (": the input of 'wait' needs one of 'until', 'for_s' and 'signal', not 'for_s' and 'signal'"),
        ),
        ("wait", {"for_s": 1, "timeout_s": 2}, "timeout_s: 'timeout_s' belongs to 'signal'; leave it out"),
        (
            "wait",
            {"until": "tomorrow"},
            ("until: 'until' must be a time with its zone such as '2030-01-31T09:00:00Z', not 'tomorrow'"),
        ),
        (
            "wait",
            {"until": "2030-01-31T09:00:00"},
            (
                "until: 'until' must be a time with its zone such as "
                "'2030-01-31T09:00:00Z', not '2030-01-31T09:00:00'"
            ),
        ),
    ],
)
def test_what_a_control_step_may_not_say(tool: str, input: dict[str, Any], said: str) -> None:
    found: list[Problem] = []
    made = parse_control(tool, input, Place(found))
    assert [f"{'.'.join(map(str, each.path))}: {each}" for each in found] == [said]
    assert made is None


@pytest.mark.parametrize("field", ["then", "else"])
@pytest.mark.parametrize("tool", ["agent", "ask", "filter", "wait", "exit"])
def test_what_a_branch_may_hold(tool: str, field: str) -> None:
    inner: dict[str, Any] = {
        "agent": {"prompt": "x", "output_schema": SCHEMA},
        "ask": {"prompt": "x", "output_schema": SCHEMA},
        "filter": {"over": [], "infer": "x"},
        "wait": {"for_s": 1},
        "exit": {"status": "error"},
    }[tool]  # type: ignore[assignment]
    body = {"tool_name": tool, "input": inner}
    made = as_control("decide", {"infer": "x", "then": CALL, field: body})
    assert isinstance(made, Decide)
    assert (made.then if field == "then" else made.else_) == PlanStep("", tool, inner)


def test_what_was_not_checked_is_no_control_step() -> None:
    with pytest.raises(ValueError, match="the input of 'wait' needs one of"):
        as_control("wait", {})


def test_a_step_waits_for_what_its_bodies_read() -> None:
    body = [
        {"id": "E5", "tool_name": "user__x", "input": {"a": "{{item.id}} {{E0.x}}"}},
        {"id": "E6", "tool_name": "user__x", "input": {"a": "{{E5.x}} {{board.y}}"}, "operation": "{{E1.x}}"},
        {
            "id": "E7",
            "tool_name": "filter",
            "input": {"over": "{{E2.x}}", "where": {"expr": "item.n > E3.n"}},
        },
    ]
    step = Step("E9", "map", {"over": "{{E4.items}}", "do": body})
    assert outside_references(step) == {"E0", "E1", "E2", "E3", "E4"}


def test_control_steps_in_bodies_are_checked() -> None:
    found: list[Problem] = []
    body = [
        {"id": "E2", "tool_name": "wait", "input": {}},
        {"id": "E3", "toolName": "ask", "input": {"promt": 1}},
    ]
    parse_control("map", {"over": [], "do": body}, Place(found))
    assert [f"{'.'.join(map(str, each.path))}: {each}" for each in found] == [
        (
            "do.0.input: step E2: the input of 'wait' needs one of 'until', 'for_s' and 'signal', "
            "and has none of "
            "them"
        ),
        "do.1.input.promt: step E3: the input of 'ask' has no field 'promt' (did you mean 'prompt'?)",
        "do.1.input: step E3: the input of 'ask' needs the field 'prompt': a text that is not empty",
        (
            "do.1.input: step E3: the input of 'ask' needs the field 'output_schema': a JSON Schema, "
            "which is an "
            "object, or a template"
        ),
    ]
