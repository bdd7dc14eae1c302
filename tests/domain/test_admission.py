"""What a step becomes when its turn comes."""

from __future__ import annotations

from midcourse.domain import facts as f
from midcourse.domain.ids import digest
from midcourse.domain.orders import Execute, MakePlan

from .kit import failure, given, has, like, step
from .tellings import asks_replan, fails, later, planned, proposes, signal, start, succeeds


def test_its_input_is_rendered_and_recorded_with_the_contract_in_force() -> None:
    story = given(start("look", step("charge", input={"order": "{{E0.id}}", "n": "{{input.n}}"})))
    story.when(succeeds("E0", {"id": 42}))
    rendered = {"order": 42, "n": 1}
    key = story.key("E1")
    assert story.new[1] == f.StepStarted(
        "E1",
        key,
        "user__charge",
        rendered,
        digest(rendered),
        1,
        "reversible",
        "user__refund",
        False,
        "",
        None,
    )
    assert story.orders == [Execute(key, 1, "user__charge", rendered, "E1")]


def test_templates_see_the_board() -> None:
    story = given(*planned("look"), asks_replan("E0", port="Oslo"))
    story.when(proposes(step("ship", input={"to": "{{board.port}}"})))
    assert story.orders == [like(Execute, input={"to": "Oslo"})]


def test_templates_see_results_of_earlier_revisions() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0", {"id": 1}), fails("E1"))
    story.when(proposes(step("ship", input={"of": "{{E0.id}}"})))
    assert story.orders == [like(Execute, input={"of": 1})]


def test_a_template_that_leads_nowhere_fails_the_step_and_the_planner_is_asked() -> None:
    story = given(*planned("look", step("ship", input={"to": "{{E0.adress}}"})))
    story.when(succeeds("E0", {"address": "Oslo"})).then(
        like(f.StepCompleted),
        f.StepFailed(
            "E1", "", 0, failure("template", "no key 'adress'", error_type="BadPath", empty_data=False)
        ),
        like(f.ReplanRequested, cause="failure"),
        like(f.PlanRequested),
        like(MakePlan),
    )


def test_data_that_is_not_there_is_told_from_a_wrong_path() -> None:
    story = given(*planned("look", step("ship", input={"to": "{{E0.0}}"}))).when(succeeds("E0", []))
    assert story.new[1] == like(
        f.StepFailed, failure=failure("template", error_type="EmptyData", empty_data=True)
    )


def test_a_step_that_repeats_a_committed_operation_is_satisfied_and_nothing_runs() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0", {"id": 1}), fails("E1"))
    story.when(proposes("reserve", step("ship", input={"of": "{{E2.id}}"})))
    assert story.new[2:] == [f.StepSatisfied("E2", story.key("E0")), like(f.StepStarted, step="E3")]
    assert story.orders == [like(Execute, step="E3", input={"of": 1})]


def test_a_plan_that_is_satisfied_from_the_ledger_completes_the_run() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0", 7), fails("E1")).when(proposes("reserve"))
    assert story.new[2:] == [like(f.StepSatisfied), f.RunCompleted(7)]


def test_other_arguments_under_a_committed_identity_are_a_conflict_that_is_named() -> None:
    story = given(*planned(step("charge", input={"order": 1, "amount": 5}), "look"), succeeds("E0"))
    story.when(fails("E1")).when(proposes("look", step("charge", input={"order": 1, "amount": "{{E2}}"})))
    story.when(succeeds("E2", 7))
    assert story.new[1] == like(
        f.StepFailed,
        operation="",
        failure=failure("conflict", "operation conflict", story.key("E0"), "'E0'", "again: true"),
    )


def test_an_effect_that_is_being_undone_cannot_satisfy_a_step() -> None:
    story = given(*planned("charge", "look"), succeeds("E0"), fails("E1"), proposes("charge", undo=("E0",)))
    story.when(fails("undo E0"))
    assert story.new[:2] == [
        like(f.CompensationParked),
        like(f.StepFailed, failure=failure("conflict", "is being undone", "waive it")),
    ]


def test_an_operation_that_failed_is_tried_again_under_its_own_key() -> None:
    story = given(*planned("charge"), fails("E0"))
    key = story.key("E0")
    story.when(proposes("charge"))
    assert story.new[-1] == like(f.StepStarted, step="E1", operation=key, attempt=2)
    assert story.run.closed == {}


def test_two_planned_undos_of_one_effect_are_refused_before_they_run() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"))
    key = story.key("E0")
    story.when(proposes(step("release", undoes=key, needs=()), step("release", undoes=key, needs=())))
    assert story.new[1] == like(f.ProposalRejected, problems=(has("undone elsewhere in this plan"),))


def test_a_planned_undo_of_what_is_undone_is_satisfied_with_the_receipt_of_the_undo() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"), proposes("look", undo=("E0",)))
    story.when(succeeds("undo E0", {"released": 1})).when(fails("E2", "other"))
    story.when(
        proposes(step("release", undoes=story.key("E0")), step("ship", input={"n": "{{E3.released}}"}))
    )
    assert story.new[2] == f.StepSatisfied("E3", story.key("undo E0"))
    assert story.orders == [like(Execute, input={"n": 1})]


def test_a_planned_undo_of_what_a_plan_undid_by_a_step_is_satisfied_too() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"))
    undo = step("release", undoes=story.key("E0"))
    story.when(proposes(undo, "look")).when(succeeds("E2", "gone")).when(fails("E3", "other"))
    story.when(proposes(undo))
    assert story.new[2:] == [f.StepSatisfied("E4", story.key("E2")), f.RunCompleted("gone")]


def test_a_planned_undo_of_what_is_parked_is_a_conflict() -> None:
    story = given(*planned("charge", "look"), succeeds("E0"), fails("E1"))
    key = story.key("E0")
    story.when(proposes("look", step("refund", undoes=key))).when(
        f.CompensationIssued(f"undo/{key}", key, "user__refund", {}, "plan")
    )
    story.when(f.CompensationParked(f"undo/{key}", f.Failure("undo", "no"))).when(succeeds("E2"))
    assert story.new[1] == like(f.StepFailed, failure=failure("conflict", "being undone already"))


def test_a_signal_is_no_input() -> None:
    story = given(*planned("look", "ship")).when(signal("x", {"a": 1})).when(succeeds("E0"))
    assert story.orders == [like(Execute, step="E1", input={})]


def test_the_deadline_of_a_step_is_counted_from_its_own_start() -> None:
    story = given(start("look", step("ship", timeout_s=5.0))).when(later(50.0)).when(succeeds("E0"))
    assert story.orders == [like(Execute, deadline=155.0)]
