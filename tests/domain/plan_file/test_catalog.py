"""What is around a plan: tools, other plans, servers."""

from collections.abc import Mapping
from typing import Any

import pytest

from midcourse.domain.plan_file import PlanFile, Surroundings, problems_in, read_plan_file
from midcourse.domain.tools import Catalog, ToolSpec

TOOLS = Catalog(
    [
        ToolSpec("user__look", effect="read"),
        ToolSpec("user__send", input_schema={"properties": {"to": {}, "text": {}}, "required": ["to"]}),
        ToolSpec("builtin__http"),
    ]
)


def step(step_id: str, tool_name: str, /, **input: Any) -> dict[str, Any]:
    return {"id": step_id, "tool_name": tool_name, "input": input}


def made(*steps: Any, identifier: str = "triage", **fields: Any) -> PlanFile:
    document = {"identifier": identifier, "name": "x", "description": "x", "steps": list(steps), **fields}
    plan = read_plan_file(document).plan
    assert plan is not None
    return plan


def around(
    *plans: PlanFile, servers: tuple[str, ...] = (), unusable: Mapping[str, str] | None = None
) -> Surroundings:
    return Surroundings(TOOLS, {each.identifier: each for each in plans}, frozenset(servers), unusable or {})


def said(plan: PlanFile, surroundings: Surroundings, **options: Any) -> list[str]:
    return [
        f"{'.'.join(map(str, each.path))}: {'' if each.is_error else f'{each.severity}: '}{each}"
        for each in problems_in(plan, surroundings, **options)
    ]


def test_nothing_is_wrong() -> None:
    plan = made(
        step("E0", "look"),
        step("E1", "user__send", to="x"),
        step("E2", "builtin__http"),
        step("E3", "plan_and_execute", query="x"),
        step("E4", "linear__list", what="ever"),
        step("E5", "plan__other"),
        requires_servers=["linear"],
    )
    assert said(plan, around(made(step("E0", "look"), identifier="other"), servers=("linear",))) == []


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("user__lok", "unknown user tool 'user__lok' (did you mean 'user__look'?)"),
        ("lok", "unknown tool 'lok' (did you mean 'look'?)"),
        ("mpa", "unknown tool 'mpa' (did you mean 'map'?)"),
        ("builtin__htp", "unknown built-in tool 'builtin__htp' (did you mean 'builtin__http'?)"),
        ("plan__othr", "unknown plan 'plan__othr' (did you mean 'plan__other'?)"),
        ("plan__xyz", "unknown plan 'plan__xyz' (there are: plan__other)"),
        ("linear__list", "needs MCP server 'linear', which is not configured"),
        ("usr__look", "needs MCP server 'usr', which is not configured (did you mean 'user__look'?)"),
        ("plan__hidden", "plan 'plan__hidden' cannot be called: it needs MCP server 'x'"),
    ],
)
def test_a_name_that_is_not_there(tool: str, text: str) -> None:
    other = made(step("E0", "look"), identifier="other")
    surroundings = around(other, unusable={"hidden": "it needs MCP server 'x'"})
    assert said(made(step("E0", tool)), surroundings) == [f"steps.0.tool_name: step E0: {text}"]


def test_calls_in_bodies_are_looked_at() -> None:
    body = [{"id": "E2", "toolName": "user__lok", "input": {}}]
    plan = made(
        step("E0", "map", over=[], do=body), step("E1", "decide", infer="?", then=step_call("user__sned"))
    )
    assert said(plan, around()) == [
        "steps.0.input.do.0.tool_name: step E2: unknown user tool 'user__lok' (did you mean 'user__look'?)",
        "steps.1.input.then.tool_name: step E1: unknown user tool 'user__sned' (did you mean 'user__send'?)",
    ]


def step_call(tool: str, **input: Any) -> dict[str, Any]:
    return {"tool_name": tool, "input": input}


