"""Undos that a plan asks for: by its list, or by steps of its own."""

from __future__ import annotations

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.orders import Execute
from midcourse.domain.receipt import Receipt
from midcourse.domain.tools import Catalog, ToolSpec

from .kit import Story, given, has, like, step
from .tellings import (
    cancel,
    fails,
    goal_reached,
    is_lost,
    no_plan,
    planned,
    probe_says,
    proposes,
    retries,
    settles,
    start,
    succeeds,
)

MUTUAL = Catalog(
    [
        ToolSpec("pack", effect="reversible", undo="unpack", idempotent=True),
        ToolSpec("unpack", effect="reversible", undo="pack", idempotent=True),
        ToolSpec("look", effect="read"),
    ]
)


MUTUAL = Catalog(
    [
        ToolSpec("pack", effect="reversible", undo="unpack", idempotent=True),
        ToolSpec("unpack", effect="reversible", undo="pack", idempotent=True),
        ToolSpec("look", effect="read"),
    ]
)


def planned_undo() -> Story:
    """The plan calls the undo tool itself."""
    story = given(*planned(step("reserve", input={"n": 1}), "look"), succeeds("E0"), fails("E1"))
    return story.when(proposes(step("release", input={"n": 1}, undoes=story.key("E0")), "ship"))


def test_a_planned_undo_has_the_key_of_an_undo_and_takes_the_effect_back() -> None:
    story = planned_undo()
    key = story.key("E0")
    assert story.new[-1] == like(f.StepStarted, operation=f"undo/{key}", takes_back=key)
    story.when(succeeds("E2"))
    entry = story.run.ledger[key]
    assert (entry.state, entry.undone_by) == ("undone", f"undo/{key}")


def test_what_a_planned_undo_took_back_is_not_undone_again_at_the_end() -> None:
    story = planned_undo().when(succeeds("E2")).when(fails("E3")).when(no_plan(give_up=True))
    story.then(like(f.NoPlanFound), like(f.UnwindingBegan), like(f.RunFailed))


def test_an_undo_is_not_undone() -> None:
    """Two tools that undo each other would do for ever what a plan took back."""
    story = given(*planned("pack", "look"), tools=MUTUAL)
    story.when(succeeds("E0")).when(fails("E1"))
    story.when(proposes(step("unpack", undoes=story.key("E0")), "look")).when(succeeds("E2"))
    story.when(fails("E3")).when(no_plan(give_up=True))
    story.then(like(f.NoPlanFound), like(f.UnwindingBegan), like(f.RunFailed))


def test_a_planned_undo_that_failed_is_issued_at_the_end_and_its_attempts_are_counted_on() -> None:
    story = planned_undo().when(fails("E2")).when(no_plan(give_up=True))
    key = story.key("E0")
    assert story.new[2:] == [
        like(f.CompensationIssued, operation=f"undo/{key}"),
        f.CompensationStarted(f"undo/{key}", 2),
    ]


def test_a_late_success_of_a_planned_undo_settles_the_one_issued_at_the_end() -> None:
    story = planned_undo().when(fails("E2")).when(no_plan(give_up=True))
    key = f"undo/{story.key('E0')}"
    story.when(m.ReportSuccess(at=story.at, operation=key, attempt=1, receipt=Receipt()))
    story.then(f.CompensationCompleted(key, 1, Receipt()), like(f.RunFailed))


def test_a_planned_undo_of_which_nobody_knows_is_not_issued_a_second_time() -> None:
    story = given(*planned(step("charge", input={"order": 1}), "look"), succeeds("E0"), fails("E1"))
    story.when(proposes(step("refund", undoes=story.key("E0")))).when(is_lost("E2"))
    story.when(probe_says("E2", None)).when(cancel())
    assert story.new == [like(f.CancelRequested), like(f.UnwindingBegan)]
    story.when(settles("E2", happened=True)).then(like(f.OutcomeSettled), like(f.RunCancelled))


def test_a_planned_undo_that_did_not_happen_is_issued_at_the_end() -> None:
    story = given(*planned(step("charge", input={"order": 1}), "look"), succeeds("E0"), fails("E1"))
    story.when(proposes(step("refund", undoes=story.key("E0")))).when(is_lost("E2")).when(cancel())
    story.when(probe_says("E2", False)).then(
        like(f.OutcomeSettled),
        like(f.CompensationIssued),
        like(f.CompensationStarted, attempt=2),
        like(Execute),
    )


def test_undoing_waits_for_a_probe_but_not_for_a_person() -> None:
    steps = (step("reserve", needs=()), step("charge", needs=("E0",)), step("ship", needs=("E0",)))
    story = given(start(*steps), succeeds("E0"), is_lost("E1"), is_lost("E2")).when(cancel())
    assert story.new == [like(f.CancelRequested), like(f.UnwindingBegan)]
    story.when(probe_says("E1", True)).then(
        like(f.OutcomeSettled),
        like(f.CompensationIssued, of=story.key("E1")),
        like(f.CompensationIssued, of=story.key("E0")),
        like(f.CompensationStarted),
        like(Execute),
    )
    story.when(succeeds("undo E1")).when(succeeds("undo E0")).then(like(f.CompensationCompleted))
    assert story.run.final is None
    story.when(settles("E2", happened=True)).then(like(f.OutcomeSettled), like(f.RunCancelled))


def test_undos_of_a_plan_go_on_when_the_run_is_cancelled() -> None:
    story = given(*planned("reserve", "charge", "look"))
    story.when(succeeds("E0")).when(succeeds("E1")).when(fails("E2")).when(proposes("ship", undo=("E0",)))
    story.when(cancel()).then(
        like(f.CancelRequested),
        like(f.UnwindingBegan),
        like(f.CompensationIssued, of=story.key("E1")),
        *story.orders,
    )
    story.when(succeeds("undo E0")).then(
        like(f.CompensationCompleted),
        like(f.CompensationStarted, operation=story.key("undo E1")),
        like(Execute),
    )


def test_a_done_effect_that_was_undone_may_be_done_again_as_a_new_operation() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"), proposes("look", undo=("E0",)))
    story.when(succeeds("undo E0")).when(fails("E2", "other")).when(proposes("reserve"))
    assert story.new[-1] == like(f.StepStarted, operation=has(".1"), attempt=1)


def test_a_goal_that_is_reached_waits_for_undos() -> None:
    story = given(*planned("charge", "look"), succeeds("E0"), fails("E1"), proposes("look", undo=("E0",)))
    story.when(fails("undo E0")).when(fails("E2", "x")).when(goal_reached()).then(like(f.GoalFound))
    story.when(retries("E0")).when(succeeds("undo E0")).then(
        like(f.CompensationCompleted), like(f.RunCompleted)
    )
