"""What becomes of a proposal."""

from __future__ import annotations

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.diff import stability
from midcourse.domain.orders import Execute, MakePlan
from midcourse.domain.plan import Plan, Step
from midcourse.domain.planning import PlanningContext, StepSummary
from midcourse.domain.receipt import Receipt

from .kit import Story, failure, given, has, like, step
from .tellings import (
    asks_replan,
    fails,
    planned,
    proposes,
    replan,
    signal,
    start,
    succeeds,
)


def owed(*before: str) -> Story:
    """A run of a planner that has done some steps and owes a plan."""
    story = given(*planned(*before, "look"))
    for place in range(len(before)):
        story.take(succeeds(f"E{place}"))
    story.take(asks_replan(f"E{len(before)}"))
    return story


def test_an_accepted_proposal_becomes_the_next_revision_and_its_steps_begin() -> None:
    given(start()).when(proposes("ship", reason="the way")).then(
        like(f.PlanProposed, epoch=1, author="planner"),
        like(f.PlanAccepted, revision=1, author="planner", added=("E0",), reason="the way", stability=1),
        like(f.StepStarted, step="E0"),
        like(Execute, step="E0"),
    )


def test_a_stale_proposal_is_recorded_as_rejected_and_a_fresh_plan_is_asked_for() -> None:
    story = given(start(), signal())
    story.when(proposes("ship", epoch=1)).then(
        like(f.PlanProposed, epoch=1),
        like(f.ProposalRejected, epoch=1, code="stale", problems=(has("epoch 1", "is at 3"),)),
        f.PlanRequested(3, "p", "start"),
        like(MakePlan),
    )
    assert story.run.steps == {}


def test_an_invalid_proposal_goes_back_to_the_planner_with_its_problems() -> None:
    story = given(start()).when(proposes("shp"))
    story.then(
        like(f.PlanProposed),
        like(f.ProposalRejected, code="invalid", problems=(has("did you mean 'ship'?"),)),
        like(f.PlanRequested),
        like(MakePlan, context=like(PlanningContext, refusals=(has("did you mean 'ship'?"),))),
    )


def test_a_proposal_that_contradicts_the_ledger_is_rejected_as_a_conflict() -> None:
    story = given(
        *planned(step("charge", input={"order": 1, "amount": 5}), "look"),
        succeeds("E0"),
        asks_replan("E1"),
    )
    story.when(proposes(step("charge", input={"order": 1, "amount": 7}))).then(
        like(f.PlanProposed),
        like(f.ProposalRejected, code="conflict", problems=(has("operation conflict", "'E0'"),)),
        like(f.PlanRequested),
        like(MakePlan),
    )


def test_executed_steps_keep_their_places_and_the_rest_is_superseded() -> None:
    story = given(*planned("reserve", "look", "ship"), succeeds("E0"), asks_replan("E1"))
    story.when(proposes("notify"))
    assert story.new[1] == like(
        f.PlanAccepted, revision=2, kept=("E0",), superseded=("E1", "E2"), added=("E3",), stability=3
    )
    assert list(story.run.steps) == ["E0", "E3"]
    assert story.run.order == ["E0", "E3"]


def test_executed_steps_of_a_dag_keep_their_order_over_all_revisions() -> None:
    story = given(
        *planned(step("reserve", needs=()), step("look", needs=()), step("notify", needs=())),
        succeeds("E2"),
        asks_replan("E1"),
        succeeds("E0"),
        proposes("ship", step("look")),
        succeeds("E3"),
        asks_replan("E4"),
    )
    story.when(proposes("notify"))
    assert story.run.order == ["E0", "E2", "E3", "E5"]


