"""Unknown is not failed: what may have happened is asked about, never guessed."""

from __future__ import annotations

import pytest

from midcourse.domain import facts as f
from midcourse.domain.errors import MessageRefused
from midcourse.domain.orders import Execute, MakePlan, Probe
from midcourse.domain.receipt import Receipt

from .kit import failure, given, has, like, step
from .tellings import (
    asks_replan,
    cancel,
    is_lost,
    later,
    planned,
    probe_says,
    proposes,
    replan,
    settles,
    start,
    succeeds,
)


def test_the_probe_is_asked_where_there_is_one() -> None:
    story = given(start(step("charge", input={"order": 1}))).when(is_lost("E0", "timeout", details=[1]))
    key = story.key("E0")
    story.then(
        like(f.OutcomeUnknown, operation=key, attempt=1, probing=True, details=[1]),
        Probe(key, 1, "user__charge", {"order": 1}),
    )


def test_without_a_probe_a_person_has_to_say() -> None:
    given(start("ship")).when(is_lost("E0")).then(like(f.OutcomeUnknown, probing=False))


def test_an_unknown_outcome_permits_no_attempt_however_much_time_passes() -> None:
    given(start("ship"), is_lost("E0")).when(later(9999.0)).then_nothing()


def test_it_happened() -> None:
    story = given(start("charge", "ship"), is_lost("E0")).when(
        probe_says("E0", True, receipt=Receipt({"id": 4}))
    )
    story.then(
        f.OutcomeSettled(story.key("E0"), True, Receipt({"id": 4}), "saw it"),
        like(f.StepStarted, step="E1"),
        like(Execute, step="E1"),
    )
    assert story.run.results["E0"] == {"id": 4}


def test_it_did_not_happen_and_only_that_permits_another_attempt() -> None:
    story = given(start("charge"), is_lost("E0")).when(probe_says("E0", False))
    story.then(
        like(f.OutcomeSettled, happened=False),
        like(f.AttemptStarted, attempt=2),
        like(Execute, attempt=2),
    )


def test_the_probe_cannot_tell_and_a_person_has_to() -> None:
    story = given(start("charge"), is_lost("E0")).when(probe_says("E0", None))
    story.then(like(f.ProbeFailed, attempt=1, why="saw it"))
    story.when(probe_says("E0", True)).then_nothing()
    story.when(settles("E0", happened=True)).then(like(f.OutcomeSettled), like(f.RunCompleted))


def test_an_answer_about_another_attempt_is_nothing() -> None:
    given(start("charge"), is_lost("E0")).when(probe_says("E0", True, attempt=7)).then_nothing()


def test_an_answer_about_nothing_unknown_is_nothing() -> None:
    given(start("charge")).when(probe_says("E0", True)).then_nothing()


def test_a_person_settles_it_with_a_receipt_or_without() -> None:
    for receipt in (None, Receipt("r")):
        story = given(start("ship"), is_lost("E0"))
        key = story.key("E0")
        story.when(settles("E0", happened=True, receipt=receipt)).then(
            f.OutcomeSettled(key, True, receipt, "I looked"), like(f.RunCompleted)
        )
        assert story.run.ledger[key].receipt == (receipt or Receipt())


def test_a_person_may_be_quicker_than_the_probe() -> None:
    story = given(start("charge", "ship"), is_lost("E0"), settles("E0", happened=True))
    story.when(probe_says("E0", False, attempt=1)).then_nothing()


def test_saying_that_it_did_not_happen_needs_a_reason() -> None:
    with pytest.raises(MessageRefused, match="permits another attempt and needs a reason"):
        given(start("ship"), is_lost("E0")).when(settles("E0", happened=False, reason=""))


def test_only_an_unknown_outcome_can_be_settled() -> None:
    with pytest.raises(
        MessageRefused, match=r"in flight; there is no unknown outcome to settle \(unknown: none\)"
    ):
        given(start("ship")).when(settles("E0", happened=True))


