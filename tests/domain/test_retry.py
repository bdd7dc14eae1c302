"""Retries: who may try again, how often, and until when."""

from __future__ import annotations

import pytest

from midcourse.domain import facts as f
from midcourse.domain.orders import Execute, MakePlan
from midcourse.domain.tools import Catalog, RetryPolicy, ToolSpec

from .kit import failure, given, has, like, step
from .tellings import (
    asks_replan,
    fails,
    is_lost,
    later,
    planned,
    proposes,
    replan,
    settles,
    start,
    succeeds,
    taken_up,
)


def test_a_failed_attempt_is_tried_again_when_its_wait_is_over() -> None:
    story = given(start("reserve")).when(fails("E0", "busy", retry_after_s=2.0))
    key = story.key("E0")
    digest = story.run.backoff[key].digest
    story.then(
        f.AttemptFailed(key, 1, f.Failure("tool_error", "busy", "E0", "user__reserve", digest=digest), 102.0)
    )
    story.when(later(1.9)).then_nothing()
    story.when(later(0.1)).then(f.AttemptStarted(key, 2), Execute(key, 2, "user__reserve", {}, "E0"))


def test_the_executor_says_that_another_attempt_is_pointless() -> None:
    given(start("reserve")).when(fails("E0"))
    story = given(*planned("reserve")).when(fails("E0", "forbidden"))
    story.then(
        like(f.StepFailed, step="E0", attempt=1, failure=failure("tool_error", "forbidden")),
        like(f.ReplanRequested, cause="failure", reason="forbidden", step="E0"),
        like(f.PlanRequested),
        like(MakePlan),
    )


@pytest.mark.parametrize(
    ("spec", "tries"),
    [
        (ToolSpec("t", effect="read"), 5),
        (ToolSpec("t", idempotent=True), 5),
        (ToolSpec("t"), 1),
        (ToolSpec("t", retry=RetryPolicy(max_attempts=3)), 3),
        (ToolSpec("t", idempotent=True, retry=RetryPolicy(max_attempts=2)), 2),
    ],
)
def test_how_often_depends_on_the_tool(spec: ToolSpec, tries: int) -> None:
    story = given(start("t"), tools=Catalog([spec]))
    for _ in range(tries):
        assert story.run.final is None
        story.when(fails("E0", retry_after_s=1.0)).when(later(1.0))
    assert story.run.final == "failed"


def test_a_tool_that_vouches_for_no_effect_may_be_tried_again_though_it_is_not_repeatable() -> None:
    story = given(start("ship")).when(fails("E0", retry_after_s=1.0, no_effect=True))
    story.then(like(f.AttemptFailed, doubt=False))
    story.when(later(1.0)).then(like(f.AttemptStarted, attempt=2), like(Execute))
    story.when(fails("E0", retry_after_s=1.0))
    assert story.new[0] == like(f.StepFailed)


def test_attempts_are_counted_before_they_start_and_under_each_revision_anew() -> None:
    story = given(
        *planned("notify"), fails("E0", retry_after_s=1.0), later(1.0), fails("E0", retry_after_s=1.0)
    )
    assert story.new[0] == like(f.StepFailed, attempt=2)
    story.when(proposes("notify"))
    key = story.key("E1")
    assert story.new[2:] == [like(f.StepStarted, step="E1", operation=key, attempt=3)]
    story.when(fails("E1", retry_after_s=1.0)).then(like(f.AttemptFailed, attempt=3))
    story.when(later(1.0)).when(fails("E1", retry_after_s=1.0))
    assert story.new[0] == like(f.StepFailed, attempt=4)


def test_a_lost_attempt_of_a_repeatable_tool_is_tried_again_after_the_wait_of_its_policy() -> None:
    story = given(start("reserve")).when(is_lost("E0", "timeout", details={"page": 3}))
    story.then(
        like(
            f.AttemptFailed,
            doubt=True,
            details={"page": 3},
            retry_at=101.0,
            failure=failure("timeout", "timeout"),
        )
    )
    story.when(later(1.0)).then(like(f.AttemptStarted), like(Execute, attempt=2, details={"page": 3}))
    story.when(is_lost("E0")).then(like(f.AttemptFailed, retry_at=103.0))


def test_a_read_that_is_lost_too_often_has_failed() -> None:
    spec = ToolSpec("t", effect="read", retry=RetryPolicy(max_attempts=1))
    story = given(start("t"), tools=Catalog([spec])).when(is_lost("E0"))
    assert story.new[0] == like(f.StepFailed, failure=failure("timeout", "ended without an answer"))


def test_an_effect_that_is_lost_too_often_is_unknown() -> None:
    story = given(start("notify"), is_lost("E0"), later(1.0)).when(is_lost("E0"))
    story.then(like(f.OutcomeUnknown, attempt=2, probing=False))


def test_a_plain_failure_after_an_attempt_without_an_answer_does_not_make_it_failed() -> None:
    story = given(start("reserve"), is_lost("E0"), later(1.0)).when(fails("E0", "forbidden"))
    story.then(like(f.OutcomeUnknown, why=has("forbidden", "ended without an answer")))


def test_an_idempotent_tool_that_vouches_for_no_effect_vouches_for_the_attempt_before_too() -> None:
    story = given(start("reserve"), is_lost("E0"), later(1.0)).when(fails("E0", no_effect=True))
    story.then(like(f.StepFailed), like(f.UnwindingBegan), like(f.RunFailed))
    story = given(*planned("reserve"), taken_up("p")).when(asks_replan("E0", no_effect=True))
    story.then(like(f.StepFailed), like(f.ReplanRequested), like(f.PlanRequested), like(MakePlan))


