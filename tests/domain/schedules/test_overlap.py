"""What becomes of a due time while the run before has not ended."""

from __future__ import annotations

import pytest

from .kit import at, cancel, fired, given, queued, skipped, start, started

FIRST = (fired(1), started(1, "run-1"))


def test_before_it_is_due_nothing_happens() -> None:
    given().when(0.99).then().ordered()


def test_a_due_time_is_fired_and_its_run_ordered_until_there_is_one() -> None:
    given().when(1).then(fired(1)).ordered(start(1))
    given(*FIRST).ordered()


@pytest.mark.parametrize("overlap", ["skip", "queue", "allow", "cancel_previous"])
def test_where_the_run_before_has_ended_all_policies_fire(overlap: str) -> None:
    given(*FIRST, overlap=overlap).when(2).then(fired(2))


def test_skip() -> None:
    story = given(*FIRST, overlap="skip").when(2, running=True)
    story.then(skipped(2, "overlap", run="run-1")).ordered()
    story.when(2.5).then()
    story.when(3).then(fired(3))


def test_allow() -> None:
    given(*FIRST, overlap="allow").when(2, running=True).then(fired(2)).ordered(start(2))


def test_queue_lets_one_wait_for_the_end() -> None:
    story = given(*FIRST, overlap="queue").when(2, running=True).then(queued(2)).ordered()
    story.when(3, running=True).then(skipped(3, "queue_full", run="run-1"))
    story.when(3.5).then(fired(2)).ordered(start(2))
    story.when(4, running=True).then(queued(4))


def test_what_waits_comes_before_what_is_due_at_the_same_time() -> None:
    given(*FIRST, queued(2), overlap="queue").when(3).then(fired(2), queued(3))


def test_cancel_previous_starts_once_the_run_before_has_ended() -> None:
    story = given(*FIRST, overlap="cancel_previous").when(2, running=True)
    story.then(queued(2)).ordered(cancel("run-1", 2))
    story.when(2.1).then(fired(2)).ordered(start(2))


def test_cancel_previous_keeps_only_the_newest_waiting() -> None:
    story = given(*FIRST, queued(2), overlap="cancel_previous").when(3, running=True)
    story.then(skipped(2, "superseded", run="run-1"), queued(3)).ordered(cancel("run-1", 3))
    assert story.schedule.waiting == at(3)


@pytest.mark.parametrize("overlap", ["skip", "queue", "cancel_previous"])
def test_a_run_that_is_only_ordered_counts_as_one_that_runs(overlap: str) -> None:
    story = given(fired(1), overlap=overlap).when(2)
    story.then(skipped(2, "overlap") if overlap == "skip" else queued(2)).ordered(start(1))
