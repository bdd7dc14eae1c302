"""What a run may spend: the first budget that is spent pauses or ends it, and is named."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.budget import Budget, Spent, Usage, first_of, raised
from midcourse.domain.errors import InvalidInputError, MessageRefused
from midcourse.domain.evolve import fold
from midcourse.domain.orders import Execute, MakePlan
from midcourse.domain.summary import attention, status, wake_at
from midcourse.domain.tools import Catalog
from midcourse.domain.view import view

from .kit import CATALOG, START_AT, TOOLS, Story, failure, given, has, like, step
from .tellings import (
    allows,
    asks_replan,
    fails,
    later,
    no_plan,
    pauses,
    planned,
    proposes,
    start,
    succeeds,
    taken_up,
    unpauses,
)


def limited(*budgets: Budget, **limits: Any) -> f.Limits:
    return f.Limits(budgets=first_of(*budgets), **limits)


def spending(telling: Any, **spent: Any) -> Any:
    return lambda story: msgspec.structs.replace(telling(story), spent=Spent(**spent))


def test_a_run_that_ends_on_its_budget_is_completed() -> None:
    story = given(*planned("look", "look", limits=limited(Budget(steps=2))), succeeds("E0"))
    story.when(succeeds("E1")).then(like(f.StepCompleted), like(f.RunCompleted))


def test_the_step_after_the_last_that_is_paid_for_does_not_begin() -> None:
    story = given(*planned("look", "look", limits=limited(Budget(steps=1)))).when(succeeds("E0"))
    story.then(
        like(f.StepCompleted),
        f.BudgetSpent("steps", "the budget of 1 steps is spent (1 used)", "pause"),
        f.RunPaused("the budget of 1 steps is spent (1 used)", "budget"),
    )
    assert status(story.run) == "attention"
    assert [(item.kind, item.subject) for item in attention(story.run)] == [("budget", "steps")]


def test_a_budget_reached_while_three_steps_run_keeps_the_fourth_and_their_receipts() -> None:
    steps = [step("reserve", f"S{n}", needs=(), input={"n": n}) for n in range(4)]
    story = given(start(limits=limited(Budget(steps=3)))).when(proposes(*steps))
    assert [order.step for order in story.orders if isinstance(order, Execute)] == ["S0", "S1", "S2"]
    assert story.new[-1] == like(f.RunPaused, by="budget")
    for done in ("S0", "S1", "S2"):
        story.when(succeeds(done)).then(like(f.StepCompleted, step=done))
    assert len(story.run.ledger) == 3
    story.when(allows(steps=4))
    story.then(
        like(f.BudgetChanged, budgets=(Budget(steps=4),)),
        like(f.RunUnpaused),
        like(f.StepStarted, step="S3"),
        like(Execute),
    )


def test_a_budget_that_fails_the_run_has_it_undone() -> None:
    story = given(*planned("reserve", "look", limits=limited(Budget(steps=1, then="fail"))))
    story.when(succeeds("E0")).then(
        like(f.StepCompleted),
        like(f.BudgetSpent, measure="steps", then="fail"),
        like(f.UnwindingBegan, status="failed", failure=failure("budget", "1 steps")),
        like(f.CompensationIssued),
        like(f.CompensationStarted),
        like(Execute, tool="user__release"),
    )


@pytest.mark.parametrize(("measure", "spent"), [("tokens", {"tokens": 40}), ("cost", {"cost": 2.5})])
def test_tokens_and_cost_are_counted_from_what_tools_and_planners_tell(
    measure: str, spent: dict[str, Any]
) -> None:
    budget = Budget(**{measure: 2 * next(iter(spent.values()))})
    story = given(start(limits=limited(budget)), spending(proposes("look", "look"), **spent))
    assert like(f.UsageRecorded, step="", **spent) in story.facts
    story.when(spending(succeeds("E0"), **spent)).then(
        like(f.StepCompleted),
        like(f.UsageRecorded, step="E0", **spent),
        like(f.BudgetSpent, measure=measure),
        like(f.RunPaused),
    )


def test_what_an_attempt_that_failed_or_is_told_twice_has_used_counts_once() -> None:
    story = given(start(limits=limited(Budget(tokens=100))), proposes("look"))
    failed = spending(fails("E0", retry_after_s=1.0), tokens=10)(story)
    for _ in range(2):
        story.when(failed)
    assert story.run.tokens == 10


def test_the_replan_beyond_the_budget_is_owed_and_not_asked_for() -> None:
    story = given(*planned("look", limits=limited(Budget(replans=0))))
    story.when(asks_replan("E0")).then(
        like(f.StepFailed),
        like(f.ReplanRequested),
        like(f.BudgetSpent, measure="replans"),
        like(f.RunPaused),
    )
    story.when(allows(replans=1)).then(
        like(f.BudgetChanged), like(f.RunUnpaused), like(f.PlanRequested), like(MakePlan)
    )


def test_a_run_stuck_on_its_replans_goes_on_with_more_of_them() -> None:
    story = given(*planned("look", limits=f.Limits(replans=0)), asks_replan("E0"))
    assert story.run.stuck
    story.when(allows(replans=3)).then(like(f.BudgetChanged), like(f.PlanRequested), like(MakePlan))
    assert story.run.limits.replans == 3


def test_more_replans_do_not_unstick_a_run_that_goes_in_circles() -> None:
    story = given(*planned("look"), asks_replan("E0"), proposes(step("look", "E1")), asks_replan("E1"))
    assert story.run.stuck
    story.when(allows(replans=99)).then(like(f.BudgetChanged))


def test_wall_time_passes_by_itself() -> None:
    story = given(*planned("look", limits=limited(Budget(wall_time_s=60))))
    assert wake_at(story.run) == START_AT + 60
    story.when(later(59.0)).then_nothing()
    story.when(later(1.0)).then(like(f.BudgetSpent, measure="wall_time_s"), like(f.RunPaused))
    assert wake_at(story.run) is None
    story.when(succeeds("E0")).then(like(f.StepCompleted))


def test_of_several_budgets_the_first_that_is_spent_is_named() -> None:
    budgets = (Budget(steps=5), Budget(tokens=10, then="fail"), Budget(cost=1.0))
    story = given(*planned("look", "look", limits=limited(*budgets)))
    story.when(spending(succeeds("E0"), tokens=10, cost=1.0))
    assert story.new[2] == like(f.BudgetSpent, measure="tokens", then="fail")


def test_a_policy_judges_the_usage_and_what_it_said_is_a_fact() -> None:
    seen: list[Usage] = []

    def cautious(usage: Usage) -> str:
        seen.append(usage)
        return "enough for today" if usage.steps else ""

    catalog = Catalog(TOOLS.values(), policies={"cautious": cautious})
    story = Story(catalog)
    for happening in planned("look", "look", limits=limited(Budget(policy="cautious"))):
        story.take(happening)
    story.when(succeeds("E0"))
    assert story.new[1] == f.BudgetSpent(
        "cautious", "the budget policy 'cautious' says: enough for today", "pause"
    )
    asked = len(seen)
    assert fold("run", story.facts).spent == story.run.spent
    assert len(seen) == asked


def test_a_policy_that_raises_or_is_gone_lets_nothing_begin() -> None:
    def broken(_usage: Usage) -> str:
        raise ZeroDivisionError("nothing left")

    limits = limited(Budget(policy="broken"))
    story = Story(Catalog(TOOLS.values(), policies={"broken": broken}))
    story.when(start(limits=limits))
    assert story.new[1] == like(f.BudgetSpent, why=has("raised ZeroDivisionError: nothing left"))
    story.when(taken_up("p"), tools=CATALOG)
    assert story.run.paused is not None


@pytest.mark.parametrize(
    ("budget", "problem"),
    [
        (Budget(), "limits nothing"),
        (Budget(steps=-1), "steps is -1"),
        (Budget(cost=float("inf")), "cost|JSON"),
        (Budget(policy="night"), r"'night' is not registered with this engine \(registered: none\)"),
    ],
)
def test_a_budget_that_cannot_be_used_is_refused_before_anything_is_recorded(
    budget: Budget, problem: str
) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        given(start("look", limits=limited(budget)))
    story = given(*planned("look"))
    with pytest.raises(InvalidInputError, match=problem):
        story.when(m.ChangeBudget(at=story.at, budget=budget))


def test_what_a_new_budget_leaves_out_stays_as_it_is() -> None:
    before = (Budget(steps=5, cost=1.0, then="fail"), Budget(policy="night"))
    assert raised(before, Budget(steps=9)) == (
        Budget(cost=1.0, then="fail"),
        Budget(policy="night"),
        Budget(steps=9),
    )
    assert raised((Budget(steps=5),), Budget(steps=9, then="fail")) == (Budget(steps=9, then="fail"),)


def test_a_budget_can_be_set_for_a_run_that_had_none() -> None:
    story = given(*planned("look", "look")).when(allows(steps=1))
    story.then(like(f.BudgetChanged, budgets=(Budget(steps=1),)))
    story.when(succeeds("E0"))
    assert story.new[-1] == like(f.RunPaused)
    assert view(story.run).usage.steps == 1


# -- pauses


def test_a_paused_run_begins_nothing_and_what_is_under_way_is_recorded() -> None:
    story = given(*planned("look", "look")).when(pauses("audit"))
    story.then(f.RunPaused("audit"))
    story.when(succeeds("E0")).then(like(f.StepCompleted))
    assert (status(story.run), attention(story.run)) == ("waiting", [])
    story.when(unpauses()).then(f.RunUnpaused(), like(f.StepStarted, step="E1"), like(Execute))


def test_a_paused_run_asks_no_planner_and_takes_an_answer() -> None:
    story = given(start(), pauses()).when(proposes("look"))
    story.then(like(f.PlanProposed), like(f.PlanAccepted))
    story.when(unpauses()).then(like(f.RunUnpaused), like(f.StepStarted), like(Execute))


def test_a_paused_run_makes_no_other_attempt() -> None:
    story = given(*planned("look"), fails("E0", retry_after_s=5.0), pauses())
    assert wake_at(story.run) is None
    story.when(later(50.0)).then_nothing()
    story.when(unpauses()).then(like(f.RunUnpaused), like(f.AttemptStarted, attempt=2), like(Execute))


def test_a_pause_during_compensation_holds_the_undos_that_have_not_begun() -> None:
    steps = (step("reserve", input={"n": 1}), step("reserve", input={"n": 2}), "ship")
    story = given(start(*steps), succeeds("E0"), succeeds("E1"), fails("E2", no_effect=True))
    story.when(pauses()).then(like(f.RunPaused))
    story.when(succeeds("undo E1")).then(like(f.CompensationCompleted))
    story.when(unpauses()).then(like(f.RunUnpaused), like(f.CompensationStarted), like(Execute))
    story.when(succeeds("undo E0"))
    assert story.new[-1] == like(f.RunFailed)


def test_a_cancel_reaches_a_paused_run() -> None:
    story = given(*planned("reserve", "look"), pauses(), succeeds("E0"))
    story.take(lambda told: m.RequestCancel(at=told.at, reason="enough"))
    assert story.run.paused is None
    assert story.new[-1] == like(f.CompensationStarted)


def test_to_pause_and_to_unpause_twice_does_nothing() -> None:
    given(*planned("look"), pauses()).when(pauses()).then_nothing()
    given(*planned("look")).when(unpauses()).then_nothing()


def test_a_run_that_its_budget_paused_wants_another_budget() -> None:
    story = given(*planned("look", "look", limits=limited(Budget(steps=1))), succeeds("E0"))
    with pytest.raises(MessageRefused, match=r"1 steps is spent.*; change its budget"):
        story.when(unpauses())


def test_an_ended_run_is_not_paused() -> None:
    for ask in (pauses(), unpauses(), allows(steps=1)):
        story = given(start(), no_plan(give_up=True))
        with pytest.raises(MessageRefused, match="has ended"):
            story.when(ask)


def test_a_pause_survives_the_process() -> None:
    story = given(*planned("look", "look"), succeeds("E0"), pauses()).when(taken_up("p"))
    assert story.run.paused is not None
    assert story.orders == []