def test_a_request_for_a_plan_that_does_not_vouch_leaves_the_attempt_before_in_doubt() -> None:
    story = given(*planned("reserve"), taken_up("p")).when(asks_replan("E0"))
    story.then(like(f.OutcomeUnknown), like(f.ReplanRequested))


def test_what_is_not_happened_may_fail_plainly_later() -> None:
    story = given(start("reserve"), is_lost("E0"), later(1.0), fails("E0"))
    story.when(settles("E0", happened=False)).when(fails("E0", "forbidden"))
    assert story.new[0] == like(f.StepFailed)


def test_a_read_in_doubt_may_simply_fail() -> None:
    story = given(start("look"), is_lost("E0"), later(1.0)).when(fails("E0"))
    assert story.new[0] == like(f.StepFailed)


def test_while_a_plan_is_owed_a_failure_is_final_and_asks_for_no_second_plan() -> None:
    story = given(*planned("reserve"), replan()).when(fails("E0", retry_after_s=1.0))
    story.then(like(f.StepFailed), like(f.PlanRequested, reason="look again"), like(MakePlan))
    assert story.run.replans == 1


def test_a_request_for_a_plan_gives_up_what_waits_for_another_attempt() -> None:
    story = given(*planned("reserve"), fails("E0", retry_after_s=9.0)).when(replan())
    story.then(like(f.ReplanRequested), like(f.PlanRequested), like(MakePlan))
    assert [operation.step for operation in story.run.closed.values()] == ["E0"]


def test_a_request_for_a_plan_does_not_give_up_an_effect_that_may_have_happened() -> None:
    story = given(*planned("reserve"), is_lost("E0")).when(replan())
    story.then(like(f.ReplanRequested))
    story.when(later(1.0)).then(like(f.AttemptStarted), like(Execute))
    story.when(succeeds("E0")).then(like(f.StepCompleted), like(f.PlanRequested), like(MakePlan))


# -- the deadline of a step


def test_a_step_has_its_time_with_all_its_attempts() -> None:
    story = given(start(step("reserve", timeout_s=5.0)))
    story.then(*story.new, like(Execute, deadline=105.0))
    assert story.new[-1] == like(f.StepStarted, deadline=105.0)
    story.when(fails("E0", retry_after_s=4.0)).when(later(4.0)).then(
        like(f.AttemptStarted), like(Execute, deadline=105.0)
    )


def test_an_attempt_that_could_only_start_after_the_deadline_is_not_waited_for() -> None:
    story = given(start(step("reserve", timeout_s=5.0))).when(fails("E0", "busy", retry_after_s=5.0))
    assert story.new[0] == like(f.StepFailed, failure=failure("tool_error", "busy"))


def test_an_effect_lost_at_its_deadline_is_unknown_and_a_read_has_failed() -> None:
    story = given(start(step("reserve", timeout_s=1.0))).when(is_lost("E0"))
    story.then(like(f.OutcomeUnknown))
    story = given(start(step("look", timeout_s=1.0))).when(is_lost("E0"))
    assert story.new[0] == like(f.StepFailed)


@pytest.mark.parametrize(("tool", "end"), [("reserve", f.OutcomeUnknown), ("look", f.StepFailed)])
def test_a_deadline_that_passed_while_nobody_was_there_permits_no_attempt(tool: str, end: type) -> None:
    story = given(start(step(tool, timeout_s=5.0)))
    story.at += 60.0
    story.when(taken_up())
    assert story.new[:2] == [like(f.AttemptLost), like(end, attempt=1)]


def test_a_step_that_did_not_happen_and_is_out_of_time_has_failed() -> None:
    story = given(start(step("ship", timeout_s=5.0)), is_lost("E0"))
    story.at += 60.0
    story.when(settles("E0", happened=False))
    assert story.new[:2] == [
        like(f.OutcomeSettled, happened=False),
        like(f.StepFailed, failure=failure("timeout", "timeout_s of step E0")),
    ]


def test_a_later_revision_gives_its_step_time_of_its_own() -> None:
    story = given(*planned(step("reserve", timeout_s=5.0)), fails("E0"))
    story.at += 60.0
    story.when(proposes(step("reserve", timeout_s=5.0)))
    assert story.new[-1] == like(f.StepStarted, attempt=2, deadline=165.0)


def test_several_waits_are_over_at_once() -> None:
    story = given(
        start(step("reserve", needs=(), input={"n": 1}), step("reserve", needs=(), input={"n": 2})),
        fails("E0", retry_after_s=1.0),
        fails("E1", retry_after_s=2.0),
    )
    story.when(later(5.0)).then(
        like(f.AttemptStarted), like(f.AttemptStarted), like(Execute, step="E0"), like(Execute, step="E1")
    )


def test_the_waits_of_a_policy_grow_to_a_limit() -> None:
    policy = RetryPolicy(initial_s=1.0, factor=2.0, max_s=5.0)
    assert [policy.wait_s(tries) for tries in (1, 2, 3, 4, 10_000)] == [1.0, 2.0, 4.0, 5.0, 5.0]


def test_a_request_by_the_tool_ends_its_step_without_another_attempt() -> None:
    story = given(*planned("reserve")).when(asks_replan("E0", no_effect=True))
    assert story.new[0] == like(f.StepFailed, failure=failure("replan", "elsewhere"))
