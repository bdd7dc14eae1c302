"""The form of a plan file: its fields, and those of its steps."""

from typing import Any

import pytest

from midcourse.domain.control import PlanStep
from midcourse.domain.plan import Step
from midcourse.domain.plan_file import Requirement, Solver, read_plan_file
from midcourse.domain.tools import RetryPolicy


def document(*steps: Any, **fields: Any) -> dict[str, Any]:
    return {"identifier": "triage", "name": "Triage", "description": "Sorts.", "steps": list(steps), **fields}


STEP = {"id": "E0", "tool_name": "user__work", "input": {"a": 1}}


def test_a_plan_has_all_its_fields(plan: Any) -> None:
    made = plan(
        STEP,
        exemplars=["sort this"],
        requires_servers=["linear"],
        input_schema={"type": "object"},
        output={"a": "{{E0.a}}"},
        requirements=[{"id": "R1", "text": "all sorted", "evidence": {"operation": "user__*"}}],
        compensate_on_failure=False,
        undo=["user__work:1.0"],
    )
    assert (made.identifier, made.tool_name) == ("triage", "plan__triage")
    assert (made.name, made.description, made.exemplars) == ("Triage", "Sorts.", ("sort this",))
    assert (made.requires_servers, made.input_schema) == (("linear",), {"type": "object"})
    assert made.steps == (PlanStep("E0", "user__work", {"a": 1}),)
    assert made.output == {"a": "{{E0.a}}"}
    assert made.requirements == (Requirement(id="R1", text="all sorted", evidence={"operation": "user__*"}),)
    assert (made.compensate_on_failure, made.undo) == (False, ("user__work:1.0",))


def test_an_engine_gets_the_steps_it_knows(plan: Any) -> None:
    made = plan({**STEP, "needs": [], "reasoning": "why", "timeout_s": 3}, output={"a": 1})
    [step] = made.plan().steps
    assert type(step) is Step
    assert step == Step("E0", "user__work", {"a": 1}, (), "why", timeout_s=3)
    assert (made.plan().output, made.plan().compensate_on_failure) == ({"a": 1}, True)


def test_camel_case_is_read(plan: Any) -> None:
    made = plan(
        {"id": "E0", "toolName": "user__work", "input": {"outputSchema": 1}},
        solver={"queryToAnswer": "what?", "systemPrompt": "briefly", "data": {"x": "{{E0}}"}},
    )
    assert made.solver == Solver(query_to_answer="what?", system_prompt="briefly", data={"x": "{{E0}}"})
    assert made.steps == (PlanStep("E0", "user__work", {"outputSchema": 1}),)


def test_every_field_of_a_step_is_read(plan: Any) -> None:
    fields = {
        "reasoning": "why", "needs": [], "operation": "ship {{input.order}}", "again": True,
        "undoes": "x:1.0", "retry": {"max_attempts": 3}, "timeout_s": 1.5, "review": "person",
        "when_unapproved": "default", "default": {"a": 1}, "on_replan": "adopt",
    }  # fmt: skip
    [step] = plan({**STEP, **fields}).steps
    assert step == PlanStep(
        "E0", "user__work", {"a": 1}, (), "why", "ship {{input.order}}", True, "x:1.0", 1.5,
        retry=RetryPolicy(max_attempts=3), review="person", when_unapproved="default", default={"a": 1},
        on_replan="adopt",
    )  # fmt: skip


def test_null_is_a_field_left_out(plan: Any) -> None:
    assert plan({**STEP, "reasoning": None, "needs": None}, exemplars=None).exemplars == ()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, ": a plan file must be an object, not null"),
        ([], ": a plan file must be an object, not a list"),
        ("triage", ": a plan file must be an object, not the string 'triage'"),
    ],
)
def test_what_is_no_object_is_no_plan(value: Any, said: str) -> None:
    [problem] = read_plan_file(value).problems
    assert f"{'.'.join(map(str, problem.path))}: {problem}" == said


