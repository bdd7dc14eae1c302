"""Requests for another plan: one fact, one owner, and progress or a person."""

from __future__ import annotations

import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.errors import MessageRefused
from midcourse.domain.orders import Execute, MakePlan
from midcourse.domain.receipt import Receipt

from .kit import Story, Telling, failure, given, has, like, step
from .tellings import (
    asks_replan,
    cancel,
    fails,
    goal_reached,
    no_plan,
    planned,
    proposes,
    replan,
    signal,
    start,
    succeeds,
)


def test_a_tool_with_a_receipt_is_committed() -> None:
    story = given(*planned("reserve", "ship")).when(asks_replan("E0", receipt=Receipt("r"), hub="Oslo"))
    story.then(
        f.StepCompleted("E0", story.key("E0"), 1, Receipt("r")),
        f.BoardUpdated({"hub": "Oslo"}, "E0"),
        like(f.ReplanRequested, cause="tool", reason="elsewhere", step="E0"),
        like(f.PlanRequested, reason="elsewhere"),
        like(MakePlan),
    )
    assert story.run.excluded == {"user__reserve"}


@pytest.mark.parametrize(("tool", "no_effect"), [("ship", True), ("look", False)])
def test_a_tool_without_an_effect_ends_its_step(tool: str, no_effect: bool) -> None:
    given(*planned(tool)).when(asks_replan("E0", no_effect=no_effect)).then(
        like(f.StepFailed, failure=failure("replan", "elsewhere")),
        like(f.ReplanRequested, cause="tool"),
        like(f.PlanRequested),
        like(MakePlan),
    )


def test_no_step_of_the_old_plan_begins_once_a_plan_is_owed() -> None:
    steps = [step("look", f"S{n}", needs=(), input={"n": n}) for n in range(3)]
    story = given(*planned(*steps, step("ship", needs=("S1",))))
    story.when(asks_replan("S0")).then(like(f.StepFailed), like(f.ReplanRequested))
    story.when(succeeds("S1")).then(like(f.StepCompleted))
    story.when(succeeds("S2")).then(like(f.StepCompleted), like(f.PlanRequested), like(MakePlan))


def test_several_requests_become_one_and_every_receipt_and_update_is_kept() -> None:
    steps = [step("reserve", f"S{n}", needs=(), input={"n": n}) for n in range(3)]
    story = given(*planned(*steps))
    story.when(asks_replan("S0", "one", receipt=Receipt(0), a=0))
    story.when(asks_replan("S1", "two", receipt=Receipt(1), b=1)).then(
        like(f.StepCompleted), f.BoardUpdated({"b": 1}, "S1"), like(f.ReplanJoined, reason="two", step="S1")
    )
    story.when(asks_replan("S2", "three", receipt=Receipt(2), c=2)).then(
        like(f.StepCompleted),
        f.BoardUpdated({"c": 2}, "S2"),
        like(f.ReplanJoined, reason="three", step="S2"),
        like(f.PlanRequested, reason="one"),
        like(MakePlan),
    )
    assert story.run.board == {"a": 0, "b": 1, "c": 2}
    assert story.run.replans == 1
    assert len(story.run.ledger) == 3


def test_a_failed_step_of_a_planner_asks_for_a_plan() -> None:
    given(*planned("ship")).when(fails("E0", "refused")).then(
        like(f.StepFailed),
        like(f.ReplanRequested, cause="failure", reason="refused", step="E0"),
        like(f.PlanRequested),
        like(MakePlan),
    )


def test_a_failed_step_asks_only_once_what_else_runs_has_ended() -> None:
    story = given(*planned(step("ship", needs=()), step("look", needs=()))).when(fails("E0"))
    story.then(like(f.StepFailed), like(f.ReplanRequested))
    story.when(fails("E1")).then(like(f.StepFailed), like(f.PlanRequested), like(MakePlan))


def test_the_tool_that_asked_is_left_out_of_one_plan() -> None:
    story = given(*planned("look")).when(asks_replan("E0"))
    assert story.orders[-1].context.excluded == {"user__look"}  # type: ignore[attr-defined]
    story.when(proposes("ship")).when(fails("E1"))
    assert story.orders[-1].context.excluded == frozenset()  # type: ignore[attr-defined]


# -- a plan by a person never replans by itself