def test_a_second_answer_loses_the_race_and_is_told_so() -> None:
    story = given(start("ship"), is_lost("E0"), settles("E0", happened=False))
    with pytest.raises(MessageRefused, match="is in flight; there is no unknown outcome"):
        story.when(settles("E0", happened=True))


def test_a_request_for_a_plan_that_does_not_say_what_was_done_leaves_it_unknown() -> None:
    story = given(*planned("charge")).when(asks_replan("E0", "declined", tried=1))
    story.then(
        like(f.OutcomeUnknown, why=has("declined"), probing=True),
        f.BoardUpdated({"tried": 1}, "E0"),
        like(f.ReplanRequested),
        like(Probe),
    )
    story.when(probe_says("E0", False)).then(
        like(f.OutcomeSettled), like(f.PlanRequested, reason="declined"), like(MakePlan)
    )
    assert [*story.run.closed] == [story.key("E0")]


def test_outcomes_are_known_before_a_plan_is_made() -> None:
    story = given(*planned(step("ship", needs=()), step("look", needs=())), is_lost("E0"), replan())
    story.when(succeeds("E1")).then(like(f.StepCompleted))
    story.when(settles("E0", happened=False)).then(
        like(f.OutcomeSettled), like(f.PlanRequested), like(MakePlan)
    )


def test_what_did_not_happen_is_not_repeated_once_its_plan_is_left() -> None:
    story = given(*planned("ship"), is_lost("E0"), replan()).when(settles("E0", happened=False))
    assert [*story.run.closed] == [story.key("E0")]
    story.when(proposes("ship"))
    assert story.new[-1] == like(f.StepStarted, attempt=2)


def test_while_its_plan_is_left_a_repeatable_effect_is_asked_about_where_it_can_be() -> None:
    story = given(*planned(step("charge", needs=()), step("reserve", needs=())), replan())
    story.when(is_lost("E0")).then(like(f.OutcomeUnknown, probing=True), like(Probe))
    story.when(is_lost("E1")).then(like(f.AttemptFailed, doubt=True))


def test_an_effect_that_was_asked_to_stop_is_not_repeated() -> None:
    story = given(start("reserve"), cancel()).when(is_lost("E0", "cancelled"))
    story.then(like(f.OutcomeUnknown, why=has("cancelled")))


def test_a_read_that_was_asked_to_stop_has_ended() -> None:
    story = given(start("look"), cancel()).when(is_lost("E0", "cancelled"))
    story.then(like(f.StepFailed, failure=failure("cancelled")), like(f.RunCancelled, reason="enough"))


def test_while_a_run_is_undone_an_irreversible_effect_is_not_repeated_to_learn_of_it() -> None:
    story = given(start("notify"), is_lost("E0"), cancel())
    story.when(later(1.0)).then(like(f.OutcomeUnknown, probing=False, why=has("plan is being left")))
    story.when(settles("E0", happened=False)).then(like(f.OutcomeSettled), like(f.RunCancelled))


def test_while_a_run_is_undone_a_reversible_effect_is_repeated_to_learn_of_it_and_then_undone() -> None:
    story = given(start("reserve"), is_lost("E0"), cancel())
    story.when(later(1.0)).then(like(f.AttemptStarted, attempt=2), like(Execute))
    story.when(succeeds("E0")).then(
        like(f.StepCompleted), like(f.CompensationIssued), like(f.CompensationStarted), like(Execute)
    )


def test_a_person_settling_for_a_run_that_is_undone_has_the_effect_undone_as_well() -> None:
    story = given(start("charge"), is_lost("E0"), probe_says("E0", None), cancel())
    story.then(like(f.CancelRequested), like(f.UnwindingBegan), *story.orders)
    story.when(settles("E0", happened=True)).then(
        like(f.OutcomeSettled), like(f.CompensationIssued), like(f.CompensationStarted), like(Execute)
    )
