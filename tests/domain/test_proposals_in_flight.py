"""A person proposes while steps are in flight: it waits, and is judged by what one could know."""

from __future__ import annotations

import pytest

from midcourse.domain import facts as f
from midcourse.domain.decide import record
from midcourse.domain.evolve import fold
from midcourse.domain.orders import CancelPlanning, Execute, MakePlan
from midcourse.domain.plan import Author

from .kit import Story, given, has, like, step
from .tellings import (
    asks_replan,
    cancel,
    fails,
    is_lost,
    planned,
    proposes,
    settles,
    signal,
    start,
    succeeds,
    taken_up,
)

HUMAN: Author = "human"


def test_it_drains_first_and_no_step_of_the_old_plan_begins() -> None:
    story = given(*planned("reserve", "ship")).when(proposes("notify", by=HUMAN, reason="cheaper"))
    story.then(
        like(f.ReplanRequested, cause="person", reason="cheaper"),
        like(f.PlanProposed, author="human", epoch=4),
        like(f.ProposalHeld, epoch=4),
    )
    story.when(succeeds("E0")).then(
        like(f.StepCompleted),
        like(f.PlanAccepted, author="human", kept=("E0",), superseded=("E1",), added=("E2",)),
        like(f.StepStarted, step="E2"),
        like(Execute),
    )
    assert story.run.results == {"E0": "ok"}


def test_it_may_refer_to_the_results_of_what_is_in_flight() -> None:
    later = step("notify", input={"what": "{{E0}}"})
    story = given(*planned("reserve", "ship")).when(proposes(later, by=HUMAN)).when(succeeds("E0", "r"))
    assert story.orders == [like(Execute, input={"what": "r"})]


def test_it_is_judged_again_when_what_it_refers_to_has_failed() -> None:
    later = step("notify", input={"what": "{{E0}}"})
    story = given(*planned("ship", "look")).when(proposes(later, by=HUMAN)).when(fails("E0"))
    story.then(
        like(f.StepFailed),
        like(f.ProposalRejected, code="invalid", problems=(has("refer to 'E0'"),)),
        like(f.PlanRequested),
        like(MakePlan),
    )


def test_a_failure_it_does_not_rely_on_does_not_matter() -> None:
    story = given(*planned("ship", "look")).when(proposes("notify", by=HUMAN)).when(fails("E0"))
    assert story.new == [like(f.StepFailed), like(f.PlanAccepted), like(f.StepStarted)]


def test_outcomes_of_what_was_in_flight_make_it_no_older() -> None:
    steps = [step("look", f"S{n}", needs=(), input={"n": n}) for n in range(3)]
    story = given(*planned(*steps, step("ship", "S3", needs=("S0", "S1", "S2"))))
    seen = story.run.epoch
    story.take(succeeds("S0"))
    story.take(succeeds("S1"))
    assert story.run.epoch > seen
    story.when(proposes("notify", by=HUMAN, epoch=seen))
    assert story.new[-1] == like(f.ProposalHeld)


def test_a_step_that_began_since_makes_it_stale() -> None:
    story = given(*planned("look", "ship"))
    seen = story.run.epoch
    story.take(succeeds("E0"))
    story.when(proposes("notify", by=HUMAN, epoch=seen)).then(
        like(f.PlanProposed), like(f.ProposalRejected, code="stale", problems=(has("look again"),))
    )
    assert story.run.owed is None


def test_news_from_outside_makes_it_stale_while_it_waits() -> None:
    story = given(*planned("ship", "look")).when(proposes("notify", by=HUMAN)).when(signal())
    story.when(succeeds("E0")).then(
        like(f.StepCompleted),
        like(f.ProposalRejected, code="stale", problems=(has("more has happened"),)),
        like(f.PlanRequested),
        like(MakePlan),
    )


def test_one_that_is_wrong_is_refused_at_once_and_nothing_is_held_up() -> None:
    story = given(*planned("ship", "look")).when(proposes("shp", by=HUMAN))
    story.then(like(f.PlanProposed), like(f.ProposalRejected, code="invalid"))
    assert story.run.owed is None