@pytest.mark.parametrize(("receipt", "first"), [(Receipt("r"), f.StepCompleted), (None, f.StepFailed)])
def test_a_tool_that_asks_under_a_plan_by_a_person_fails_the_run(
    receipt: Receipt | None, first: type
) -> None:
    story = given(start("look", planner="p")).when(asks_replan("E0", "closed", receipt=receipt))
    refused = failure("replan_refused", "by a person", "closed", step="E0", tool="user__look")
    story.then(like(first), f.UnwindingBegan("failed", refused), f.RunFailed(refused))


def test_a_failed_step_under_a_plan_by_a_person_fails_the_run() -> None:
    given(start("ship", planner="p")).when(fails("E0", "refused")).then(
        like(f.StepFailed),
        f.UnwindingBegan("failed", failure("tool_error", "refused", step="E0")),
        like(f.RunFailed),
    )


def test_under_a_plan_by_a_person_what_runs_is_let_finish_and_undone() -> None:
    story = given(start(step("ship", needs=()), step("reserve", needs=()), step("look", needs=("E1",))))
    story.when(fails("E0")).then(like(f.StepFailed), like(f.UnwindingBegan))
    story.when(succeeds("E1")).then(
        like(f.StepCompleted), like(f.CompensationIssued), like(f.CompensationStarted), like(Execute)
    )
    story.when(succeeds("undo E1")).then(like(f.CompensationCompleted), like(f.RunFailed))


def test_a_person_may_have_the_planner_replace_a_plan_by_a_person() -> None:
    story = given(start("look", "ship", planner="p")).when(replan())
    story.then(like(f.ReplanRequested, cause="person"))
    story.when(succeeds("E0")).then(like(f.StepCompleted), like(f.PlanRequested), like(MakePlan))
    story.when(proposes("notify"))
    assert story.run.author == "planner"


# -- progress


def lap(story: Story, reason: str) -> None:
    story.when(proposes("look"))
    story.when(asks_replan([*story.run.order][-1], reason))


def test_the_same_reason_on_the_same_state_is_stuck() -> None:
    story = given(*planned("look"), asks_replan("E0", "closed"))
    lap(story, "closed")
    story.then(
        like(f.StepFailed),
        like(f.ReplanRequested, reason="closed"),
        f.RunStuck("look asked for another plan (closed) at version 7 and again on the same state"),
    )


def test_two_tools_that_ask_for_each_other_for_ever_are_stuck_and_the_cycle_is_named() -> None:
    story = given(*planned("look"), asks_replan("E0", "left"))
    lap(story, "right")
    lap(story, "left")
    assert story.run.stuck == has("(left → right → left)")


@pytest.mark.parametrize(
    "reports",
    [
        lambda n: asks_replan(f"E{n}", "closed", receipt=Receipt(n)),
        lambda n: asks_replan(f"E{n}", "closed", no_effect=True, tried=n),
    ],
)
def test_the_same_reason_is_no_lap_where_something_was_done_or_learned(reports: object) -> None:
    story = given(*planned(step("ship", input={"n": 0})), reports(0))  # type: ignore[operator]
    for n in (1, 2, 3):
        story.when(proposes(step("ship", input={"n": n}))).when(reports(n))  # type: ignore[operator]
        assert story.run.stuck == ""


def test_a_read_that_brings_the_same_values_again_is_a_lap() -> None:
    story = given(*planned("look"), asks_replan("E0", "closed", port="Oslo"))
    story.when(proposes("look")).when(asks_replan("E1", "closed", port="Oslo"))
    assert story.run.stuck == has("same state")


def test_irrelevant_signals_are_no_progress_and_relevant_ones_are() -> None:
    for relevant, stuck in ((False, True), (True, False)):
        story = given(*planned("look"), asks_replan("E0", "closed"))
        story.when(proposes("look")).when(signal(relevant=relevant)).when(asks_replan("E1", "closed"))
        assert bool(story.run.stuck) is stuck


def test_a_failure_that_comes_back_on_the_same_state_is_stuck() -> None:
    story = given(*planned("ship"), fails("E0", "refused"), proposes("ship")).when(fails("E1", "refused"))
    assert story.new[-1] == like(f.RunStuck)


