"""What people and other programs ask of a run."""

from __future__ import annotations

import pytest

from midcourse.domain import facts as f
from midcourse.domain.errors import InvalidInputError, MessageRefused
from midcourse.domain.orders import CancelAttempt, CancelPlanning, Execute

from .kit import Story, given, like, step
from .tellings import (
    cancel,
    fails,
    is_lost,
    later,
    no_plan,
    planned,
    planning_fails,
    proposes,
    signal,
    start,
    succeeds,
)

# -- signals


def test_a_relevant_signal_moves_the_epoch_and_an_irrelevant_one_does_not() -> None:
    story = given(*planned("look"))
    before = story.run.epoch
    story.when(signal("address", {"to": "Bergen"}, relevant=False)).then(
        f.SignalReceived("address", {"to": "Bergen"})
    )
    assert story.run.epoch == before
    story.when(signal("address")).then(f.SignalReceived("address", None, "", True))
    assert story.run.epoch == story.run.version


def test_a_signal_changes_nothing_of_what_runs() -> None:
    story = given(*planned("reserve", "ship")).when(signal())
    story.when(succeeds("E0")).then(like(f.StepCompleted), like(f.StepStarted, step="E1"), like(Execute))


def test_the_same_id_is_taken_once() -> None:
    story = given(*planned("look"), signal(id="7")).when(signal(id="7"))
    story.then_nothing()
    story.when(signal(id="8")).then(like(f.SignalReceived))


def test_a_repeated_signal_is_no_error_even_after_the_end() -> None:
    given(start("look"), signal(id="7"), succeeds("E0")).when(signal(id="7")).then_nothing()


def test_a_signal_needs_a_name_and_a_run_that_goes_on() -> None:
    with pytest.raises(MessageRefused, match="a signal needs a name"):
        given(*planned("look")).when(signal(""))
    with pytest.raises(MessageRefused, match=r"has ended \(completed\) and takes no signal 'news'"):
        given(start("look"), succeeds("E0")).when(signal())


def test_a_payload_is_held_as_a_replay_reads_it_or_refused() -> None:
    story = given(*planned("look")).when(signal("sizes", (1, 2)))
    story.then(like(f.SignalReceived, payload=[1, 2]))
    with pytest.raises(InvalidInputError):
        story.when(signal("x", object()))


# -- cancel, in every state


def test_cancel_while_planning() -> None:
    given(start()).when(cancel("too late")).then(
        f.CancelRequested("too late"),
        f.UnwindingBegan("cancelled", f.Failure("cancelled", "too late")),
        f.RunCancelled("too late"),
        like(CancelPlanning, epoch=1),
    )


def test_cancel_while_the_planner_is_waited_for() -> None:
    story = given(start(), planning_fails()).when(cancel())
    assert story.run.final == "cancelled"
    story.when(later(5.0)).then_nothing()


def test_cancel_while_a_step_runs_asks_it_to_stop() -> None:
    story = given(start("reserve", "ship")).when(cancel())
    story.then(
        like(f.CancelRequested),
        like(f.UnwindingBegan),
        CancelAttempt(story.key("E0"), 1, "enough"),
        like(CancelPlanning),
    )
    story.when(succeeds("E0")).then(
        like(f.StepCompleted), like(f.CompensationIssued), like(f.CompensationStarted), like(Execute)
    )


def test_cancel_during_back_off() -> None:
    story = given(start("reserve"), fails("E0", retry_after_s=9.0)).when(cancel())
    story.then(like(f.CancelRequested), like(f.UnwindingBegan), like(f.RunCancelled), like(CancelPlanning))


def test_cancel_with_an_unknown_outcome_waits_for_a_person() -> None:
    story = given(start("ship"), is_lost("E0")).when(cancel())
    story.then(like(f.CancelRequested), like(f.UnwindingBegan), like(CancelPlanning))


def test_cancel_when_stuck() -> None:
    story = given(*planned("look"), fails("E0"), no_plan()).when(cancel())
    assert (story.run.stuck, story.run.final) == ("", "cancelled")


def test_cancel_does_not_stop_an_undo_nor_what_waits_for_another_try_of_it() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"), proposes("ship", undo=("E0",)))
    story.when(cancel()).then(like(f.CancelRequested), like(f.UnwindingBegan), like(CancelPlanning))
    story.when(fails("undo E0", retry_after_s=1.0)).when(later(1.0)).then(
        like(f.CompensationStarted, attempt=2), like(Execute)
    )


def test_cancel_of_a_run_that_has_failed_keeps_its_end_and_asks_what_still_runs_to_stop() -> None:
    story = given(start(step("ship", needs=()), step("reserve", needs=()))).when(fails("E0")).when(cancel())
    story.then(
        f.CancelRequested("enough"), like(CancelAttempt, operation=story.key("E1")), like(CancelPlanning)
    )
    story.when(fails("E1"))
    assert story.run.final == "failed"


def test_cancel_without_a_reason_says_so() -> None:
    given(start()).when(cancel("")).then(
        f.CancelRequested(""),
        like(f.UnwindingBegan),
        f.RunCancelled("cancelled on request"),
        like(CancelPlanning),
    )


def test_a_second_cancel_is_nothing() -> None:
    for story in (given(start("ship"), cancel()), given(start(), cancel())):
        story.when(cancel()).then_nothing()


@pytest.mark.parametrize("story", [given(start("look"), succeeds("E0")), given(start("look"), fails("E0"))])
def test_a_run_that_has_ended_cannot_be_cancelled(story: Story) -> None:
    with pytest.raises(MessageRefused, match="takes no cancel"):
        story.when(cancel())


def test_no_step_begins_after_a_cancel() -> None:
    steps = (step("look", needs=()), step("ship", needs=("E0",)))
    story = given(start(*steps), cancel()).when(succeeds("E0"))
    story.then(like(f.StepCompleted), like(f.RunCancelled))
