"""A step may have a retry policy of its own, in place of its tool's."""

from __future__ import annotations

import pytest

from midcourse.domain import facts as f
from midcourse.domain.errors import PlanInvalid
from midcourse.domain.orders import Execute
from midcourse.domain.retry import RetryPolicy

from .kit import given, like, step
from .tellings import fails, is_lost, later, planned, start

TWICE = RetryPolicy(max_attempts=2, initial_s=7.0)


def test_how_often_is_for_the_step_to_say() -> None:
    story = given(*planned(step("look", "A", retry=TWICE)))
    assert story.orders == [like(Execute, retry=TWICE)]
    story.when(fails("A", retry_after_s=1.0)).then(like(f.AttemptFailed))
    story.when(later(1.0)).then(like(f.AttemptStarted), like(Execute, retry=TWICE))
    story.when(fails("A", retry_after_s=1.0))
    assert story.new[0] == like(f.StepFailed)


def test_how_long_it_waits_after_an_attempt_without_an_answer_is_too() -> None:
    story = given(*planned(step("look", "A", retry=TWICE))).when(is_lost("A"))
    assert story.new == [like(f.AttemptFailed, retry_at=story.at + 7.0)]


def test_a_step_without_one_has_its_tools() -> None:
    story = given(*planned(step("look", "A"))).when(is_lost("A"))
    assert story.new == [like(f.AttemptFailed, retry_at=story.at + 1.0)]


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        (RetryPolicy(initial_s=-1.0), r"retry.initial_s is -1.0; it is a number of seconds of 0 or above"),
        (RetryPolicy(factor=-2.0), r"retry.factor is -2.0; it is a factor of 0 or above"),
        (RetryPolicy(max_s=-0.5), r"retry.max_s is -0.5; it is a number of seconds of 0 or above"),
        (RetryPolicy(max_lost=-1), r"retry.max_lost is -1; it cannot be negative"),
    ],
)
def test_waits_and_losses_below_nothing_are_no_policy(policy: RetryPolicy, problem: str) -> None:
    with pytest.raises(PlanInvalid, match=f"step A: {problem}"):
        given(start(step("look", "A", retry=policy)))


def test_no_attempt_at_all_is_no_policy() -> None:
    with pytest.raises(PlanInvalid, match=r"step A: retry.max_attempts is 0; the first one counts"):
        given(start(step("look", "A", retry=RetryPolicy(max_attempts=0))))
