"""Taking a run up after its process ended, or after another one wrote to it."""

from __future__ import annotations

import pytest

from midcourse.domain import facts as f
from midcourse.domain.decide import react, record
from midcourse.domain.orders import CancelAttempt, CancelPlanning, Execute, MakePlan, Probe
from midcourse.domain.tools import Catalog, RetryPolicy, ToolSpec

from .kit import CATALOG, catalog_without, failure, given, like, step
from .tellings import (
    asks_replan,
    cancel,
    caught_up,
    fails,
    is_lost,
    later,
    no_plan,
    planned,
    planning_fails,
    proposes,
    replan,
    settles,
    signal,
    start,
    succeeds,
    taken_up,
)


def test_a_read_or_repeatable_effect_is_started_again_at_once_and_the_lost_try_does_not_count() -> None:
    for tool in ("look", "reserve"):
        story = given(start(tool)).when(taken_up())
        key = story.key("E0")
        story.then(
            f.AttemptLost(key, 1, "the process that ran it ended"),
            f.AttemptStarted(key, 2),
            like(Execute, operation=key, attempt=2),
        )
        assert story.run.running[key].tries == 1


def test_an_effect_that_may_not_be_repeated_is_unknown() -> None:
    given(start("ship")).when(taken_up()).then(like(f.OutcomeUnknown, probing=False))
    given(start("charge")).when(taken_up()).then(like(f.OutcomeUnknown, probing=True), like(Probe))


def test_a_second_crash_asks_the_probe_again_and_changes_nothing() -> None:
    story = given(start("charge"), taken_up())
    for _ in range(2):
        story.when(taken_up()).then(like(Probe, operation=story.key("E0"), attempt=1))


def test_a_probe_that_is_gone_leaves_it_to_a_person() -> None:
    story = given(start("charge"), taken_up()).when(taken_up(), tools=catalog_without("user__charge"))
    story.then(like(f.CatalogChanged), like(f.ProbeFailed, attempt=1))


def test_an_operation_that_ends_its_process_again_and_again_is_given_up() -> None:
    story = given(start("notify"), taken_up())
    story.when(taken_up()).then(like(f.OutcomeUnknown))
    spec = ToolSpec("t", effect="read", retry=RetryPolicy(max_lost=1))
    story = given(start("t"), taken_up(), tools=Catalog([spec])).when(taken_up())
    assert story.new[0] == like(f.StepFailed, failure=failure("lost", "process that ran it ended"))


def test_what_waits_goes_on_waiting() -> None:
    story = given(start("reserve"), fails("E0", retry_after_s=5.0)).when(taken_up())
    story.then_nothing()
    story.when(later(5.0)).then(like(f.AttemptStarted), like(Execute))


def test_what_fell_due_meanwhile_is_done_at_once() -> None:
    story = given(start("reserve"), fails("E0", retry_after_s=5.0))
    story.at += 60.0
    story.when(taken_up()).then(like(f.AttemptStarted), like(Execute))


def test_a_plan_that_was_asked_for_is_asked_for_again_and_nothing_is_counted() -> None:
    story = given(*planned("look"), fails("E0")).when(taken_up("p"))
    story.then(like(MakePlan, planner="p"))
    assert story.run.replans == 1


def test_a_plan_that_was_asked_for_from_a_state_that_has_changed_is_asked_for_from_the_present_one() -> None:
    story = given(start(), signal()).when(taken_up("p"))
    story.then(f.PlanRequested(3, "p", "start"), like(MakePlan))


def test_a_replan_is_still_owed() -> None:
    story = given(*planned(step("look", needs=()), step("ship", needs=())), asks_replan("E0"))
    story.when(taken_up("p")).then(like(f.OutcomeUnknown))
    story.when(settles("E1", happened=True)).then(
        like(f.OutcomeSettled), like(f.PlanRequested), like(MakePlan)
    )


def test_a_wait_for_the_planner_goes_on() -> None:
    story = given(start(), planning_fails()).when(taken_up("p")).then_nothing()
    story.when(later(2.0)).then(like(f.PlanRequested), like(MakePlan))


def test_while_a_run_is_undone_what_is_in_flight_is_known_first() -> None:
    given(start("reserve"), cancel()).when(taken_up()).then(
        like(f.AttemptLost), like(f.AttemptStarted), like(Execute)
    )
    given(start("notify"), cancel()).when(taken_up()).then(like(f.OutcomeUnknown))
    given(start("look"), cancel()).when(taken_up()).then(like(f.StepFailed), like(f.RunCancelled))


def test_a_run_that_ended_is_left_alone_whatever_the_engine_has() -> None:
    given(start(), no_plan()).when(taken_up(), tools=catalog_without("user__look")).then_nothing()


def test_an_undo_after_the_end_is_taken_up() -> None:
    story = given(*planned("reserve"), fails("E0"), no_plan(give_up=True), succeeds("E0"))
    story.when(taken_up("p")).then(like(f.CompensationLost), like(f.CompensationStarted), like(Execute))


# -- parts that are missing


def test_a_missing_planner_is_named_and_not_asked() -> None:
    story = given(start()).when(taken_up("other")).then(f.PartMissing("planner", "p"))
    story.when(taken_up("other")).then_nothing()
    story.when(taken_up("p")).then(f.PartRestored("planner", "p"), like(MakePlan))


