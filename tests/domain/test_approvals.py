"""Approvals: what they are bound to, who gives them, when they are used up and void."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.errors import MessageRefused
from midcourse.domain.evolve import fold
from midcourse.domain.ids import digest
from midcourse.domain.orders import CancelPlanning, Execute, MakePlan
from midcourse.domain.summary import Attention, attention, is_dormant, status
from midcourse.domain.view import view

from .consent import ALICE, BOB, approves, asks_for, denies, subject, under
from .kit import CATALOG, Story, failure, given, has, like, step
from .tellings import (
    asks_replan,
    cancel,
    caught_up,
    fails,
    is_lost,
    later,
    planned,
    proposes,
    replan,
    settles,
    signal,
    start,
    succeeds,
    taken_up,
)

SHIP = asks_for(tool="ship")
OPEN = under(approvals=SHIP.authority.approvals, approvers=("*",), four_eyes=False)


def interactive(*steps: str, **fields: str) -> Story:
    """An interactive run whose planner has answered."""
    return given(start(mode="interactive", **fields), proposes(*steps))


# -- interactive mode


def test_interactive_mode_asks_for_the_plans_of_a_planner() -> None:
    story = given(start(mode="interactive"))
    epoch = story.run.epoch
    story.when(proposes("look"))
    proposed = story.new[0]
    assert isinstance(proposed, f.PlanProposed)
    story.then(
        proposed,
        f.ApprovalRequested(
            f"plan.{epoch}.{proposed.digest}",
            proposed.digest,
            has("interactive mode asks"),
            "",
            0,
            epoch,
            approvers=("token:*",),
        ),
    )
    assert status(story.run) == "attention"
    assert is_dormant(story.run)
    story.when(approves()).then(
        f.ApprovalGiven(f"plan.{epoch}.{proposed.digest}", ALICE),
        like(f.PlanAccepted, revision=1, digest=proposed.digest),
        like(f.StepStarted),
        like(Execute),
    )


def test_interactive_mode_asks_for_irreversible_steps_that_a_planner_chose() -> None:
    story = interactive("look", "ship").when(approves()).when(succeeds("E0"))
    assert story.new[1:] == [like(f.ApprovalRequested, step="E1", tool="user__ship")]


def test_interactive_mode_does_not_ask_a_person_about_their_own_plan() -> None:
    story = given(start("ship", mode="interactive"))
    assert story.orders == [like(Execute, tool="user__ship")]


def test_autonomous_mode_asks_for_neither() -> None:
    story = given(*planned("ship"))
    assert story.orders == [like(Execute, tool="user__ship")]


def test_a_plan_that_is_approved_by_another_process_is_accepted_by_the_owner() -> None:
    story = interactive("look")
    story.when(f.ApprovalGiven(subject(story), ALICE)).when(caught_up()).then(
        like(f.PlanAccepted), like(f.StepStarted), like(CancelPlanning), like(Execute)
    )


def test_a_plan_that_waits_is_not_asked_for_again_after_a_restart() -> None:
    story = interactive("look").when(taken_up("p"))
    assert story.orders == []
    assert [fact for fact in story.new if isinstance(fact, f.PlanRequested)] == []


def test_a_plan_that_is_denied_goes_back_to_the_planner_with_the_reason() -> None:
    story = interactive("look")
    story.when(denies(reason="too risky")).then(
        like(f.ApprovalDenied, by=ALICE, reason="too risky"),
        like(f.ProposalRejected, code="denied", problems=("the plan was denied by token:alice: too risky",)),
        like(f.PlanRequested),
        like(MakePlan),
    )
    assert story.orders[0].context.refusals == ("the plan was denied by token:alice: too risky",)  # type: ignore[attr-defined]
    assert story.run.refused == 1


def test_news_make_a_plan_that_waits_for_approval_stale() -> None:
    story = interactive("look")
    old = subject(story)
    story.when(signal()).then(
        like(f.SignalReceived),
        like(f.ApprovalVoided, subject=old),
        like(f.ProposalRejected, code="stale"),
        like(f.PlanRequested),
        like(MakePlan),
    )
    with pytest.raises(MessageRefused, match="was void: planned from epoch"):
        story.when(approves(named=old))


def test_a_plan_is_bound_to_its_digest_and_epoch() -> None:
    story = interactive("look")
    first = subject(story)
    story.when(signal()).when(proposes("look"))
    assert subject(story) != first
    with pytest.raises(MessageRefused, match="void"):
        story.when(approves(named=first))


def test_a_persons_plan_takes_the_place_of_one_that_waits_for_approval() -> None:
    story = interactive("look")
    story.when(proposes("notify", by="human")).then(
        like(f.PlanProposed, author="human"),
        like(f.ApprovalVoided, why="another plan was accepted"),
        like(f.ProposalRejected, code="replaced"),
        like(f.PlanAccepted, author="human"),
        like(f.StepStarted, tool="user__notify"),
        like(Execute),
    )


# -- steps


def test_a_step_that_waits_for_approval_holds_up_no_other() -> None:
    plan = [step("ship", needs=[]), step("look", needs=[])]
    story = given(start(*plan), tools=SHIP)
    assert story.new[-2:] == [like(f.ApprovalRequested, step="E0"), like(f.StepStarted, step="E1")]
    assert status(story.run) == "running"
    story.when(succeeds("E1")).then(like(f.StepCompleted))
    assert status(story.run) == "attention"
    assert [each.state for each in view(story.run).steps] == ["approval", "done"]
    story.when(approves("E0")).then(like(f.ApprovalGiven), like(f.StepStarted, step="E0"), like(Execute))
    story.when(succeeds("E0")).then(like(f.StepCompleted), like(f.RunCompleted))


def test_an_approval_is_used_when_the_operation_first_starts_and_covers_its_retries() -> None:
    notify = asks_for(tool="notify")
    story = given(start("notify"), approves("E0"), tools=notify)
    assert story.run.approvals == {}
    story.when(fails("E0", retry_after_s=1.0)).when(later(1.0)).then(
        like(f.AttemptStarted, attempt=2), like(Execute, attempt=2)
    )


def test_an_attempt_after_an_outcome_was_settled_as_not_happened_is_a_retry() -> None:
    story = given(start("ship"), approves("E0"), is_lost("E0"), tools=SHIP)
    story.when(settles("E0", happened=False)).then(
        like(f.OutcomeSettled), like(f.AttemptStarted, attempt=2), like(Execute)
    )


def test_a_step_started_anew_by_a_later_revision_is_asked_for_again() -> None:
    story = given(*planned("ship"), approves("E0"), fails("E0"), tools=SHIP).when(proposes("ship"))
    assert story.new[-1] == like(f.ApprovalRequested, step="E1", revision=2)


def test_a_step_whose_approved_effect_had_committed_is_not_asked_and_not_repeated() -> None:
    story = given(*planned("ship", "look"), approves("E0"), succeeds("E0"), fails("E1"), tools=SHIP)
    story.when(proposes("ship")).then(
        like(f.PlanProposed), like(f.PlanAccepted), like(f.StepSatisfied, step="E2"), like(f.RunCompleted)
    )


def test_arguments_that_changed_after_the_approval_void_it_and_it_is_asked_for_again() -> None:
    plan = [step("ship", input={"to": "{{board.port}}"}, needs=[])]
    story = given(*planned("look"), asks_replan("E0", port="Oslo"), proposes(*plan), tools=SHIP)
    old = subject(story, "E1")
    assert old == f"E1.2.{digest({'to': 'Oslo'})}"
    story.when(f.BoardUpdated({"port": "Bergen"})).when(approves("E1")).then(
        like(f.ApprovalGiven, subject=old),
        like(f.ApprovalVoided, subject=old, why=has("with other arguments")),
        like(f.ApprovalRequested, subject=f"E1.2.{digest({'to': 'Bergen'})}", input={"to": "Bergen"}),
    )


def test_an_approval_for_other_arguments_is_void_even_where_no_rule_asks_any_more() -> None:
    plan = [step("ship", input={"to": "{{board.port}}"}, needs=[])]
    story = given(*planned("look"), asks_replan("E0", port="Oslo"), proposes(*plan), tools=SHIP)
    story.when(f.BoardUpdated({"port": "Bergen"})).when(approves("E1"), tools=CATALOG).then(
        like(f.ApprovalGiven),
        like(f.ApprovalVoided),
        like(f.StepStarted, input={"to": "Bergen"}),
        like(Execute),
    )


@pytest.mark.parametrize("is_given", [False, True])
def test_acceptance_rebinds_approvals_of_kept_unchanged_steps(is_given: bool) -> None:
    story = given(*planned(step("ship", "S", needs=[]), step("look", "L", needs=[])), tools=SHIP)
    old = subject(story, "S")
    story.when(asks_replan("L", no_effect=True))
    if is_given:
        story.when(approves("S")).then(like(f.ApprovalGiven))
    kept = step("ship", "S", needs=[], reasoning="in other words")
    story.when(proposes(kept, step("notify", "N", needs=[])))
    assert story.new[1:3] == [like(f.PlanAccepted, revision=2), f.ApprovalRebound(old, 2)]
    if not is_given:
        assert [fact for fact in story.new if isinstance(fact, f.StepStarted)] == [
            like(f.StepStarted, step="N")
        ]
        story.when(approves("S"))
    assert like(f.StepStarted, step="S") in story.new
    assert story.run.approvals == {}


@pytest.mark.parametrize(
    "tail",
    [
        [step("ship", "S", input={"to": "Oslo"}, needs=[])],
        [step("ship", "S", when_unapproved="skip", needs=[])],
        [step("notify", "N", needs=[])],
        [step("look", "M", needs=[]), step("ship", "S", needs=["M"])],
    ],
    ids=["other arguments", "other terms", "left out", "its turn comes later"],
)
def test_any_other_change_voids_an_approval(tail: list[f.Fact]) -> None:
    story = given(*planned(step("ship", "S", needs=[]), step("look", "L", needs=[])), tools=SHIP)
    old = subject(story, "S")
    story.when(asks_replan("L", no_effect=True)).when(approves("S")).when(proposes(*tail))  # type: ignore[arg-type]
    assert story.new[1] == like(f.ApprovalVoided, subject=old, why=has("revision 2 does not keep step 'S'"))
    assert like(f.StepStarted, step="S") not in story.new


def test_an_approval_given_while_a_plan_is_owed_starts_nothing_of_the_old_plan() -> None:
    story = given(*planned(step("ship", "S", needs=[]), step("look", "L", needs=[])), tools=SHIP)
    story.when(asks_replan("L", no_effect=True)).when(approves("S")).then(like(f.ApprovalGiven))


@pytest.mark.parametrize("is_given", [False, True])
def test_a_run_that_is_cancelled_voids_its_approvals(is_given: bool) -> None:
    story = given(*planned(step("ship", "S", needs=[]), step("look", "L", needs=[])), tools=SHIP)
    old = subject(story, "S")
    story.when(asks_replan("L", no_effect=True))
    if is_given:
        story.when(approves("S"))
    story.when(cancel()).then(
        like(f.CancelRequested),
        like(f.UnwindingBegan),
        like(f.ApprovalVoided, subject=old, why="step 'S' is not to run any more"),
        like(f.RunCancelled),
        like(CancelPlanning),
    )


# -- denial


def test_a_denial_fails_a_step_and_a_planner_is_asked_with_the_reason() -> None:
    story = given(*planned("ship"), tools=SHIP)
    story.when(denies("E0", "not before noon")).then(
        like(f.ApprovalDenied, reason="not before noon"),
        like(
            f.StepFailed, step="E0", operation="", failure=failure("denied", "token:alice: not before noon")
        ),
        like(f.ReplanRequested, cause="failure", reason=has("not before noon"), step="E0"),
        like(f.PlanRequested),
        like(MakePlan),
    )


def test_a_denial_fails_a_plan_by_a_person() -> None:
    given(start("ship"), tools=SHIP).when(denies("E0")).then(
        like(f.ApprovalDenied),
        like(f.StepFailed),
        like(f.UnwindingBegan, status="failed"),
        like(f.RunFailed, failure=failure("denied", "too dear")),
    )


def test_denials_move_the_epoch_and_approvals_do_not() -> None:
    moving: dict[type[f.Fact], bool] = {
        f.ApprovalRequested: False,
        f.ApprovalGiven: False,
        f.ApprovalRebound: False,
        f.ApprovalVoided: False,
        f.ApprovalDenied: True,
        f.StepSkipped: True,
    }
    assert moving == {kind: kind.moves_epoch for kind in moving}


def test_a_step_that_is_skipped_ends_without_effect_and_the_next_begins() -> None:
    story = given(start(step("ship", when_unapproved="skip"), "look"), tools=SHIP)
    story.when(denies("E0")).then(
        like(f.ApprovalDenied),
        f.StepSkipped("E0", "denied by token:alice: too dear"),
        like(f.StepStarted, step="E1"),
        like(Execute),
    )
    assert story.run.ledger == {}
    assert [each.state for each in view(story.run).steps] == ["skipped", "running"]


def test_a_step_that_refers_to_a_skipped_one_fails_and_says_so() -> None:
    plan = [step("ship", when_unapproved="skip"), step("look", input={"of": "{{E0.id}}"})]
    story = given(start(*plan), tools=SHIP).when(denies("E0"))
    assert story.new[2] == like(
        f.StepFailed,
        step="E1",
        failure=failure("template", "step 'E0' which has no result", "it was denied by token:alice"),
    )


def test_a_later_plan_that_refers_to_a_skipped_step_is_invalid_and_says_why() -> None:
    story = given(*planned(step("ship", when_unapproved="skip"), "look"), denies("E0"), tools=SHIP)
    story.when(fails("E1")).when(proposes(step("look", input={"of": "{{E0.id}}"})))
    assert story.new[1] == like(
        f.ProposalRejected, code="invalid", problems=(has("'E0', which has no result: it was denied"),)
    )


def test_a_step_with_a_default_ends_without_effect_and_with_that_result() -> None:
    plan = [
        step("ship", when_unapproved="default", default={"id": "none"}),
        step("look", input={"of": "{{E0.id}}"}),
    ]
    story = given(start(*plan), tools=SHIP)
    story.when(denies("E0")).then(
        like(f.ApprovalDenied),
        f.StepSkipped("E0", "denied by token:alice: too dear", True, {"id": "none"}),
        like(f.StepStarted, step="E1", input={"of": "none"}),
        like(Execute),
    )


def test_nothing_is_waved_through() -> None:
    for says in ("fail", "skip", "default"):
        story = given(start(step("ship", when_unapproved=says)), denies("E0"), tools=SHIP)
        assert story.run.ledger == {}
        assert [fact for fact in story.facts if isinstance(fact, f.StepStarted)] == []


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"default": 1}, "default is what a step with when_unapproved: default returns"),
        ({"default": 1, "when_unapproved": "skip"}, "default is what"),
    ],
)
def test_a_default_that_would_never_be_used_is_a_problem(fields: dict[str, Any], problem: str) -> None:
    story = given(start()).when(proposes(step("look", **fields)))
    assert story.new[1] == like(f.ProposalRejected, code="invalid", problems=(has(problem),))


# -- who may approve


def test_only_actors_authenticated_by_a_token_approve_unless_configured() -> None:
    story = given(start("ship"), tools=SHIP)
    for nobody in ("os:alice", "host:alice", "host", "alice", "engine"):
        with pytest.raises(MessageRefused, match=f"{nobody} may not answer .* those who may: token:\\*"):
            story.when(approves("E0", by=nobody))
    story.when(approves("E0", by=ALICE))
    assert story.new[0] == like(f.ApprovalGiven, by=ALICE)


def test_configured_approvers_are_globs_over_actors() -> None:
    tools = under(approvals=SHIP.authority.approvals, approvers=("os:*", "token:boss"))
    story = given(start("ship"), tools=tools)
    with pytest.raises(MessageRefused, match="those who may: os:\\*, token:boss"):
        story.when(approves("E0", by=ALICE))
    assert story.when(approves("E0", by="os:carol")).new[0] == like(f.ApprovalGiven, by="os:carol")


@pytest.mark.parametrize("starter", [ALICE, "os:alice"])
def test_under_four_eyes_the_one_who_started_the_run_may_deny_and_not_approve(starter: str) -> None:
    story = given(start("ship"), tools=SHIP)
    story.run.started_by = starter
    with pytest.raises(MessageRefused, match=f"was started by {starter}: under four eyes somebody else"):
        story.when(approves("E0", by=ALICE))
    assert story.when(denies("E0", by=ALICE)).new[0] == like(f.ApprovalDenied, by=ALICE)


def test_who_started_a_run_is_recorded() -> None:
    message = start("look", actor=BOB)
    story = given(message, tools=SHIP)
    assert story.facts[0] == like(f.RunStarted, by=BOB)
    assert story.run.started_by == BOB


def test_without_four_eyes_one_person_is_enough() -> None:
    story = given(start("ship", actor=ALICE), tools=OPEN)
    assert story.when(approves("E0", by=ALICE)).new[0] == like(f.ApprovalGiven, by=ALICE)


def test_what_is_asked_says_who_may_answer_so_that_no_rules_are_needed_to_check_it() -> None:
    story = given(start("ship"), tools=SHIP)
    with pytest.raises(MessageRefused, match="may not answer"):
        story.when(approves("E0", by="host:eve"), tools=CATALOG)


# -- once


def test_the_second_of_two_people_is_told_who_was_first() -> None:
    story = given(start("ship"), tools=SHIP)
    name = subject(story, "E0")
    story.when(approves("E0", by=ALICE))
    with pytest.raises(MessageRefused, match="was approved by token:alice"):
        story.when(approves(named=name, by=BOB))
    with pytest.raises(MessageRefused, match="was approved by token:alice"):
        story.when(lambda story: m.DenySubject(at=story.at, actor=BOB, subject=name))


def test_an_approval_that_is_given_and_not_used_cannot_be_given_or_denied_by_another() -> None:
    story = given(*planned(step("ship", "S", needs=[]), step("look", "L", needs=[])), tools=SHIP)
    story.when(asks_replan("L", no_effect=True)).when(approves("S", by=ALICE))
    story.when(approves("S", by=ALICE)).then_nothing()
    with pytest.raises(MessageRefused, match="was approved by token:alice already"):
        story.when(approves("S", by=BOB))
    with pytest.raises(MessageRefused, match="was approved by token:alice already"):
        story.when(denies("S", by=BOB))


def test_something_nobody_asked_for_cannot_be_approved() -> None:
    story = given(start("ship"), tools=SHIP)
    with pytest.raises(MessageRefused, match=r"'E9' was never asked for \(waiting: E0.1."):
        story.when(approves(named="E9"))


# -- at a glance


def test_approvals_are_on_the_attention_list_with_a_remedy() -> None:
    story = given(start("ship", actor=BOB), tools=SHIP)
    assert attention(story.run) == [
        Attention(
            "approval",
            subject(story, "E0"),
            "step E0 (user__ship) waits for approval: a rule asks for it (tool 'ship')",
            "approve it, or deny it with a reason "
            "(may be answered by token:*, but not token:bob, who started it)",
        )
    ]
    assert view(story.run).approvals[0].tool == "user__ship"


def test_approvals_survive_a_replay() -> None:
    story = given(*planned(step("ship", "S", needs=[]), step("look", "L", needs=[])), tools=SHIP)
    story.when(asks_replan("L", no_effect=True)).when(approves("S"))
    again = fold("run", story.facts)
    assert again.approvals == story.run.approvals
    assert again.verdicts == story.run.verdicts


def test_a_plan_asked_for_by_a_person_voids_the_one_that_waits() -> None:
    story = given(*planned("ship"), tools=SHIP)
    old = subject(story, "E0")
    story.when(replan("look again")).when(proposes("notify"))
    assert like(f.ApprovalVoided, subject=old) in story.new
