"""What runs may do: tools, limits, and what needs a person's approval."""

from __future__ import annotations

import pytest

from midcourse.domain import facts as f
from midcourse.domain.authority import ApprovalRule, Authority, Rate, ToolLimit
from midcourse.domain.errors import AuthorityInvalid
from midcourse.domain.expressions import ExpressionError, holds
from midcourse.domain.orders import Execute, MakePlan
from midcourse.domain.tools import Catalog, ToolSpec

from .consent import BOB, approves, asks_for, under
from .kit import TOOLS, failure, given, has, like, step
from .tellings import cancel, fails, planned, proposes, start, succeeds

DENIED_SHIP = under(deny=("ship",))


# -- tools a planner may use


def test_a_plan_with_a_tool_its_planner_may_not_use_is_rejected_with_the_reason() -> None:
    given(start(), tools=DENIED_SHIP).when(proposes("look", "ship")).then(
        like(f.PlanProposed),
        like(
            f.ProposalRejected, code="authority", problems=(has("step E1: planners may not use user__ship"),)
        ),
        like(f.PlanRequested),
        like(MakePlan),
    )


@pytest.mark.parametrize(
    ("authority", "offered"),
    [
        ({"allow": ("look", "user__re*")}, {"user__look", "user__reserve", "user__release", "user__refund"}),
        ({"allow": ("*",), "deny": ("user__*",)}, set()),
        ({"allow": ("l*", "ship"), "deny": ("ship",)}, {"user__look"}),
    ],
)
def test_a_planner_is_shown_the_tools_it_may_use(authority: dict[str, object], offered: set[str]) -> None:
    story = given(start(), tools=under(**authority))
    (order,) = story.orders
    assert isinstance(order, MakePlan)
    assert {spec.name for spec in order.context.tools} == offered


def test_a_person_may_plan_with_any_tool() -> None:
    given(tools=DENIED_SHIP).when(start("ship")).then(
        like(f.RunStarted), like(f.PlanProposed), like(f.PlanAccepted), like(f.StepStarted), like(Execute)
    )


def test_authority_is_checked_at_admission_for_plans_accepted_before_it_changed() -> None:
    story = given(*planned("look", "ship")).when(succeeds("E0"), tools=DENIED_SHIP)
    assert story.new[1] == like(
        f.StepFailed, step="E1", operation="", failure=failure("authority", "may not use user__ship")
    )


def test_a_bare_glob_means_no_tool_of_a_server() -> None:
    assert not Authority(allow=("pay",)).lets_planners_use("shop__pay")


# -- what needs approval


@pytest.mark.parametrize(
    "rule",
    [
        {"tool": "charge"},
        {"tool": "user__ch*"},
        {"effect": "reversible"},
        {"when": "tool.effect == 'reversible' && input.amount > 100"},
        {"when": "run.tags.shop == 'oslo' && step.id == 'E0'"},
        {"tool": "charge", "effect": "reversible", "when": "input.amount == 200"},
    ],
)
def test_operators_ask_for_approval_by_name_by_effect_and_by_expression_over_rendered_arguments(
    rule: dict[str, str],
) -> None:
    charge = step("charge", input={"order": "{{input.n}}", "amount": 200})
    given(tools=asks_for(**rule)).when(start(charge, tags={"shop": "oslo"})).then(
        like(f.RunStarted),
        like(f.PlanProposed),
        like(f.PlanAccepted),
        like(
            f.ApprovalRequested,
            step="E0",
            revision=1,
            tool="user__charge",
            input={"order": 1, "amount": 200},
            why=has("a rule asks for it"),
            approvers=("token:*",),
            four_eyes=True,
        ),
    )


@pytest.mark.parametrize(
    "rule",
    [
        {"tool": "ship"},
        {"effect": "irreversible"},
        {"when": "input.amount > 1000"},
        {"tool": "charge", "when": "false"},
    ],
)
def test_what_no_rule_asks_for_starts_at_once(rule: dict[str, str]) -> None:
    story = given(start(step("charge", input={"order": 1, "amount": 200})), tools=asks_for(**rule))
    assert story.orders == [like(Execute, tool="user__charge")]


@pytest.mark.parametrize("when", ["input.amount > 100", "input.missing == 1", "input.text", "nothing > 1"])
def test_an_expression_that_errors_requires_approval(when: str) -> None:
    story = given(start(step("ship", input={"text": "a", "amount": "much"})), tools=asks_for(when=when))
    assert story.new[3:] == [like(f.ApprovalRequested, why=has("failed", when))]


def test_rules_of_operators_hold_in_both_modes_and_whoever_planned() -> None:
    by_planner = given(*planned("ship"), tools=asks_for(tool="ship"))
    by_person = given(start("ship", mode="interactive"), tools=asks_for(tool="ship"))
    assert [story.new[-1] for story in (by_planner, by_person)] == [like(f.ApprovalRequested, step="E0")] * 2


def test_syntax_errors_are_refused_with_their_place() -> None:
    rules = (ApprovalRule(), ApprovalRule(when="input.amount >"))
    with pytest.raises(AuthorityInvalid) as refused:
        Authority(approvals=rules, interactive=(ApprovalRule(when="("),)).check()
    assert refused.value.problems == (
        has("approvals[1].when: 'input.amount >'", "Syntax error"),
        has("interactive[0].when: '('"),
    )