def test_a_missing_planner_does_not_hold_up_steps_and_undos() -> None:
    story = given(*planned("look", "reserve")).when(taken_up())
    story.then(
        f.PartMissing("planner", "p"), like(f.AttemptLost), like(f.AttemptStarted), like(Execute, step="E0")
    )
    story.when(succeeds("E0")).then(like(f.StepCompleted), like(f.StepStarted, step="E1"), like(Execute))
    story.when(fails("E1")).then(like(f.StepFailed), like(f.ReplanRequested))
    story.when(taken_up("p")).then(f.PartRestored("planner", "p"), like(f.PlanRequested), like(MakePlan))


def test_a_plan_by_a_person_misses_no_planner() -> None:
    given(start("look"), fails("E0", retry_after_s=1.0)).when(taken_up()).then_nothing()


def test_a_missing_tool_is_named_when_its_turn_comes_and_holds_up_no_other() -> None:
    steps = (step("look", needs=()), step("ship", needs=("E0",)), step("reserve", needs=("E0",)))
    story = given(start(*steps)).when(succeeds("E0"), tools=catalog_without("user__ship"))
    story.then(
        like(f.StepCompleted),
        f.PartMissing("tool", "user__ship"),
        like(f.StepStarted, step="E2"),
        like(Execute),
    )
    story.when(succeeds("E2")).then(like(f.StepCompleted))
    story.when(taken_up(), tools=CATALOG).then(
        f.PartRestored("tool", "user__ship"),
        like(f.StepStarted, step="E1"),
        like(Execute),
    )


def test_a_missing_tool_of_an_operation_that_waits_is_named_and_holds_up_no_other() -> None:
    steps = (step("reserve", needs=()), step("look", needs=()))
    story = given(start(*steps), fails("E0", retry_after_s=1.0), fails("E1", retry_after_s=2.0))
    story.when(later(1.0), tools=catalog_without("user__reserve")).then(
        f.PartMissing("tool", "user__reserve")
    )
    story.when(later(1.0)).then(like(f.AttemptStarted), like(Execute, step="E1"))
    story.when(taken_up(), tools=CATALOG)
    assert story.new[0] == f.PartRestored("tool", "user__reserve")
    assert len(story.orders) == 2


def test_an_effect_in_doubt_whose_tool_is_missing_is_for_a_person_once_its_plan_is_left() -> None:
    story = given(start("reserve"), is_lost("E0"), cancel())
    story.when(later(1.0), tools=catalog_without("user__reserve")).then(like(f.OutcomeUnknown, probing=False))


def test_tools_that_changed_move_the_epoch_and_the_planner_is_asked_anew() -> None:
    story = given(start()).when(taken_up("p"), tools=catalog_without("user__look"))
    story.then(f.CatalogChanged("smaller"), f.PlanRequested(3, "p", "start"), like(MakePlan))
    story.when(proposes("ship", epoch=1)).then(like(f.PlanProposed), like(f.ProposalRejected, code="stale"))


def test_what_is_in_flight_keeps_the_contract_it_started_with() -> None:
    changed = Catalog(
        [ToolSpec("user__reserve"), *(spec for spec in CATALOG if spec.name != "user__reserve")]
    )
    story = given(start("reserve", "look")).when(taken_up(), tools=changed)
    story.then(like(f.CatalogChanged), like(f.AttemptLost), like(f.AttemptStarted), like(Execute))
    story.when(succeeds("E0")).when(cancel()).when(is_lost("E1", "cancelled"))
    assert story.new[1] == like(f.CompensationIssued, tool="user__release")


# -- other writers


def test_another_writer_records_what_it_decided_and_leaves_the_rest_to_the_owner() -> None:
    story = given(start("reserve"))
    message = story.message(cancel())
    facts, orders = record(story.run, message, CATALOG)
    assert [type(fact) for fact, _ in facts] == [f.CancelRequested, f.UnwindingBegan]
    assert orders
    story.when(caught_up()).then(
        like(CancelAttempt, operation=story.key("E0"), reason="enough"), like(CancelPlanning)
    )


def test_after_a_foreign_plan_the_answer_of_the_planner_is_not_wanted() -> None:
    story = given(start())
    record(story.run, story.message(proposes("look", by="human")), CATALOG)
    story.when(caught_up()).then(like(f.StepStarted), CancelPlanning(4), like(Execute, tool="user__look"))


def test_after_foreign_news_the_planner_works_on() -> None:
    story = given(start())
    record(story.run, story.message(signal()), CATALOG)
    story.when(caught_up()).then_nothing()


def test_a_foreign_request_is_served_by_the_owner() -> None:
    story = given(*planned("look"))
    record(story.run, story.message(replan()), CATALOG)
    story.when(caught_up()).then(CancelPlanning(story.run.epoch))
    story.when(succeeds("E0")).then(like(f.StepCompleted), like(f.PlanRequested), like(MakePlan))


# -- causes


def test_each_fact_names_the_fact_that_led_to_it() -> None:
    story = given(start("reserve", "look"))
    started = story.run.version
    facts, _ = react(story.run, story.message(succeeds("E0")), CATALOG)
    assert [(type(fact), cause) for fact, cause in facts] == [
        (f.StepCompleted, started),
        (f.StepStarted, started + 1),
    ]


def test_what_comes_from_outside_has_no_cause_and_causes_what_follows() -> None:
    story = given(start("look"))
    first = story.run.version + 1
    facts, _ = react(story.run, story.message(cancel()), CATALOG)
    assert [cause for _, cause in facts] == [0, first]


@pytest.mark.parametrize("again", [1, 2])
def test_taking_up_a_run_that_waits_changes_nothing(again: int) -> None:
    story = given(*planned("ship"), is_lost("E0"))
    for _ in range(again):
        story.when(taken_up("p")).then_nothing()