def test_what_a_proposal_lists_under_undo_is_undone_before_its_steps_begin() -> None:
    story = owed("reserve", "charge")
    story.when(proposes("ship", undo=("E0", "E1"))).then(
        like(f.PlanProposed),
        like(f.PlanAccepted, undone=(story.key("E0"), story.key("E1"))),
        like(f.CompensationIssued, of=story.key("E1"), tool="user__refund", cause="plan"),
        like(f.CompensationIssued, of=story.key("E0"), tool="user__release", cause="plan"),
        like(f.CompensationStarted, operation=story.key("undo E1"), attempt=1),
        like(Execute, operation=story.key("undo E1"), tool="user__refund", step=""),
    )
    story.when(succeeds("undo E1")).when(succeeds("undo E0")).then(
        like(f.CompensationCompleted, operation=story.key("undo E0")),
        like(f.StepStarted, tool="user__ship"),
        like(Execute, tool="user__ship"),
    )


def test_leaving_an_effect_out_keeps_it() -> None:
    story = owed("reserve").when(proposes("ship"))
    assert [entry.state for entry in story.run.ledger.values()] == ["committed"]


def test_a_plan_that_only_undoes_completes_the_run_after_it() -> None:
    owed("reserve").when(proposes(undo=("E0",))).when(succeeds("undo E0")).then(
        like(f.CompensationCompleted), like(f.RunCompleted, result="ok")
    )


def test_an_answer_that_comes_again_is_nothing() -> None:
    story = given(start())
    answer = story.message(proposes("ship"))
    story.when(answer).when(answer)
    story.then(like(f.PlanProposed), like(f.ProposalRejected, code="stale"))
    assert story.run.refused == 0
    assert story.run.revision == 1


def test_an_answer_to_a_question_that_is_not_open_is_nothing() -> None:
    story = given(*planned("look"))
    assert story.run.asked is None
    story.when(proposes("ship")).then_nothing()


def test_a_late_answer_from_before_a_person_proposed_is_rejected_and_not_counted() -> None:
    story = given(start(), proposes("ship", by="human"))
    story.when(proposes("look", epoch=1)).then(
        like(f.PlanProposed, author="planner"), like(f.ProposalRejected, code="stale")
    )
    assert story.run.refused == 0


def test_a_rejection_of_an_old_answer_leaves_the_open_question_open() -> None:
    story = given(start(), signal(), proposes("look", epoch=1))
    assert story.run.asked == f.PlanRequested(3, "p", "start")
    story.when(proposes("look", epoch=1)).then(like(f.PlanProposed), like(f.ProposalRejected))
    assert story.run.asked == f.PlanRequested(3, "p", "start")


def test_too_many_refused_answers_in_a_row_are_stuck() -> None:
    story = given(start(limits=f.Limits(proposals=2)), proposes("shp")).when(proposes("shp"))
    story.then(
        like(f.PlanProposed),
        like(f.ProposalRejected),
        like(f.RunStuck, reason=has("2 answers", "stale or refused"), failure=failure("refused", "'ship'?")),
    )
    story.when(signal()).then(like(f.SignalReceived), like(f.PlanRequested), like(MakePlan))
    assert story.run.refused == 0


def test_the_same_answer_refused_for_the_third_time_is_stuck() -> None:
    story = given(start(), proposes("shp"), proposes("shp")).when(proposes("shp"))
    story.then(
        like(f.PlanProposed),
        like(f.ProposalRejected),
        like(f.RunStuck, reason=has("same plan", "3 times"), failure=failure("refused", "'ship'?")),
    )
    story.when(signal()).then(like(f.SignalReceived), like(f.PlanRequested), like(MakePlan))
    story.when(proposes("shp")).then(
        like(f.PlanProposed), like(f.ProposalRejected), like(f.PlanRequested), like(MakePlan)
    )


def test_other_answers_between_are_not_the_same_answer_again() -> None:
    story = given(start(), proposes("shp"), proposes("shp"), proposes("lok"), proposes("shp"))
    story.when(proposes("shp"))
    assert (story.run.stuck, story.run.refused) == ("", 5)


def test_signals_that_make_answers_stale_do_not_reset_the_count_of_refused_ones() -> None:
    story = given(start(limits=f.Limits(proposals=2)), signal(), proposes("ship", epoch=1))
    assert story.run.refused == 1
    story.when(signal()).when(proposes("ship", epoch=3))
    assert story.new[-1] == like(f.RunStuck)