def test_all_problems_at_once(wrong: Any) -> None:
    assert wrong(
        {"id": "0E", "tool_name": "workbench__open", "input": {}},
        {"id": "item", "tool_nam": "user__x", "input": "x"},
        {"id": "E2", "tool_name": "a b", "input": {}, "timeout_s": -1},
        7,
        identifier="a b",
        descripton="?",
        exemplars="sort",
        output={},
        solver={"query_to_answer": " "},
    ) == [
        "descripton: a plan file has no field 'descripton' (did you mean 'description'?)",
        "exemplars: 'exemplars' must be a list of texts, not the string 'sort'",
        (
            "identifier: identifier 'a b' must be letters, digits, '_' and '-', since it becomes the tool "
            "plan__<identifier>"
        ),
        (
            "output: 'solver' and 'output' exclude each other: a model writes the answer, or the map "
            "does; leave "
            "one out"
        ),
        "solver.query_to_answer: 'query_to_answer' must be a text that is not empty, not the string ' '",
        "solver: a solver needs the field 'data': an object",
        (
            "steps.0.tool_name: step 0E: tool 'workbench__open' belongs to a workbench and is not "
            "for plans; name "
            "another tool"
        ),
        "steps.0.id: step 0E: step id '0E' must be letters, digits and _, not starting with a digit",
        "steps.1.tool_nam: step item: a step has no field 'tool_nam' (did you mean 'tool_name'?)",
        "steps.1.input: step item: 'input' must be an object, not the string 'x'",
        "steps.1: step item: a step needs the field 'tool_name': a text that is not empty",
        (
            "steps.1.id: step item: step id 'item' is reserved (accumulator, board, index, input, "
            "item, length); "
            "choose another"
        ),
        "steps.2.timeout_s: step E2: 'timeout_s' must be a number of seconds above 0, not the number -1",
        (
            "steps.2.tool_name: step E2: tool name 'a b' is none: it is 'user__…', 'builtin__…', 'plan__…', "
            "'<server>__<tool>', 'plan_and_execute', or a control step (exit, decide, filter, map, "
            "reduce, agent, "
            "ask, wait)"
        ),
        "steps.3: step #4: a step must be an object, not the number 7",
    ]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"identifier": None}, ": a plan file needs the field 'identifier': a text that is not empty"),
        ({"steps": []}, "steps: 'steps' is empty; a plan has at least one step"),
        ({"steps": {}}, "steps: 'steps' must be a list, not an object"),
        (
            {"compensate_on_failure": "yes"},
            "compensate_on_failure: 'compensate_on_failure' must be true or false, not the string 'yes'",
        ),
        (
            {"requirements": [{"id": "R", "text": "t", "evidence": {"expr": "a", "judge": "b"}}]},
            (
                "requirements.0.evidence: evidence is one of 'operation' (a glob), 'expr' (CEL) and "
                "'judge' (a text)"
            ),
        ),
        (
            {"requirements": 2 * [{"id": "R", "text": "t", "evidence": {"judge": "b"}}]},
            "requirements.1.id: two requirements have the id 'R'; ids are unique",
        ),
    ],
)
def test_fields_of_the_top(fields: dict[str, Any], said: str) -> None:
    [problem] = read_plan_file(document(STEP) | fields).problems
    assert f"{'.'.join(map(str, problem.path))}: {problem}" == said


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"toolName": "user__other"},
            (
                "steps.0.toolName: step E0: 'tool_name' and 'toolName' are the same field; write "
                "'tool_name' alone"
            ),
        ),
        ({"needs": "E1"}, "steps.0.needs: step E0: 'needs' must be a list of texts, not the string 'E1'"),
        ({"again": 1}, "steps.0.again: step E0: 'again' must be true or false, not the number 1"),
        (
            {"when_unapproved": "default"},
            (
                "steps.0.when_unapproved: step E0: 'when_unapproved: default' needs the field "
                "'default', its result "
                "then"
            ),
        ),
        (
            {"on_replan": "wait"},
            (
                "steps.0.on_replan: step E0: 'on_replan' must be 'drain' or 'adopt' or 'cancel', not "
                "the string "
                "'wait'"
            ),
        ),
        (
            {"retry": {"max_attempts": 0, "tries": 3}},
            (
                "steps.0.retry.max_attempts: step E0: 'max_attempts' must be a whole number, 1 or "
                "more, not the "
                "number 0"
            ),
        ),
        (
            {"tool_name": "linear__"},
            (
                "steps.0.tool_name: step E0: tool name 'linear__' has nothing on one side of '__'; write "
                "'<server>__<tool>'"
            ),
        ),
        (
            {"id": ""},
            "steps.0.id: step #1: 'id' must be a text that is not empty, not the string ''",
        ),
        (
            {"tool_name": " "},
            "steps.0.tool_name: step E0: 'tool_name' must be a text that is not empty, not the string ' '",
        ),
    ],
)
def test_fields_of_a_step(wrong: Any, fields: dict[str, Any], said: str) -> None:
    assert wrong({**STEP, **fields})[0] == said


def test_what_is_not_carried_out_is_named(plan: Any) -> None:
    task = {"prompt": "Say it.", "output_schema": {"type": "object"}}
    made = plan({**STEP, "retry": {"max_attempts": 2}}, {"id": "E1", "tool_name": "agent", "input": task})
    assert made.unsupported() == ["'agent' (step E1)"]
    assert made.plan().steps[0].retry.max_attempts == 2
