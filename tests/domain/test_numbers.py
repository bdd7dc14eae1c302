"""Which number of an intent a step means where some of its operations ended without effect."""

from __future__ import annotations

from midcourse.domain import facts as f
from midcourse.domain.evolve import fold
from midcourse.domain.orders import Execute

from .kit import Story, given, has, like, step
from .tellings import asks_replan, fails, planned, proposes, succeeds

AGAIN = step("reserve", "B", again=True)
LOOK = step("look", "C")


def first_failed_and_second_stands() -> Story:
    """Of two equal operations the first ended without effect; one more was asked for, and stands."""
    return given(
        *planned("reserve"),
        fails("E0"),
        proposes(AGAIN, LOOK),
        succeeds("B"),
        asks_replan("C", no_effect=True),
    )


def test_a_tail_that_repeats_a_committed_intent_is_satisfied_though_an_earlier_number_had_no_effect() -> None:
    story = first_failed_and_second_stands().when(proposes(step("reserve", "D"), step("notify", "E")))
    story.then(
        like(f.PlanProposed),
        like(f.PlanAccepted),
        like(f.StepSatisfied, step="D", operation=story.run.done["B"]),
        like(f.StepStarted, step="E"),
        like(Execute),
    )


def test_the_second_of_two_equal_steps_is_the_one_that_had_no_effect() -> None:
    story = first_failed_and_second_stands()
    failed, stands = story.run.done["B"][:-1] + "0", story.run.done["B"]
    story.when(proposes(step("reserve", "D"), step("reserve", "E"), step("reserve", "F")))
    assert [
        like(f.StepSatisfied, operation=stands),
        like(f.StepStarted, operation=failed, attempt=2),
    ] == story.new[-2:]
    story.when(succeeds("E"))
    assert story.new[-1] == like(f.StepStarted, step="F", operation=stands[:-1] + "2", attempt=1)


def test_other_arguments_contradict_the_one_that_stands() -> None:
    paid = step("charge", "B", input={"order": 1, "amount": 5}, again=True)
    story = given(
        *planned(step("charge", "A", input={"order": 1, "amount": 5})), fails("A", no_effect=True),
        proposes(paid, LOOK), succeeds("B"), asks_replan("C", no_effect=True),
    )  # fmt: skip
    story.when(proposes(step("charge", "D", input={"order": 1, "amount": 6}))).then(
        like(f.PlanProposed),
        like(f.ProposalRejected, code="conflict", problems=(has(story.run.done["B"]),)),
        *story.new[2:],
        *story.orders,
    )


def test_a_replay_counts_alike() -> None:
    story = first_failed_and_second_stands().when(proposes(step("reserve", "D"), step("reserve", "E")))
    again = fold("run", story.facts)
    assert (story.run.tail_n, story.run.tail_again, story.run.next_n) == (
        again.tail_n,
        again.tail_again,
        again.next_n,
    )
