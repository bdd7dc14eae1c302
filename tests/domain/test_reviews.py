"""Reviews of steps and plans: bounded, and never a silent pass."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.errors import InvalidInputError, MessageRefused, PlanInvalid
from midcourse.domain.evolve import fold
from midcourse.domain.goal import Goal
from midcourse.domain.orders import Consult, Execute, MakePlan
from midcourse.domain.summary import attention, is_dormant, status
from midcourse.domain.tools import Catalog
from midcourse.domain.view import view

from .kit import TOOLS, Story, failure, given, has, like, step
from .tellings import (
    cancel,
    fails,
    finds,
    planned,
    proposes,
    reviews,
    signal,
    start,
    succeeds,
    taken_up,
    waives,
)

REVIEWED = Catalog(TOOLS.values(), reviewers=frozenset(("quality",)))


def reviewed(tool: str = "look", *, by: str = "quality", author: str = "planner") -> Story:
    """A run whose first step is done and is reviewed; the second waits for that."""
    steps = (step(tool, "A", review=by), step("look", "B", input={"a": "{{A}}"}))
    history = planned(*steps) if author == "planner" else [start(*steps, planner="p")]
    return given(*history, tools=REVIEWED).when(succeeds("A", "first"))


def test_a_step_is_reviewed_after_its_receipt_and_before_any_step_that_depends_on_it() -> None:
    story = reviewed()
    story.then(
        like(f.StepCompleted, step="A"),
        like(f.ConsultationRequested, kind="step", who="quality", subject="A", round=1),
        like(Consult, who="quality"),
    )
    about = story.orders[0].about  # type: ignore[attr-defined]
    assert (about.step.id, about.receipt.result, about.round) == ("A", "first", 1)
    assert [each.state for each in view(story.run).steps] == ["review", "pending"]
    story.when(finds("ok", "fine")).then(
        like(f.OpinionGiven, verdict="ok", by="quality"),
        like(f.StepReviewed, step="A", verdict="ok", reason="fine", by="quality"),
        like(f.StepStarted, step="B", input={"a": "first"}),
        like(Execute),
    )


def test_independent_steps_of_a_dag_do_not_wait_for_a_review() -> None:
    steps = (
        step("look", "A", needs=(), review="quality"),
        step("look", "B", needs=("A",)),
        step("look", "C", needs=()),
    )
    story = given(*planned(*steps), tools=REVIEWED).when(succeeds("A"))
    assert [each.state for each in view(story.run).steps] == ["review", "pending", "running"]


def test_a_review_that_says_step_about_a_read_repeats_it() -> None:
    story = reviewed().when(finds("step", "too old"))
    assert story.new[1:] == [like(f.StepReviewed, verdict="step"), like(f.StepStarted, step="A")]
    story.when(succeeds("A", "second")).then(
        like(f.StepCompleted), like(f.ConsultationRequested, round=2), like(Consult)
    )
    story.when(finds("ok"))
    assert story.orders == [like(Execute, input={"a": "second"})]


def test_a_review_that_says_step_about_a_reversible_effect_undoes_it_and_starts_it_anew() -> None:
    story = reviewed("reserve").when(finds("step", "the wrong shelf"))
    first = story.run.reviews["A"].operation
    assert story.new[1:] == [
        like(f.CompensationIssued, of=first, cause="review"), like(f.CompensationStarted),
    ]  # fmt: skip
    story.when(succeeds("undo A"))
    assert story.new[1:] == [like(f.StepReviewed, verdict="step"), like(f.StepStarted, step="A")]
    assert story.new[-1].operation != first  # type: ignore[attr-defined]
    assert story.run.ledger[first].state == "undone"


def test_a_step_whose_undo_gave_up_is_not_done_again_beside_it() -> None:
    story = reviewed("reserve").when(finds("step"))
    story.when(fails("undo A", "stuck"))
    assert like(f.CompensationParked) in story.new
    assert story.run.ready == {}
    story.when(waives("undo A"))
    assert like(f.StepReviewed, verdict="ok", reason="its undo was waived") in story.new


def test_review_says_step_about_an_irreversible_effect_and_it_becomes_a_plan_change() -> None:
    story = reviewed("ship").when(finds("step", "the wrong address"))
    story.then(
        like(f.OpinionGiven, verdict="step"),
        like(f.StepReviewed, verdict="plan"),
        like(f.ReplanRequested, cause="review", reason="the wrong address", step="A"),
        like(f.PlanRequested),
        like(MakePlan),
    )
    assert "A" in story.run.done


def test_a_review_that_says_plan_asks_for_one_under_a_planner_and_fails_a_persons_plan() -> None:
    assert like(f.ReplanRequested, cause="review") in reviewed().when(finds("plan", "no good")).new
    story = reviewed(author="human").when(finds("plan", "no good"))
    assert story.new[2] == like(f.UnwindingBegan, failure=failure("replan_refused", cause="review"))


def test_after_three_rounds_a_person_chooses_and_nothing_passes_in_silence() -> None:
    story = reviewed()
    for _ in range(2):
        story.when(finds("step", "again")).when(succeeds("A"))
    story.when(finds("step", "again"))
    assert story.new[1:] == [like(f.ReviewEscalated, reason=has("3 times", "again"))]
    assert status(story.run) == "attention"
    assert [(item.kind, item.subject) for item in attention(story.run)] == [("review", "A")]
    with pytest.raises(MessageRefused, match="you may say continue, reset, stop, not 'ok'"):
        story.when(reviews("A", "ok"))


def escalated() -> Story:
    story = reviewed()
    for _ in range(2):
        story.when(finds("step")).when(succeeds("A"))
    return story.when(finds("step"))


def test_a_person_continues_with_it() -> None:
    story = escalated().when(reviews("A", "continue", "good enough"))
    assert story.new[0] == like(f.StepReviewed, verdict="ok", reason="good enough", by="os:alice")
    assert like(f.StepStarted, step="B") in story.new


def test_a_person_resets_it_and_it_has_its_rounds_again() -> None:
    story = escalated().when(reviews("A", "reset"))
    assert story.new[:2] == [like(f.ReviewReset, by="os:alice"), like(f.StepReviewed, verdict="step")]
    for _ in range(2):
        story.when(succeeds("A")).when(finds("step"))
        assert like(f.StepStarted, step="A") in story.new


def test_a_person_stops_the_run() -> None:
    story = escalated().when(reviews("A", "stop", "hopeless"))
    assert story.new[0] == like(f.UnwindingBegan, failure=failure("review", "hopeless"))


def test_a_reviewer_who_cannot_be_asked_is_no_pass() -> None:
    for said in (finds("failed", "it raised"), finds("splendid")):
        story = reviewed().when(said)
        assert story.new[1] == like(f.ReviewEscalated, step="A", reason=has("could not be reviewed"))


def test_a_person_reviews_a_step() -> None:
    story = reviewed(by="person")
    assert story.orders == []
    assert [(item.kind, item.subject) for item in attention(story.run)] == [("review", "A")]
    assert is_dormant(story.run)
    story.when(reviews("A", "ok", "I looked"))
    assert story.new[:2] == [like(f.OpinionGiven, by="os:alice"), like(f.StepReviewed, by="os:alice")]
    with pytest.raises(MessageRefused, match=r"'A' waits for no review \(waiting: none\)"):
        story.when(reviews("A", "ok"))


def test_nobody_speaks_for_a_reviewer() -> None:
    with pytest.raises(MessageRefused, match="is being reviewed by quality"):
        reviewed().when(reviews("A", "ok"))


def test_a_review_that_is_owed_is_asked_for_by_the_next_process_and_answered_once() -> None:
    story = reviewed()
    assert not is_dormant(story.run)
    told = story.message(finds("ok"))
    story.when(taken_up("p"))
    assert story.orders == [like(Consult, who="quality")]
    story.when(told).when(told).then_nothing()
    assert fold("run", story.facts).opinions == story.run.opinions


def test_a_person_who_replaces_the_plan_keeps_the_step_that_is_being_reviewed() -> None:
    story = reviewed("ship").when(proposes(step("look", "N"), by="human"))
    story.then(
        like(f.PlanProposed),
        like(f.StepReviewed, step="A", verdict="ok"),
        like(f.PlanAccepted, kept=("A",), superseded=("B",)),
        like(f.StepStarted, step="N"),
        like(Execute),
    )
    assert story.run.consulting == {}


def test_a_cancel_does_not_wait_for_a_review() -> None:
    story = reviewed().when(cancel())
    assert story.new[-1] == like(f.RunCancelled)


def test_an_unknown_reviewer_is_refused_before_the_run_starts() -> None:
    with pytest.raises(
        PlanInvalid, match=r"'taste' is no reviewer of this engine \(there are: person, quality\)"
    ):
        given(start(step("look", review="taste")), tools=REVIEWED)


# -- plans

BY_TWO = Catalog(TOOLS.values(), reviewers=frozenset("ab"), plan_reviewers=("a", "b"))


def proposed(**fields: Any) -> Story:
    return given(start(**fields), tools=BY_TWO).when(proposes("look"))


def test_a_proposal_waits_for_all_its_reviewers() -> None:
    story = proposed()
    story.then(
        like(f.PlanProposed),
        like(f.PlanReviewRequested, reviewers=("a", "b")),
        like(f.ConsultationRequested, kind="plan", who="a"),
        like(Consult, who="a"),
    )
    story.when(finds("ok"))
    assert story.new[1:] == [like(f.ConsultationRequested, who="b")]
    story.when(finds("ok"))
    assert story.new[1:] == [like(f.PlanAccepted), like(f.StepStarted)]


def test_a_refusal_goes_back_to_the_planner_with_its_problems_and_counts() -> None:
    story = proposed().when(finds("ok")).when(finds("refuse", problems=("it is too dear",)))
    assert story.new[1] == like(f.ProposalRejected, code="review", problems=("reviewer b: it is too dear",))
    assert story.orders == [like(MakePlan)]
    assert story.orders[0].context.refusals == ("reviewer b: it is too dear",)  # type: ignore[attr-defined]
    assert story.run.refused == 1


def test_a_proposal_that_aged_while_it_was_reviewed_is_stale() -> None:
    story = proposed().when(signal())
    assert story.new[1] == like(f.ProposalRejected, code="stale")
    assert like(f.PlanRequested) in story.new


def test_the_approval_of_a_person_comes_after_the_reviews() -> None:
    story = proposed(mode="interactive").when(finds("ok")).when(finds("ok"))
    assert story.new[1] == like(f.ApprovalRequested)


def test_a_review_of_a_plan_that_is_owed_is_asked_for_by_the_next_process() -> None:
    story = proposed().when(taken_up("p"))
    assert story.orders == [like(Consult, who="a")]
    assert fold("run", story.facts).under_review == story.run.under_review


def test_a_planner_never_reviews_its_own_plan() -> None:
    with pytest.raises(InvalidInputError, match="planner 'a' reviews plans, and would review its own"):
        given(start(planner="a"), tools=BY_TWO)


def test_a_person_outranks_the_reviewers() -> None:
    story = proposed().when(proposes("ship", by="human"))
    assert like(f.PlanAccepted, author="human") in story.new
    assert story.run.under_review is None


def test_autonomous_mode_skips_no_review() -> None:
    assert proposed(mode="autonomous").run.revision == 0


def test_goals_are_shown_to_reviewers_as_copies() -> None:
    message = m.StartRun(at=1.0, goal=Goal("g", {"n": [1]}), lineage="run", planner="p")
    story = given(message, tools=BY_TWO).when(proposes("look"))
    story.orders[0].about.goal.inputs["n"].append(2)  # type: ignore[attr-defined]
    assert story.run.goal.inputs == {"n": [1]}