def test_an_accepted_plan_resets_the_counts() -> None:
    story = given(start(), proposes("shp"), proposes("ship"))
    assert (story.run.refused, story.run.refusals) == (0, [])


# -- what is recorded


def test_steps_are_numbered_on_and_tools_get_their_full_names() -> None:
    story = owed("reserve").when(proposes("ship", step("look", "mine"), "notify"))
    tail = [story.run.steps[each] for each in story.run.order[1:]]
    assert [(each.id, each.tool_name) for each in tail] == [
        ("E2", "user__ship"),
        ("mine", "user__look"),
        ("E3", "user__notify"),
    ]


def test_a_proposal_is_recorded_as_a_replay_reads_it() -> None:
    story = given(start()).when(proposes(step("ship", input={"sizes": (1, 2)})))
    assert story.run.steps["E0"].input == {"sizes": [1, 2]}


def test_the_digest_of_a_proposal_is_that_of_its_content() -> None:
    digests = [
        given(start()).when(proposes(step("ship", input=input))).new[0].digest  # type: ignore[attr-defined]
        for input in ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 2})
    ]
    assert digests[0] == digests[1] != digests[2]


def test_stability_counts_the_steps_that_differ_whatever_their_ids() -> None:
    one, two = Step("A", "x", {"n": 1}), Step("B", "x", {"n": 2})
    assert stability([], [one, two]) == 2
    assert stability([one, two], [Step("C", "x", {"n": 1}), Step("D", "y", {"n": 2})]) == 2
    assert stability([one, one], [one]) == 1
    assert stability([one, two], [two, one]) == 0


def test_a_replan_that_was_answered_is_owed_no_more() -> None:
    run = given(*planned("look"), replan(), succeeds("E0"), proposes("ship")).run
    assert (run.owed, run.excluded, run.asked, run.replans) == (None, frozenset(), None, 1)


def test_signals_are_told_to_the_planner_until_a_plan_is_accepted() -> None:
    story = given(start(), signal("a", 1), signal("b", 2, relevant=False))
    story.when(proposes("ship", epoch=1))
    order = story.orders[-1]
    assert isinstance(order, MakePlan)
    assert [(each.name, each.payload) for each in order.context.signals] == [("a", 1), ("b", 2)]
    story.when(proposes("ship"))
    assert story.run.signals == []


def test_an_empty_plan_means_that_nothing_is_left_to_do() -> None:
    message = m.ProposePlan(at=100.0, epoch=1, plan=Plan())
    given(start()).when(message).then(like(f.PlanProposed), like(f.PlanAccepted), f.RunCompleted(None))


def test_receipts_of_superseded_revisions_stay_in_the_ledger() -> None:
    story = owed("reserve").when(proposes("ship")).when(succeeds("E2"))
    assert [entry.step for entry in story.run.ledger.values()] == ["E0", "E2"]
    assert story.run.ledger[story.key("E0")].receipt == Receipt("ok")


def test_every_failure_so_far_goes_to_the_planner() -> None:
    story = given(*planned("look"), fails("E0", "first"), proposes("ship"), fails("E1", "second"))
    order = story.orders[-1]
    assert isinstance(order, MakePlan)
    assert [*order.context.failures] == [
        failure("tool_error", "first", step="E0"),
        failure("tool_error", "second", step="E1"),
    ]


def test_a_planner_is_shown_the_revisions_before() -> None:
    story = given(*planned("look", "ship"), asks_replan("E0"), proposes("notify", reason="another way"))
    story.when(asks_replan("E2", "elsewhere still", no_effect=True))
    order = story.orders[0]
    assert isinstance(order, MakePlan)
    first = (StepSummary("E0", "user__look"), StepSummary("E1", "user__ship"))
    other = (StepSummary("E2", "user__notify"),)
    shown = [
        (each.revision, each.reason, each.kept, each.added, each.superseded)
        for each in order.context.revisions
    ]
    assert shown == [(1, "", (), first, ()), (2, "another way", (), other, first)]