def test_of_two_made_from_the_same_state_one_wins_and_the_other_is_told() -> None:
    story = given(*planned("ship", "look"))
    first, second = story.message(proposes("notify", by=HUMAN)), story.message(proposes("reserve", by=HUMAN))
    story.when(first).when(second).then(like(f.PlanProposed), like(f.ProposalRejected, code="stale"))
    story.when(succeeds("E0"))
    assert [step.tool_name for step in story.run.steps.values()] == ["user__ship", "user__notify"]


def test_even_the_same_plan_twice_is_one_that_waits() -> None:
    story = given(*planned("ship", "look"))
    plan = story.message(proposes("notify", by=HUMAN))
    story.when(plan).when(plan).then(like(f.PlanProposed), like(f.ProposalRejected, code="stale"))
    story.when(succeeds("E0"))
    assert story.run.author == "human"


def test_one_made_knowing_of_another_that_waits_takes_its_place() -> None:
    story = given(*planned("ship", "look")).when(proposes("notify", by=HUMAN))
    story.when(proposes("reserve", by=HUMAN)).then(
        like(f.ProposalRejected, code="replaced"),
        like(f.ReplanJoined, cause="person"),
        like(f.PlanProposed),
        like(f.ProposalHeld),
    )
    story.when(succeeds("E0"))
    assert [step.tool_name for step in story.run.steps.values()] == ["user__ship", "user__reserve"]


def test_a_plan_that_is_owed_already_is_answered_by_the_person() -> None:
    story = given(*planned(step("ship", needs=()), step("look", needs=())), asks_replan("E1"))
    story.when(proposes("notify", by=HUMAN)).then(
        like(f.ReplanJoined, cause="person"), like(f.PlanProposed), like(f.ProposalHeld)
    )
    story.when(succeeds("E0"))
    assert story.new[1] == like(f.PlanAccepted, author="human")


def test_the_planner_is_not_asked_and_the_budget_of_replans_does_not_stop_a_person() -> None:
    story = given(*planned("ship", "look", limits=f.Limits(replans=0))).when(proposes("notify", by=HUMAN))
    assert story.run.stuck == ""
    story.when(succeeds("E0"))
    assert not any(isinstance(order, MakePlan) for order in story.orders)
    assert story.run.revision == 2


def test_a_planner_that_is_being_asked_is_told_to_stop() -> None:
    story = given(start()).when(proposes("notify", by=HUMAN))
    assert story.orders == [CancelPlanning(1), like(Execute)]


def test_it_waits_for_an_unknown_outcome_to_be_settled() -> None:
    story = given(*planned("ship", "look"), is_lost("E0")).when(proposes("notify", by=HUMAN))
    assert story.new[-1] == like(f.ProposalHeld)
    story.when(settles("E0", happened=True))
    assert story.new == [like(f.OutcomeSettled), like(f.PlanAccepted), like(f.StepStarted)]


def test_it_survives_a_crash() -> None:
    story = given(*planned("look", "ship")).when(proposes("notify", by=HUMAN))
    assert fold("run", story.facts).held == story.run.held
    story.when(taken_up("p"))
    assert story.new[0] == like(f.StepFailed, step="E0")
    assert story.new[1:] == [like(f.PlanAccepted, author="human"), like(f.StepStarted)]


def test_another_process_records_it_and_the_owner_takes_it_up() -> None:
    story = given(*planned("ship", "look"))
    message = story.message(proposes("notify", by=HUMAN))
    for fact, _ in record(fold("run", story.facts), message, story.catalog).facts:
        story.take(fact)
    story.when(succeeds("E0"))
    assert story.run.author == "human"


def test_a_cancel_ends_it() -> None:
    story = given(*planned("ship", "look")).when(proposes("notify", by=HUMAN)).when(cancel())
    story.when(succeeds("E0"))
    assert (story.run.held, story.run.final) == (None, "cancelled")


def test_a_step_in_back_off_is_given_up_for_it() -> None:
    story = given(*planned("reserve", "look"), fails("E0", retry_after_s=60.0))
    story.when(proposes("notify", by=HUMAN))
    assert story.new[-2:] == [like(f.PlanAccepted), like(f.StepStarted, step="E2")]


@pytest.mark.parametrize("planner", ["", "p"])
def test_a_person_revises_a_plan_by_a_person(planner: str) -> None:
    story: Story = given(start("reserve", "ship", planner=planner)).when(proposes("notify", by=HUMAN))
    story.when(succeeds("E0"))
    assert (story.run.revision, story.run.author) == (2, "human")
