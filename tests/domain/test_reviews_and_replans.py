"""Reviews that meet another plan, an exit, an approval or a failing rule: none of them lets a step pass."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.authority import ApprovalRule, Authority, ReviewRule
from midcourse.domain.errors import MessageRefused, PlanInvalid
from midcourse.domain.evolve import fold
from midcourse.domain.orders import Consult, Execute, MakePlan
from midcourse.domain.receipt import Receipt
from midcourse.domain.summary import attention, needs_attention
from midcourse.domain.tools import Catalog, ToolSpec

from .consent import approves
from .kit import TOOLS, Story, given, has, like, step
from .tellings import (
    asks_replan,
    fails,
    finds,
    is_lost,
    planned,
    proposes,
    replan,
    reviews,
    start,
    succeeds,
    taken_up,
)

QUALITY = frozenset(("quality",))
REVIEWED = Catalog(TOOLS.values(), reviewers=QUALITY)


def side_by_side(tool: str = "look") -> Story:
    """Two steps in flight at once, the first of which is reviewed."""
    steps = (step(tool, "A", needs=(), review="quality"), step("ship", "C", needs=()))
    return given(*planned(*steps), tools=REVIEWED)


def in_order(*tools: str, by: str = "quality", catalog: Catalog = REVIEWED) -> Story:
    """Steps one after the other, the first of which is done and reviewed."""
    first, *rest = tools
    steps = [step(first, "A", review=by), *(step(tool, f"B{n}") for n, tool in enumerate(rest))]
    return given(*planned(*steps), tools=catalog).when(succeeds("A", "first"))


# -- another plan is asked for


def test_a_plan_that_is_owed_waits_for_the_reviews_that_are_open() -> None:
    story = side_by_side().when(succeeds("A")).when(fails("C"))
    story.then(like(f.StepFailed, step="C"), like(f.ReplanRequested, cause="failure"))
    story.when(finds("ok"))
    assert story.new[1:] == [like(f.StepReviewed, step="A", verdict="ok"), like(f.PlanRequested)]
    assert story.orders == [like(MakePlan)]


def test_a_step_that_ends_while_its_plan_is_left_is_reviewed_all_the_same() -> None:
    story = side_by_side().when(fails("C")).when(succeeds("A"))
    story.then(like(f.StepCompleted, step="A"), like(f.ConsultationRequested, subject="A"), like(Consult))


def test_a_tool_that_commits_and_asks_for_a_plan_is_reviewed_before_the_plan_is_made() -> None:
    story = given(*planned(step("ship", "A", review="quality"), step("look", "B")), tools=REVIEWED)
    story.when(asks_replan("A", receipt=Receipt("sent")))
    story.then(like(f.StepCompleted), like(f.ReplanRequested), like(f.ConsultationRequested), like(Consult))
    assert story.when(finds("ok")).orders == [like(MakePlan)]


@pytest.mark.parametrize("tool", ["look", "reserve", "ship"])
@pytest.mark.parametrize("verdict", ["step", "plan"])
def test_under_a_plan_that_is_left_nothing_is_done_again_and_the_next_planner_is_told(
    tool: str, verdict: str
) -> None:
    story = side_by_side(tool).when(succeeds("A")).when(fails("C")).when(finds(verdict, "too old"))
    assert story.new[1:] == [
        like(f.StepReviewed, step="A", verdict="plan"),
        like(f.ReplanJoined, cause="review", reason="too old", step="A"),
        like(f.PlanRequested),
    ]
    assert "too old" in [each.reason for each in story.orders[0].context.askers]  # type: ignore[attr-defined]


def test_a_reviewer_who_fails_holds_up_the_plan_until_a_person_chooses() -> None:
    story = side_by_side().when(succeeds("A")).when(fails("C")).when(finds("failed", "no light"))
    assert [item.subject for item in attention(story.run)] == ["A"]
    assert story.orders == []
    assert story.when(reviews("A", "continue")).orders == [like(MakePlan)]


def test_a_planner_that_looks_again_after_every_step_does_not_while_a_step_is_reviewed() -> None:
    catalog = Catalog(TOOLS.values(), reviewers=QUALITY, observers=frozenset("p"))
    story = in_order("look", "ship", catalog=catalog)
    story.then(like(f.StepCompleted), like(f.ConsultationRequested), like(Consult))
    assert story.when(finds("ok")).orders == [like(MakePlan)]


def test_a_person_who_replaces_the_plan_does_not_keep_a_step_that_is_being_taken_back() -> None:
    story = in_order("reserve", "ship").when(finds("step", "the wrong shelf"))
    story.when(proposes(step("look", "N"), by="human"))
    assert story.new[1:3] == [
        like(f.StepReviewed, step="A", verdict="step"),
        like(f.PlanAccepted, kept=(), superseded=("A", "B0")),
    ]


def test_a_review_that_is_left_is_not_asked_for_by_the_next_process() -> None:
    story = in_order("reserve", "ship")

    def undo(story: Story) -> m.Message:
        return m.RequestCompensation(
            at=story.at, actor="os:bob", operation=story.run.reviews["A"].operation, reason="not wanted"
        )

    story.when(undo).when(succeeds("undo A")).when(proposes(step("look", "N"), by="human"))
    assert story.run.consulting == {}
    assert [type(order) for order in story.when(taken_up("p")).orders].count(Consult) == 0


def test_what_is_said_too_late_is_kept_and_changes_nothing() -> None:
    story = in_order("ship", "look")
    told = story.message(finds("plan", "no good"))
    story.when(proposes(step("look", "N"), by="human")).when(told)
    story.then(like(f.OpinionGiven, verdict="plan", reason="no good", by=""))
    story.when(told).then_nothing()


# -- the same operation again, under a later plan


def test_what_a_person_let_count_is_not_reviewed_again() -> None:
    story = in_order("reserve", "ship").when(finds("failed", "no light")).when(reviews("A", "continue"))
    story.when(fails("B0")).when(proposes(step("reserve", "N", review="quality"), step("look", "M")))
    assert story.new[2:] == [like(f.StepSatisfied, step="N"), like(f.StepStarted, step="M")]


def test_an_operation_that_was_not_found_good_is_asked_about_anew_under_the_next_plan() -> None:
    story = in_order("ship", "look").when(finds("plan", "the label is missing"))
    story.when(proposes(step("notify", "F"), step("ship", "N", review="quality"))).when(succeeds("F"))
    story.then(
        like(f.StepCompleted, step="F"),
        like(f.StepSatisfied, step="N"),
        like(f.ConsultationRequested, subject="N", round=2),
        like(Consult),
    )
    assert like(f.StepReviewed, step="N", verdict="ok") in story.when(finds("ok")).new


# -- who could not be asked, and people who answer twice


def test_a_reset_asks_a_reviewer_again_who_could_not_be_asked() -> None:
    story = in_order("ship", "look").when(finds("failed", "no light")).when(reviews("A", "reset", "lit"))
    story.then(like(f.ReviewReset), like(f.ConsultationRequested, subject="A", round=1), like(Consult))
    assert like(f.StepReviewed, step="A", verdict="ok") in story.when(finds("ok")).new
    assert fold("run", story.facts).opinions == story.run.opinions


def test_a_person_does_not_take_back_what_is_acted_upon() -> None:
    story = in_order("reserve", "look", by="person").when(reviews("A", "step", "the wrong shelf"))
    story.when(reviews("A", "step")).then_nothing()
    with pytest.raises(MessageRefused, match="os:alice said 'step' of step 'A', and it is acted upon"):
        story.when(reviews("A", "ok"))


# -- tools and rules that ask for a plan


def test_a_tool_that_asks_after_every_call_asks_when_its_step_is_reviewed_too() -> None:
    scan = ToolSpec("user__scan", effect="read", replans="every scan is news")
    story = in_order("scan", "ship", catalog=Catalog([*TOOLS.values(), scan], reviewers=QUALITY))
    assert like(f.ReplanRequested, cause="tool", reason="every scan is news") in story.new
    assert story.when(finds("ok")).orders == [like(MakePlan)]


def test_a_rule_that_raises_over_a_reviewed_step_is_not_forgotten() -> None:
    def rule_raises(story: Story) -> m.Message:
        failure = f.Failure("replan_rule", "the rule raised")
        token: dict[str, Any] = {"at": story.at, "operation": story.key("A"), "attempt": 1}
        return m.ReportReplan(**token, reason="", receipt=Receipt(1), failure=failure)

    story = given(*planned(step("look", "A", review="quality"), step("ship", "B")), tools=REVIEWED)
    assert like(f.ReplanRequested, cause="failure") in story.when(rule_raises).new


def test_an_effect_that_a_step_is_taking_back_is_not_taken_back_beside_it() -> None:
    story = given(*planned("reserve", "ship"), tools=REVIEWED).when(succeeds("E0")).when(fails("E1"))
    again = step("reserve", "N", needs=(), review="quality")
    undoing = step("release", "U", needs=(), undoes=story.key("E0"), input={"n": 1})
    story.when(proposes(again, undoing))
    assert like(f.StepStarted, step="U") in story.new
    story.when(finds("step", "the wrong shelf")).then(like(f.OpinionGiven))
    story.when(succeeds("U"))
    assert story.new == [
        like(f.StepCompleted, step="U"),
        like(f.StepReviewed, step="N", verdict="step"),
        like(f.StepStarted, step="N"),
    ]


# -- exits, control steps, approvals


def exits(status: str = "success") -> Story:
    steps = (
        step("look", "A", needs=(), review="quality"),
        step("look", "C", needs=()),
        step("exit", "X", needs=("C",), input={"status": status, "message": "done"}),
    )
    return given(start(*steps), tools=REVIEWED).when(succeeds("A")).when(succeeds("C"))


def test_an_exit_waits_for_the_reviews_that_are_open() -> None:
    story = exits()
    assert like(f.RunCompleted) not in story.new
    story.when(finds("ok"))
    assert story.new[1:] == [like(f.StepReviewed, step="A"), like(f.RunCompleted)]


@pytest.mark.parametrize("verdict", ["step", "plan"])
def test_a_review_that_is_not_content_when_the_plan_has_ended_is_for_a_person(verdict: str) -> None:
    story = exits().when(finds(verdict, "too old"))
    assert story.new[1:] == [like(f.ReviewEscalated, reason=has("ended by its exit", "too old"))]
    assert like(f.RunCompleted) in story.when(reviews("A", "continue")).new


def test_an_exit_with_an_error_waits_for_no_review() -> None:
    assert like(f.UnwindingBegan) in exits("error").new


@pytest.mark.parametrize(
    ("tool", "input"), [("wait", {"signal": "x"}), ("exit", {"status": "success", "message": "done"})]
)
def test_a_step_that_leaves_nothing_behind_cannot_be_reviewed(tool: str, input: dict[str, Any]) -> None:
    with pytest.raises(PlanInvalid, match=f"'{tool}' is carried out by the run itself and takes no 'review'"):
        given(start(step(tool, "A", input=input, review="quality")), tools=REVIEWED)


def test_a_step_that_is_done_again_is_approved_again() -> None:
    rules = Authority(approvals=(ApprovalRule(tool="look"),))
    story = given(
        *planned(step("look", "A", review="quality"), step("ship", "B")),
        tools=Catalog(TOOLS.values(), rules, reviewers=QUALITY),
    )
    story.when(approves("A")).when(succeeds("A")).when(finds("step", "again"))
    assert story.new[1:] == [like(f.StepReviewed, verdict="step"), like(f.ApprovalRequested, step="A")]
    story.when(approves("A")).then(like(f.ApprovalGiven), like(f.StepStarted, step="A"), like(Execute))


def test_a_step_that_failed_and_is_planned_again_runs_once_it_is_approved() -> None:
    story = given(
        *planned(step("look", "A"), step("ship", "B")),
        tools=Catalog(TOOLS.values(), Authority(approvals=(ApprovalRule(tool="look"),))),
    )
    story.when(approves("A")).when(fails("A")).when(proposes(step("look", "A"), step("ship", "B")))
    story.when(approves("A")).then(like(f.ApprovalGiven), like(f.StepStarted, step="A"), like(Execute))


# -- rules of an engine


def ruled(*rules: ReviewRule, tool: str = "look", by: str = "") -> Story:
    catalog = Catalog(TOOLS.values(), Authority(reviews=rules), reviewers=QUALITY | {"other"})
    return given(*planned(step(tool, "A", review=by), step("ship", "B")), tools=catalog)


def test_a_rule_has_the_steps_of_a_tool_reviewed_whatever_their_plan_says() -> None:
    for by in ("", "other"):
        story = ruled(ReviewRule(tool="look", by="quality"), by=by)
        assert story.new[-1] == like(f.StepStarted, review="quality", rounds=3)
        story.when(succeeds("A"))
        assert story.new[1:] == [like(f.ConsultationRequested, who="quality", subject="A")]
    assert ruled(ReviewRule(tool="pay*", by="quality")).when(succeeds("A")).orders == [like(Execute)]


def test_a_rule_holds_for_the_calls_in_bodies_too() -> None:
    catalog = Catalog(TOOLS.values(), Authority(reviews=(ReviewRule(by="quality"),)), reviewers=QUALITY)
    gate = {"value": 1, "op": "eq", "to": 1}
    inside = {"if": gate, "then": {"tool_name": "look", "input": {}}}
    story = given(start(step("decide", "D", input=inside)), tools=catalog).when(succeeds("D/then"))
    assert story.new[1:] == [like(f.ConsultationRequested, subject="D/then")]
    assert like(f.RunCompleted) in story.when(finds("ok")).new


def test_a_rule_says_after_how_many_rounds_a_person_chooses() -> None:
    story = ruled(ReviewRule(by="quality", max_rounds=1)).when(succeeds("A")).when(finds("step", "no"))
    assert story.new[1:] == [like(f.ReviewEscalated, reason=has("again once, last: no"))]
    story.when(reviews("A", "reset")).when(succeeds("A")).when(finds("step", "no"))
    assert story.new[1:] == [like(f.ReviewEscalated)]


def test_a_rule_reviews_what_is_satisfied_from_the_ledger_and_was_never_reviewed() -> None:
    ruled_ = Catalog(
        TOOLS.values(), Authority(reviews=(ReviewRule(tool="reserve", by="quality"),)), reviewers=QUALITY
    )
    story = given(*planned("reserve", "ship"), tools=REVIEWED).when(succeeds("E0")).when(fails("E1"))
    story.when(proposes(step("reserve", "N"), step("look", "M")), tools=ruled_)
    assert story.new[2:] == [
        like(f.StepSatisfied, step="N", review="quality"),
        like(f.ConsultationRequested, subject="N"),
    ]


# -- reviews of plans

TWO = Catalog(TOOLS.values(), reviewers=frozenset("ab"), plan_reviewers=("a", "b"))


def test_a_plan_is_reviewed_by_those_it_was_to_be_reviewed_by_whatever_engine_goes_on() -> None:
    story = given(start(), tools=TWO).when(proposes("look")).when(taken_up("p"), tools=REVIEWED)
    assert story.run.revision == 0
    story.when(finds("ok"))
    assert story.new[1:] == [like(f.ConsultationRequested, who="b")]
    assert like(f.PlanAccepted) in story.when(finds("ok")).new


def test_a_reviewer_of_plans_who_cannot_be_asked_is_a_matter_for_a_person() -> None:
    story = given(start(), tools=TWO).when(proposes("look")).when(finds("failed", "no light"))
    story.when(finds("ok"))
    assert story.new[1:] == [
        like(f.ProposalRejected, code="review"),
        like(f.RunStuck, reason="the plan could not be reviewed by a: no light"),
    ]
    assert needs_attention(story.run)
    assert story.when(replan("the light is mended")).orders == [like(MakePlan)]


def test_the_same_plan_refused_three_times_is_stuck_and_its_reviewer_is_asked_once() -> None:
    story = given(start(), tools=Catalog(TOOLS.values(), reviewers=frozenset("a"), plan_reviewers=("a",)))
    story.when(proposes("look")).when(finds("refuse", "too dear"))
    for _ in range(2):
        story.when(proposes("look"))
        assert story.run.consulting == {}
    assert story.new[-1] == like(f.RunStuck, reason=has("refused 3 times in a row"))


def test_a_receipt_that_comes_late_is_reviewed_as_well() -> None:
    story = given(*planned(step("ship", "A", review="quality"), step("look", "B")), tools=REVIEWED)
    story.when(is_lost("A")).when(succeeds("A"))
    story.then(like(f.ReceiptArrivedLate), like(f.ConsultationRequested, subject="A"), like(Consult))
