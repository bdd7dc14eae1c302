"""Steps in flight follow their ``on_replan`` when another plan is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.decide import record
from midcourse.domain.errors import InvalidInputError
from midcourse.domain.evolve import fold
from midcourse.domain.orders import CancelAttempt, CancelPlanning, Execute, MakePlan
from midcourse.domain.planning import OpenOperation, PlanningContext
from midcourse.domain.receipt import Receipt

from .kit import Story, given, has, like, step
from .tellings import (
    asks_replan,
    cancel,
    caught_up,
    fails,
    goal_reached,
    is_lost,
    planned,
    probe_says,
    proposes,
    replan,
    settles,
    signal,
    start,
    succeeds,
    taken_up,
)

ADOPT: Any = {"on_replan": "adopt"}
CANCEL: Any = {"on_replan": "cancel"}


def adopting(tool: str = "reserve", **fields: Any) -> Story:
    """A run whose step A is in flight and may be adopted, and whose planner is asked for another plan."""
    first = step(tool, "A", needs=(), **ADOPT, **fields)
    return given(
        *planned(first, step("look", "B", needs=()), step("ship", "C", needs=("A",))), asks_replan("B")
    )


# -- drain


def test_draining_is_the_default_and_waits() -> None:
    story = given(*planned(step("reserve", "A", needs=()), step("look", "B", needs=())))
    story.when(asks_replan("B")).then(like(f.StepFailed), like(f.ReplanRequested))
    story.when(succeeds("A")).then(like(f.StepCompleted), like(f.PlanRequested), like(MakePlan))


def test_fifteen_ready_steps_of_the_old_plan_do_not_start() -> None:
    steps = [step("look", f"S{n}", needs=("A",), input={"n": n}) for n in range(15)]
    story = given(*planned(step("reserve", "A", needs=()), step("look", "B", needs=()), *steps))
    story.take(asks_replan("B"))
    story.when(succeeds("A")).then(like(f.StepCompleted), like(f.PlanRequested), like(MakePlan))
    assert len(story.run.ready) == 15


# -- cancel


def test_cancel_asks_the_attempt_to_stop_with_the_reason_of_the_request() -> None:
    story = given(*planned(step("charge", "A", needs=(), **CANCEL), step("look", "B", needs=())))
    story.when(asks_replan("B", "the price rose")).then(
        like(f.StepFailed),
        like(f.ReplanRequested),
        f.AttemptStopRequested(story.key("A"), 1, "the price rose"),
        CancelAttempt(story.key("A"), 1, "the price rose"),
    )
    story.when(signal(relevant=False)).then(like(f.SignalReceived))


def test_an_attempt_that_does_not_stop_has_an_unknown_outcome_which_is_probed_before_planning() -> None:
    story = given(
        *planned(step("charge", "A", needs=(), **CANCEL), step("look", "B", needs=())), asks_replan("B")
    )
    story.when(is_lost("A", "cancelled"))
    assert story.new == [like(f.OutcomeUnknown, probing=True)]
    story.when(probe_says("A", False)).then(like(f.OutcomeSettled), like(f.PlanRequested), like(MakePlan))


def test_an_attempt_that_is_done_before_it_stops_is_kept() -> None:
    story = given(
        *planned(step("ship", "A", needs=(), **CANCEL), step("look", "B", needs=())), asks_replan("B")
    )
    story.when(succeeds("A", "sent")).then(like(f.StepCompleted), like(f.PlanRequested), like(MakePlan))
    assert story.orders[-1].context.constraints[0].receipt == Receipt("sent")  # type: ignore[attr-defined]


def test_a_request_by_another_process_stops_the_attempt_once_the_owner_notices() -> None:
    story = given(*planned(step("ship", **CANCEL)))
    story.take(m.Advance(at=story.at))
    for fact, _ in record(fold("run", story.facts), story.message(replan("cheaper")), story.catalog).facts:
        story.take(fact)
    story.when(caught_up()).then(
        like(f.AttemptStopRequested, reason="cheaper"), like(CancelPlanning), like(CancelAttempt)
    )


# -- adopt


def test_adopt_does_not_wait_and_the_planner_is_told_of_the_open_step() -> None:
    story = adopting()
    story.then(
        like(f.StepFailed),
        like(f.ReplanRequested),
        like(f.PlanRequested),
        like(
            MakePlan, context=like(PlanningContext, superseded=(story.run.steps["B"], story.run.steps["C"]))
        ),
    )
    context = story.orders[-1].context  # type: ignore[attr-defined]
    assert context.open_operations == (OpenOperation(story.run.steps["A"], story.key("A"), {}, "reversible"),)


def test_a_proposal_keeps_the_open_step_by_listing_it_unchanged() -> None:
    story = adopting()
    story.when(proposes(step("reserve", "A", **ADOPT), "notify")).then(
        like(f.PlanProposed),
        like(f.PlanAccepted, added=("A", "E0"), adopted=("A",), superseded=("B", "C"), stability=3),
    )
    story.when(succeeds("A", "kept")).then(
        f.StepCompleted("A", story.key("A"), 1, Receipt("kept")),
        like(f.StepStarted, step="E0"),
        like(Execute),
    )
    assert story.run.done["A"] == story.key("A")
    assert story.run.results["A"] == "kept"


def test_the_rest_of_a_sequence_waits_for_the_open_step_wherever_it_is_listed() -> None:
    story = adopting().when(proposes("look", step("reserve", "A"), "notify"))
    assert story.new[-1] == like(f.StepStarted, step="E0")
    story.when(succeeds("A")).then(like(f.StepCompleted))
    story.when(succeeds("E0")).then(like(f.StepCompleted), like(f.StepStarted, step="E1"), like(Execute))


def test_an_open_step_may_be_listed_with_its_rendered_input() -> None:
    story = adopting(input={"n": "{{input.n}}"})
    story.when(proposes(step("reserve", "A", input={"n": 1}), "notify"))
    assert story.new[1] == like(f.PlanAccepted, adopted=("A",))


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        (step("ship", "A"), "its tool"),
        (step("reserve", "A", input={"n": 2}), "its input"),
        (step("reserve", "A", operation="another"), "the operation it means"),
    ],
)
def test_an_open_step_that_is_changed_is_no_plan(changed: Any, what: str) -> None:
    story = adopting().when(proposes(changed))
    assert story.new[1] == like(
        f.ProposalRejected,
        code="invalid",
        problems=(has("'A' is in flight and can be kept only unchanged", what),),
    )


def test_a_step_that_drained_and_is_listed_again_as_it_was_keeps_its_place() -> None:
    story = given(*planned(step("reserve", "A", needs=()), step("look", "B", needs=())), asks_replan("B"))
    story.take(succeeds("A"))
    story.when(proposes(step("reserve", "A", needs=())))
    assert story.new[1] == like(f.PlanAccepted, kept=("A",), added=(), superseded=("B",))


def test_what_comes_of_an_open_step_that_is_left_out_is_undone() -> None:
    story = adopting().when(proposes("notify"))
    assert story.new[1] == like(f.PlanAccepted, adopted=(), superseded=("A", "B", "C"))
    key = next(iter(story.run.orphans))
    story.when(m.ReportSuccess(at=story.at, operation=key, attempt=1, receipt=Receipt("late"))).then(
        f.ReceiptArrivedLate(key, 1, Receipt("late")),
        like(f.CompensationIssued, of=key, tool="user__release", cause="late"),
        like(f.CompensationStarted),
        like(Execute, tool="user__release"),
    )


def test_what_comes_of_an_irreversible_step_that_is_left_out_is_a_constraint() -> None:
    story = adopting("ship").when(proposes("notify"))
    key = next(iter(story.run.orphans))
    story.when(m.ReportSuccess(at=story.at, operation=key, attempt=1, receipt=Receipt("sent"))).then(
        f.ReceiptArrivedLate(key, 1, Receipt("sent"))
    )
    story.when(fails("E0"))
    assert [each.operation for each in story.orders[-1].context.constraints] == [key]  # type: ignore[attr-defined]


def test_a_new_step_that_means_an_open_operation_waits_for_it_and_is_satisfied() -> None:
    story = adopting("reserve", input={"n": 7}).when(proposes(step("reserve", input={"n": 7}), "notify"))
    story.then(like(f.PlanProposed), like(f.PlanAccepted, adopted=(), added=("E0", "E1")))
    key = next(iter(story.run.orphans))
    story.when(m.ReportSuccess(at=story.at, operation=key, attempt=1, receipt=Receipt("r"))).then(
        f.ReceiptArrivedLate(key, 1, Receipt("r")),
        f.StepSatisfied("E0", key),
        like(f.StepStarted, step="E1"),
        like(Execute, step="E1"),
    )
    assert story.run.results["E0"] == "r"
    assert story.run.strays == {}


def test_a_new_step_that_means_an_open_operation_tries_it_anew_when_it_failed() -> None:
    story = adopting("ship", input={"n": 7}).when(proposes(step("ship", input={"n": 7})))
    key = next(iter(story.run.orphans))
    failed = m.ReportFailure(at=story.at, operation=key, attempt=1, failure=f.Failure("tool_error", "no"))
    story.when(failed).then(
        like(f.StepFailed, step="A", operation=key),
        like(f.StepStarted, step="E0", operation=key, attempt=2),
        like(Execute, attempt=2),
    )


def test_an_equal_step_beside_a_kept_one_is_another_operation() -> None:
    story = adopting("ship", input={"n": 7})
    kept = story.key("A")
    story.when(
        proposes(step("ship", "A", needs=(), input={"n": 7}), step("ship", "X", needs=(), input={"n": 7}))
    )
    assert story.key("X") == kept.removesuffix(".0") + ".1"
    assert story.new[-1] == like(f.StepStarted, step="X")


def test_an_outcome_of_an_open_step_while_the_planner_thinks_makes_its_plan_stale() -> None:
    story = adopting()
    answer = story.message(proposes(step("reserve", "A"), "notify"))
    story.when(succeeds("A")).then(like(f.StepCompleted))
    story.when(answer).then(
        like(f.PlanProposed), like(f.ProposalRejected, code="stale"), like(f.PlanRequested), like(MakePlan)
    )


def test_an_open_step_that_fails_is_not_tried_again_for_a_plan_that_is_left() -> None:
    story = adopting()
    story.when(fails("A", "full", retry_after_s=1.0)).then(like(f.StepFailed, step="A"))


def test_an_open_step_is_lost_with_its_process_and_known_before_planning_goes_on() -> None:
    story = adopting("charge", input={"order": 1})
    story.when(taken_up("p"))
    assert story.new[0] == like(f.OutcomeUnknown, probing=True)
    story.when(probe_says("A", True, receipt=Receipt("paid")))
    assert story.new[0] == like(f.OutcomeSettled, happened=True)
    assert [entry.step for entry in story.run.standing()] == ["A"]


def test_a_left_step_whose_outcome_a_person_settles_is_undone() -> None:
    story = adopting("charge", input={"order": 1}).when(proposes("notify"))
    key = next(iter(story.run.orphans))
    story.when(m.ReportLost(at=story.at, operation=key, attempt=1, why="timeout"))
    story.when(m.ReportProbe(at=story.at, operation=key, attempt=1, happened=None))
    story.when(m.SettleOutcome(at=story.at, operation=key, happened=True, reason="the bank says so")).then(
        like(f.OutcomeSettled),
        like(f.CompensationIssued, cause="late"),
        like(f.CompensationStarted),
        like(Execute),
    )


def test_a_run_does_not_end_while_a_left_step_is_in_flight() -> None:
    story = adopting().when(proposes("notify")).when(succeeds("E0"))
    story.then(like(f.StepCompleted))
    key = next(iter(story.run.orphans))
    story.when(m.ReportSuccess(at=story.at, operation=key, attempt=1, receipt=Receipt()))
    story.when(succeeds_undo(key))
    assert story.run.final == "completed"


def succeeds_undo(key: str) -> m.ReportSuccess:
    return m.ReportSuccess(at=100.0, operation=f"undo/{key}", attempt=1, receipt=Receipt())


def test_a_goal_that_is_reached_leaves_open_steps_behind() -> None:
    story = adopting().when(goal_reached())
    story.then(like(f.GoalFound))
    key = next(iter(story.run.orphans))
    story.when(m.ReportSuccess(at=story.at, operation=key, attempt=1, receipt=Receipt()))
    assert story.new[:2] == [like(f.ReceiptArrivedLate), like(f.CompensationIssued, cause="late")]


def test_a_cancel_reaches_open_and_left_steps_alike() -> None:
    for story in (adopting(), adopting().when(proposes("notify"))):
        running = {(operation.key, 1) for operation in story.run.running.values()}
        story.when(cancel("enough"))
        stopped = {(each.operation, each.attempt) for each in story.orders if isinstance(each, CancelAttempt)}
        assert stopped == running


def test_what_a_step_does_when_left_is_one_of_three() -> None:
    with pytest.raises(InvalidInputError, match=r"steps\[0\]\.on_replan: .*'ignore'"):
        given(start()).when(proposes(step("look", on_replan="ignore")))


def test_a_person_settles_what_a_cancelled_attempt_left_open() -> None:
    story = given(
        *planned(step("ship", "A", needs=(), **CANCEL), step("look", "B", needs=())), asks_replan("B")
    )
    story.when(is_lost("A", "cancelled")).then(like(f.OutcomeUnknown, probing=False))
    story.when(settles("A", happened=True)).then(
        like(f.OutcomeSettled), like(f.PlanRequested), like(MakePlan)
    )


def test_a_plan_made_while_an_open_step_was_going_on_is_stale_once_nobody_knows_what_became_of_it() -> None:
    story = given(
        *planned(step("ship", "A", needs=(), **ADOPT), step("look", "B", needs=())), asks_replan("B")
    )
    assert story.run.asked is not None
    story.when(is_lost("A")).then(like(f.OutcomeUnknown))
    story.when(proposes("look"))
    assert story.new[1] == like(f.ProposalRejected, code="stale", problems=(has("is not known any more"),))
    story.when(settles("A", happened=True))
    assert like(f.PlanRequested) in story.new