def test_limits_that_mean_nothing_are_refused_with_their_place() -> None:
    limits = (ToolLimit(at_once=0, rate=Rate(0)), ToolLimit(calls_per_run=-1, rate_per_run=Rate(1, 0.0)))
    with pytest.raises(AuthorityInvalid) as refused:
        Authority(limits=limits).check()
    assert refused.value.problems == (
        has("limits[0].at_once"),
        has("limits[0].rate:"),
        has("limits[1].rate_per_run"),
        has("limits[1].calls_per_run"),
    )


def test_an_expression_is_true_or_false() -> None:
    assert holds("1 < 2", {}) is True
    with pytest.raises(ExpressionError, match="must be true or false"):
        holds("1 + 2", {})


# -- limits


def calls(most: int, tool: str = "*") -> Catalog:
    return under(limits=(ToolLimit(tool=tool, calls_per_run=most),))


def test_a_call_over_the_limit_of_a_run_fails_its_step_and_is_named() -> None:
    story = given(*planned("look", "ship", "notify"), succeeds("E0"), tools=calls(2))
    story.when(succeeds("E1"))
    assert story.new[1] == like(f.StepFailed, step="E2", failure=failure("limit", "made 2 of 2 calls of '*'"))


def test_a_limit_counts_the_tools_of_its_glob_only() -> None:
    story = given(*planned("look", "ship", "ship"), succeeds("E0"), tools=calls(1, "ship"))
    story.when(succeeds("E1"))
    assert story.new[1] == like(f.StepFailed, failure=failure("limit", "'ship'"))


def test_retries_and_satisfied_steps_do_not_count() -> None:
    story = given(*planned("reserve", "look"), fails("E0", retry_after_s=0.0), tools=calls(3))
    story.when(succeeds("E0")).when(fails("E1"))
    assert story.run.calls == {"user__reserve": 1, "user__look": 1}
    story.when(proposes("reserve", "notify"))
    assert story.new[2:] == [like(f.StepSatisfied, step="E2"), like(f.StepStarted, step="E3")]


def test_a_limit_of_costs_sums_the_declared_costs_of_what_a_run_began() -> None:
    tools = Catalog(
        [ToolSpec("user__query", effect="read", cost=0.1)],
        Authority(limits=(ToolLimit(cost_per_run=0.3),)),
    )
    story = given(*planned("query", "query", "query", "query"), succeeds("E0"), succeeds("E1"), tools=tools)
    assert story.new[1] == like(f.StepStarted, step="E2")
    story.when(succeeds("E2"))
    assert story.new[1] == like(
        f.StepFailed, failure=failure("limit", "costs 0.1, and 0.3 of 0.3 for '*' is spent")
    )


# -- undos


def test_an_undo_chosen_by_a_planner_that_may_not_use_its_tool_is_rejected() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"), tools=under(deny=("release",)))
    story.when(proposes("notify", undo=["E0"]))
    assert story.new[1] == like(
        f.ProposalRejected, code="authority", problems=(has("undo of", "planners may not use user__release"),)
    )


def test_an_undo_chosen_by_a_planner_that_needs_approval_makes_its_plan_need_it() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"), tools=asks_for(tool="release"))
    key = story.key("E0")
    story.when(proposes("notify", undo=["E0"])).then(
        like(f.PlanProposed), like(f.ApprovalRequested, step="", why=has(f"it takes back {key}"))
    )
    story.when(approves(by=BOB)).then(
        like(f.ApprovalGiven, by=BOB),
        like(f.PlanAccepted, undone=(key,)),
        like(f.CompensationIssued, of=key, cause="plan"),
        like(f.CompensationStarted),
        like(Execute, tool="user__release"),
    )


def test_a_planned_call_of_an_undo_tool_passes_authority_like_any_step() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"), tools=asks_for(tool="release"))
    story.when(proposes(step("release", undoes=story.key("E0"))))
    assert story.new[-1] == like(f.ApprovalRequested, step="E2", tool="user__release")


def test_undos_of_a_plan_count_against_limits() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"), tools=calls(0, "release"))
    story.when(proposes("notify", undo=["E0"]))
    assert story.new[1] == like(f.ProposalRejected, code="authority", problems=(has("made 0 of 0 calls"),))


@pytest.mark.parametrize("end", [cancel(), fails("E1")])
def test_undos_after_failure_or_cancel_need_no_authority(end: f.Fact) -> None:
    tools = under(
        deny=("release",),
        approvals=(ApprovalRule(tool="release"),),
        limits=(ToolLimit(tool="release", calls_per_run=0),),
    )
    story = given(start("reserve", "look"), succeeds("E0"), tools=tools).when(end)
    if story.run.running:
        story.when(succeeds("E1"))
    assert story.orders == [like(Execute, tool="user__release")]


def test_without_an_authority_nothing_is_asked_in_autonomous_mode() -> None:
    assert not Catalog(TOOLS.values()).guards_steps
    story = given(*planned("ship"))
    assert story.orders == [like(Execute, tool="user__ship")]
