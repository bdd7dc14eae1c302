"""What comes next by itself, and in which order."""

from __future__ import annotations

from midcourse.domain import facts as f
from midcourse.domain.decide import advance, decide
from midcourse.domain.orders import Execute, MakePlan

from .kit import CATALOG, given, like, step
from .tellings import asks_replan, cancel, fails, is_lost, later, planned, proposes, replan, start, succeeds


def test_steps_of_a_sequence_begin_one_after_the_other() -> None:
    story = given(start("look", "reserve", "ship"))
    for place in (0, 1):
        story.when(succeeds(f"E{place}"))
        story.then(like(f.StepCompleted), like(f.StepStarted, step=f"E{place + 1}"), like(Execute))


def test_all_steps_of_a_dag_that_wait_for_nothing_begin_at_once() -> None:
    story = given(start(step("look", needs=()), step("reserve", needs=()), step("ship", needs=("E0",))))
    assert [*story.orders] == [like(Execute, step="E0"), like(Execute, step="E1")]


def test_a_run_is_complete_when_its_plan_is_exhausted_and_nothing_is_open() -> None:
    story = given(start(step("look", needs=()), step("reserve", needs=()))).when(succeeds("E0"))
    story.then(like(f.StepCompleted))
    story.when(succeeds("E1", "last")).then(like(f.StepCompleted), f.RunCompleted("last"))


def test_the_result_is_that_of_the_last_step_of_the_plan_not_of_the_last_to_end() -> None:
    story = given(start(step("look", needs=()), step("reserve", needs=())), succeeds("E1", "second"))
    story.when(succeeds("E0", "first")).then(like(f.StepCompleted), f.RunCompleted("second"))


def test_nothing_follows_the_end() -> None:
    story = given(start("look"), succeeds("E0"))
    assert advance(story.run, CATALOG, 9999.0).facts == ()


def test_a_wait_that_is_over_comes_before_a_new_step() -> None:
    steps = (step("reserve", needs=()), step("look", needs=()), step("ship", needs=("E1",)))
    story = given(start(*steps), fails("E0", retry_after_s=1.0))
    story.at += 5.0
    story.when(succeeds("E1")).then(
        like(f.StepCompleted),
        like(f.AttemptStarted),
        like(f.StepStarted, step="E2"),
        like(Execute, step="E0"),
        like(Execute, step="E2"),
    )


def test_the_planner_is_asked_after_what_is_in_flight_is_known() -> None:
    steps = [step("reserve", needs=(), input={"n": n}) for n in (1, 2, 3)]
    story = given(*planned(*steps), is_lost("E1"), replan()).when(succeeds("E0")).when(succeeds("E2"))
    story.then(like(f.StepCompleted))
    story.when(later(1.0)).then(like(f.AttemptStarted), like(Execute))
    story.when(succeeds("E1")).then(like(f.StepCompleted), like(f.PlanRequested), like(MakePlan))


def test_the_planner_is_asked_after_what_is_to_be_undone_is_undone() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), asks_replan("E1"))
    story.when(proposes("ship", undo=("E0",))).when(replan()).then(like(f.ReplanRequested))
    story.when(succeeds("undo E0")).then(like(f.CompensationCompleted), like(f.PlanRequested), like(MakePlan))


def test_a_failure_is_answered_after_what_is_to_be_undone_is_undone() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), asks_replan("E1"))
    story.when(proposes("ship", undo=("E0",)))
    assert story.run.running == {}


def test_a_run_ends_only_when_nothing_is_in_flight() -> None:
    steps = (step("look", needs=()), step("reserve", needs=()))
    story = given(start(*steps)).when(cancel())
    story.when(fails("E0")).then(like(f.StepFailed))
    story.when(fails("E1")).then(like(f.StepFailed), like(f.RunCancelled))


def test_deciding_changes_nothing() -> None:
    story = given(start("reserve", "ship"))
    version = story.run.version
    decision = decide(story.run, story.message(succeeds("E0")), CATALOG)
    assert [*decision.facts] == [like(f.StepCompleted)]
    assert (story.run.version, story.run.ledger) == (version, {})


def test_looking_at_the_clock_does_nothing_before_its_time() -> None:
    given(start("reserve"), fails("E0", retry_after_s=5.0)).when(later(4.0)).then_nothing()