@pytest.mark.parametrize(
    ("error_type", "told"), [("KeyError", "ship failed with KeyError: 'zz'"), ("", "ship failed: 'zz'")]
)
def test_what_failed_on_the_same_state_is_told_with_its_error(error_type: str, told: str) -> None:
    def breaks(step: str) -> Telling:
        return lambda story: m.ReportFailure(
            at=story.at,
            operation=story.key(step),
            attempt=story.run.attempts[story.key(step)],
            failure=f.Failure("tool_error", "'zz'", error_type=error_type),
        )

    story = given(*planned("ship"), breaks("E0"), proposes("ship")).when(breaks("E1"))
    assert story.run.stuck == f"{told} at version 7 and again on the same state"


def test_a_stuck_run_asks_nobody_until_it_learns_something() -> None:
    story = given(*planned("ship"), fails("E0"), proposes("ship"), fails("E1"))
    assert story.run.stuck
    story.when(signal(relevant=False)).then(like(f.SignalReceived))
    story.when(signal()).then(like(f.SignalReceived), like(f.PlanRequested), like(MakePlan))
    story.when(proposes("look"))
    assert (story.run.stuck, story.run.author) == ("", "planner")


# -- budget


def test_requests_beyond_the_budget_are_stuck_and_the_budget_is_of_the_whole_life_of_the_run() -> None:
    story = given(*planned("look", limits=f.Limits(replans=2)))
    story.take(asks_replan("E0", "a"))
    lap(story, "b")
    lap(story, "c")
    story.then(
        like(f.StepFailed),
        like(f.ReplanRequested),
        like(f.RunStuck, reason=has("budget of 2 replans is spent", "'c'")),
    )
    story.when(signal()).when(proposes("look")).when(asks_replan("E3", "d"))
    assert story.run.stuck == has("budget of 2 replans")
    assert story.run.replans == 4


# -- a person asks


def test_a_person_asks_with_a_reason_and_what_runs_is_let_finish() -> None:
    story = given(*planned("look", "ship")).when(replan("cheaper"))
    story.then(like(f.ReplanRequested, cause="person", reason="cheaper"))
    story.when(succeeds("E0")).then(
        like(f.StepCompleted), like(f.PlanRequested, reason="cheaper"), like(MakePlan)
    )


def test_a_person_may_ask_for_the_same_again() -> None:
    story = given(*planned("look"), fails("E0"), proposes("look"), replan("again"), succeeds("E1"))
    story.when(proposes("look")).when(replan("again"))
    assert story.run.stuck == ""


def test_a_plan_that_is_owed_serves_a_person_too() -> None:
    for story in (given(start()), given(*planned("look"), fails("E0"))):
        story.when(replan()).then_nothing()


@pytest.mark.parametrize(
    ("story", "why"),
    [
        (given(start("ship")), "has no planner to ask"),
        (given(*planned("ship"), cancel()), "is being undone"),
        (given(*planned("ship"), fails("E0"), goal_reached()), "has ended"),
    ],
)
def test_a_person_asks_in_vain(story: Story, why: str) -> None:
    with pytest.raises(MessageRefused, match=why):
        story.when(replan())


def test_a_person_has_to_say_why() -> None:
    with pytest.raises(MessageRefused, match="say why another plan is wanted"):
        given(*planned("ship")).when(replan(""))


def test_a_person_asking_beyond_the_budget_is_told_that_it_is_spent() -> None:
    story = given(*planned("look", limits=f.Limits(replans=0))).when(replan())
    story.then(like(f.ReplanRequested), like(f.RunStuck, reason=has("budget of 0 replans")))


def test_without_a_planner_a_plan_that_is_owed_waits_for_a_person() -> None:
    owed = f.ReplanRequested("person", "moved", "d")
    story = given(start("look"), succeeds("E0"), tools=given().catalog)
    assert story.run.final == "completed"
    story = given(start("ship", "look"), owed).when(succeeds("E0"))
    story.then(like(f.StepCompleted), f.RunStuck("a plan is owed and the run has no planner"))
    story.when(proposes("notify", by="human"))
    assert story.run.stuck == ""


def test_a_request_after_the_end_of_the_plan_is_answered_while_an_undo_waits_for_a_person() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"), proposes(undo=("E0",)))
    story.when(fails("undo E0")).then(like(f.CompensationParked))
    story.when(replan()).then(like(f.ReplanRequested), like(f.PlanRequested), like(MakePlan))
    story.when(no_plan()).then(like(f.NoPlanFound), like(f.RunStuck))
