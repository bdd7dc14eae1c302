"""Inputs of planned steps, and steps that ask for an effect once more."""

from typing import Any

from midcourse.domain.goap import Goap
from midcourse.domain.plan import NoPlan, Plan
from midcourse.domain.tools import ToolSpec


def tool(
    name: str, pre: dict[str, bool] | None = None, post: dict[str, bool] | None = None, **rest: Any
) -> ToolSpec:
    return ToolSpec(f"user__{name}", pre=pre or {}, post=post or {}, **rest)


def reversible(name: str, post: dict[str, bool], **rest: Any) -> list[ToolSpec]:
    return [
        tool(name, post=post, effect="reversible", undo=f"user__un{name}", **rest),
        tool(f"un{name}", idempotent=True),
    ]


def test_results_that_inputs_refer_to_are_preconditions(context_of: Any) -> None:
    tools = [
        tool("quote", effect="read"),
        tool("pay", post={"paid": True}, input={"cents": "{{quote.cents}}"}),
    ]
    plan = Goap([{"paid": True}]).plan(context_of(tools))
    assert isinstance(plan, Plan)
    assert [(step.tool_name, step.input) for step in plan.steps] == [
        ("user__quote", {}),
        ("user__pay", {"cents": "{{E0.cents}}"}),
    ]
    assert plan.conditions == {"paid": False}


def test_the_latest_standing_operation_of_the_tool_is_referred_to(context_of: Any, entry_of: Any) -> None:
    tools = [tool("quote", effect="read"), tool("pay", post={"paid": True}, input={"cents": "{{quote}}"})]
    ledger = (
        entry_of("E0", "user__quote", effect="read"),
        entry_of("E1", "user__quote", effect="read"),
        entry_of("E2", "user__quote", effect="read", state="undone"),
    )
    plan = Goap([{"paid": True}]).plan(context_of(tools, ledger=ledger, next_id=3))
    assert isinstance(plan, Plan)
    assert [step.input for step in plan.steps] == [{"cents": "{{E1}}"}]


def test_a_result_that_is_undone_is_not_referred_to(context_of: Any, entry_of: Any) -> None:
    tools = [
        *reversible("a", {"x": True}),
        tool("use", {"x": False}, {"used": True}, input={"id": "{{a.id}}"}),
    ]
    context = context_of(tools, ledger=(entry_of("E0", "user__a", effect="reversible"),))
    assert isinstance(Goap([{"used": True}]).plan(context), NoPlan)


def test_names_in_templates(context_of: Any) -> None:
    tools = [
        tool("pick", post={"picked": True}),
        tool(
            "pack",
            {"picked": True},
            {"packed": True},
            input={
                "all": [
                    "{{ user__pick.items }}",
                    {"text": "{{#pick.items}}{{pick}} {{pick.id}}{{/pick.items}}"},
                ],
                "rest": "{{input.pick}} {{board.pick}} {{picked}} {{^pick}}none{{/pick}} {{E9.pick}} pick",
                "n": 3,
            },
        ),
    ]
    plan = Goap([{"packed": True}]).plan(context_of(tools))
    assert isinstance(plan, Plan)
    assert plan.steps[1].input == {
        "all": ["{{ E0.items }}", {"text": "{{#E0.items}}{{pick}} {{E0.id}}{{/E0.items}}"}],
        "rest": "{{input.pick}} {{board.pick}} {{E0}} {{^E0}}none{{/E0}} {{E9.pick}} pick",
        "n": 3,
    }


def test_an_effect_that_was_used_up_is_asked_for_once_more(context_of: Any, entry_of: Any) -> None:
    tools = [
        tool("load", post={"loaded": True}),
        tool("fire", {"loaded": True}, {"fired": True, "loaded": False}),
    ]
    ledger = (entry_of("E0", "user__load"), entry_of("E1", "user__fire"))
    plan = Goap([{"loaded": True}]).plan(context_of(tools, ledger=ledger))
    assert isinstance(plan, Plan)
    assert [(step.tool_name, step.again) for step in plan.steps] == [("user__load", True)]


def test_an_effect_only_a_function_denies_is_not_asked_for_once_more(context_of: Any, entry_of: Any) -> None:
    goap = Goap([{"loaded": True}], conditions={"loaded": lambda _: False})
    context = context_of([tool("load", post={"loaded": True})], ledger=(entry_of("E0", "user__load"),))
    plan = goap.plan(context)
    assert isinstance(plan, Plan)
    assert [(step.tool_name, step.again) for step in plan.steps] == [("user__load", False)]


def test_a_first_call_is_no_repetition(context_of: Any) -> None:
    plan = Goap([{"loaded": True}]).plan(context_of([tool("load", post={"loaded": True})]))
    assert isinstance(plan, Plan)
    assert [step.again for step in plan.steps] == [False]
    assert [step.reasoning for step in plan.steps] == ["brings about: loaded"]
