"""Taking back what stands, as part of a plan."""

from typing import Any

import pytest

from midcourse.domain.goap import Goap
from midcourse.domain.plan import NoPlan, Plan
from midcourse.domain.tools import ToolSpec


def tool(
    name: str, pre: dict[str, bool] | None = None, post: dict[str, bool] | None = None, **rest: Any
) -> ToolSpec:
    return ToolSpec(f"user__{name}", pre=pre or {}, post=post or {}, **rest)


def names(answer: object) -> list[str]:
    assert isinstance(answer, Plan), answer
    return [step.tool_name.removeprefix("user__") for step in answer.steps]


def reversible(name: str, post: dict[str, bool], **rest: Any) -> list[ToolSpec]:
    return [
        tool(name, post=post, effect="reversible", undo=f"user__un{name}", **rest),
        tool(f"un{name}", idempotent=True),
    ]


def test_undos_come_newest_first_before_all_steps(context_of: Any, entry_of: Any) -> None:
    tools = [
        *reversible("a", {"x": True}),
        *reversible("b", {"y": True}),
        tool("say", {"x": False}, {"said": True}),
    ]
    ledger = (
        entry_of("E0", "user__a", effect="reversible"),
        entry_of("E1", "user__b", effect="reversible"),
    )
    plan = Goap([{"y": False, "said": True}]).plan(context_of(tools, ledger=ledger))
    assert isinstance(plan, Plan)
    assert (plan.undo, names(plan)) == (("op-E1", "op-E0"), ["say"])


def test_a_condition_that_two_operations_brought_about_takes_two_undos(
    context_of: Any, entry_of: Any
) -> None:
    ledger = tuple(entry_of(f"E{n}", "user__a", effect="reversible") for n in range(12))
    plan = Goap([{"x": False}]).plan(context_of(reversible("a", {"x": True}), ledger=ledger))
    assert isinstance(plan, Plan)
    assert plan.undo == tuple(f"op-E{n}" for n in reversed(range(12)))
    assert plan.cost == 12.0


@pytest.mark.parametrize(
    "entry",
    [{"effect": "irreversible"}, {"effect": "reversible", "takes_back": "op-E9"}],
)
def test_what_cannot_be_undone_stays(context_of: Any, entry_of: Any, entry: dict[str, str]) -> None:
    ledger = (entry_of("E0", "user__a", **entry),)
    answer = Goap([{"x": False}]).plan(context_of(reversible("a", {"x": True}), ledger=ledger))
    assert isinstance(answer, NoPlan)
    assert "user__a made it true, which cannot be undone, and no tool changes it" in answer.reason


def test_an_undo_uncovers_what_was_there_before(context_of: Any, entry_of: Any) -> None:
    tools = [tool("set", post={"x": False}), *reversible("a", {"x": True})]
    ledger = (entry_of("E0", "user__set"), entry_of("E1", "user__a", effect="reversible"))
    plan = Goap([{"x": False}]).plan(context_of(tools, ledger=ledger, board={"x": True}))
    assert isinstance(plan, Plan)
    assert (plan.undo, plan.steps) == (("op-E1",), ())


def test_undo_and_tool_are_weighed_against_each_other(context_of: Any, entry_of: Any) -> None:
    tools = [*reversible("a", {"x": True}), tool("reset", post={"x": False}, cost=2)]
    context = context_of(tools, ledger=(entry_of("E0", "user__a", effect="reversible"),))
    cheap_undo = Goap([{"x": False}]).plan(context)
    dear_undo = Goap([{"x": False}], costs={"una": lambda _: 3.0}).plan(context)
    assert isinstance(cheap_undo, Plan)
    assert (cheap_undo.undo, names(cheap_undo)) == (("op-E0",), [])
    assert isinstance(dear_undo, Plan)
    assert (dear_undo.undo, names(dear_undo)) == ((), ["reset"])


def test_a_function_may_depend_on_what_is_undone(context_of: Any, entry_of: Any) -> None:
    tools = [*reversible("a", {"x": True}), *reversible("b", {"y": True})]
    ledger = tuple(
        entry_of(f"E{n}", f"user__{name}", effect="reversible") for n, name in enumerate(("a", "b", "a"))
    )
    goap = Goap([{"made_whole": True}], conditions={"made_whole": lambda context: not context.committed("a")})
    plan = goap.plan(context_of(tools, ledger=ledger))
    assert isinstance(plan, Plan)
    assert plan.undo == ("op-E2", "op-E0")


def test_an_undo_tool_is_never_a_step(context_of: Any) -> None:
    tools = [
        tool("a", post={"x": True}, effect="reversible", undo="user__una"),
        tool("una", post={"x": False, "clean": True}, idempotent=True),
    ]
    answer = Goap([{"clean": True}]).plan(context_of(tools))
    assert isinstance(answer, NoPlan)
    assert "only user__una does that, which is there to take user__a back, not to be a step" in answer.reason