def test_arguments_have_the_names_a_tool_takes() -> None:
    assert said(made(step("E0", "user__send", too="x")), around()) == [
        "steps.0.input.too: step E0: user__send takes no argument 'too' (did you mean 'to'?)",
        "steps.0.input: step E0: user__send needs the argument 'to'",
    ]


def test_a_plan_takes_its_inputs() -> None:
    schema = {"properties": {"team": {}}, "required": ["team"]}
    other = made(step("E0", "look"), identifier="other", input_schema=schema)
    assert said(made(step("E0", "plan__other", tem=1)), around(other)) == [
        "steps.0.input: step E0: plan__other needs the argument 'team'"
    ]


def test_a_server_that_is_declared_is_a_note_until_the_plan_is_to_run() -> None:
    plan = made(step("E0", "linear__list"), requires_servers=["linear"])
    text = "needs MCP server 'linear', which is not configured"
    assert said(plan, around()) == [f"requires_servers.0: note: {text}; the plan cannot run until it is"]
    assert said(plan, around(), to_run=True) == [f"requires_servers.0: {text}"]


def test_plans_that_are_called_are_looked_at_too() -> None:
    inner = made(step("E0", "user__lok"), identifier="inner")
    middle = made(step("E0", "plan__inner"), identifier="middle")
    assert said(made(step("E0", "look"), step("E1", "plan__middle")), around(inner, middle)) == [
        (
            "steps.1: step E1: in plan__inner: step E0: unknown user tool 'user__lok' (did you mean "
            "'user__look'?)"
        )
    ]


def test_a_cycle_of_plans_is_named() -> None:
    b = made(step("E0", "plan__c"), identifier="b")
    c = made(step("E0", "map", over=[], do=step_call("plan__a")), identifier="c")
    a = made(step("E0", "look"), step("E1", "plan__b"), identifier="a")
    assert said(a, around(b, c)) == ["steps.1.tool_name: step E1: recursive plan cycle: a → b → c → a"]


def test_a_plan_may_not_call_itself() -> None:
    assert said(made(step("E0", "plan__triage")), around()) == [
        "steps.0.tool_name: step E0: recursive plan cycle: triage → triage"
    ]


@pytest.mark.parametrize(("depth", "problems"), [(8, 0), (9, 1)])
def test_plans_call_plans_at_most_eight_deep(depth: int, problems: int) -> None:
    below = [
        made(step("E0", f"plan__p{n + 1}" if n < depth else "look"), identifier=f"p{n}")
        for n in range(1, depth + 1)
    ]
    found = said(made(step("E0", "plan__p1"), identifier="p0"), around(*below))
    assert len(found) == problems
    assert all("plans call plans 9 deep, at most 8 are allowed: p0 → p1 → " in each for each in found)


def test_many_ways_to_the_same_plan_are_walked_once() -> None:
    below = [
        made(*(step(f"E{i}", f"plan__p{n + 1}" if n < 8 else "look") for i in range(30)), identifier=f"p{n}")
        for n in range(1, 9)
    ]
    assert said(made(step("E0", "plan__p1"), identifier="p0"), around(*below)) == []


def agent(**input: Any) -> dict[str, Any]:
    schema = {"type": "object"}
    return {"id": "E0", "tool_name": "agent", "input": {"prompt": "x", "output_schema": schema, **input}}


def test_the_globs_of_an_agent_match_something() -> None:
    assert said(made(agent(tools=["user__l*", "usr__look", "linear__*"])), around(servers=("linear",))) == [
        "steps.0.input.tools.1: step E0: the glob 'usr__look' matches no tool (did you mean 'user__look'?)"
    ]


def test_an_agent_that_may_have_effects_is_worth_a_warning() -> None:
    assert said(made(agent(tools=["user__*"])), around()) == [
        "steps.0.input.tools: warning: step E0: the agent may call tools with effects: user__send"
    ]
    assert said(made(agent()), around()) == [
        "steps.0.input: warning: step E0: the agent may call tools with effects: builtin__http, user__send"
    ]
