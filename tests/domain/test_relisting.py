"""Steps that a proposal lists again under an id that was started before."""

from __future__ import annotations

import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.decide.validation import problems_of
from midcourse.domain.evolve import fold
from midcourse.domain.orders import Execute
from midcourse.domain.plan import Plan, Step
from midcourse.domain.receipt import Receipt
from midcourse.domain.view import view

from .kit import CATALOG, Story, given, has, like, step
from .tellings import asks_replan, fails, no_plan, planned, proposes, start, succeeds

P = step("reserve", "p", input={"n": 1})
Q = step("ship", "q", input={"to": "{{p}}"})
R = step("notify", "r", input={"what": "{{q}}"})


def broken(*steps: Step) -> Story:
    """A run whose first step is done and whose second has failed."""
    first, second, *_ = steps
    return given(*planned(*steps), succeeds(first.id), fails(second.id))


def refused(story: Story) -> list[str]:
    (rejected,) = [fact for fact in story.new if isinstance(fact, f.ProposalRejected)]
    return [*rejected.problems]


# -- what is done


def test_a_planner_that_lists_all_its_steps_again_gets_on_and_what_is_done_is_kept() -> None:
    story = broken(P, Q, R)
    key = story.key("p")
    other = step("charge", "q2", input={"order": "{{p}}"})
    story.when(proposes(P, other, step("notify", "r", input={"what": "{{q2}}"}))).then(
        like(f.PlanProposed, relisted=("p",)),
        like(f.PlanAccepted, kept=("p",), added=("q2", "r"), superseded=("q", "r")),
        like(f.StepStarted, step="q2", input={"order": "ok"}),
        like(Execute, step="q2"),
    )
    assert [each.id for each in story.facts[-3].plan.steps] == ["q2", "r"]  # type: ignore[attr-defined]
    assert story.run.order == ["p", "q2", "r"]
    assert story.run.done == {"p": key}
    assert [entry.step for entry in story.run.ledger.values()] == ["p"]


def test_a_step_that_is_done_keeps_its_place_wherever_it_is_listed() -> None:
    story = broken(P, Q).when(proposes(step("look", "x"), P, step("notify", "y")))
    assert story.run.order == ["p", "x", "y"]


def test_the_reasoning_and_the_time_of_a_done_step_may_be_said_otherwise() -> None:
    again = step("user__reserve", "p", input={"n": 1}, reasoning="as before", timeout_s=5.0)
    story = broken(P, Q).when(proposes(again, step("look", "x")))
    assert (story.run.order, story.run.steps["p"].timeout_s) == (["p", "x"], None)


def test_a_plan_of_nothing_but_what_is_done_completes_the_run() -> None:
    broken(P, Q).when(proposes(P)).then(
        like(f.PlanProposed, plan=Plan(), relisted=("p",)), like(f.PlanAccepted), f.RunCompleted("ok")
    )


def test_what_is_left_of_a_dag_is_no_sequence() -> None:
    p = step("reserve", "p", needs=())
    q, r = step("ship", "q", needs=("p",)), step("look", "r", needs=("p",))
    story = given(*planned(p, q, r), succeeds("p"), fails("q"), succeeds("r"))
    story.when(proposes(p, step("look", "x"), step("notify", "y", input={"n": "{{z}}"}), step("look", "z")))
    assert [fact.step for fact in story.new if isinstance(fact, f.StepStarted)] == ["x", "z"]
    story.when(fails("x")).when(succeeds("z")).when(proposes(p, step("look", "z"), step("look", "w")))
    assert story.run.order == ["p", "r", "z", "w"]


@pytest.mark.parametrize(
    ("listed", "change"),
    [
        (step("ship", "p", input={"n": 1}), "another tool"),
        (step("reserve", "p", input={"n": 2}), "other arguments"),
        (step("reserve", "p", input={"n": True}), "other arguments"),
        (step("reserve", "p", input={"n": 1}, needs=("x",)), "other needs"),
        (step("reserve", "p", input={"n": 1}, operation="two"), "another operation"),
        (step("reserve", "p", input={"n": 1}, again=True), "other values of again and undoes"),
        (step("ship", "p", operation="a"), "another tool and other arguments and another operation"),
    ],
)
def test_a_done_step_with_other_content_is_refused_and_told_apart(listed: Step, change: str) -> None:
    story = broken(P, Q).when(proposes(step("look", "x", needs=()), listed))
    assert refused(story) == [has("step 'p'", f"is done with {change};", "leave it out", "a new id")]


def test_a_done_step_that_is_listed_twice_is_one_too_many() -> None:
    assert refused(broken(P, Q).when(proposes(P, P))) == [has("two steps have the id 'p'")]


@pytest.mark.parametrize("undo", [(), ("p",)])
def test_a_done_step_whose_effect_is_taken_back_is_not_kept_in_silence(undo: tuple[str, ...]) -> None:
    story = broken(P, Q)
    if not undo:
        story.when(proposes(step("look", "x"), undo=("p",))).when(succeeds("undo p")).when(fails("x"))
    story.when(proposes(P, step("look", "y"), undo=undo))
    assert refused(story) == [has("step 'p'", "its effect is taken back", "a new id")]


def test_people_may_list_what_is_done_too() -> None:
    story = given(*planned(P, Q), succeeds("p"), fails("q"), no_plan())
    story.when(proposes(P, step("notify", "x"), by="human"))
    assert story.run.order == ["p", "x"]


# -- equal steps


def test_a_done_step_listed_again_and_an_equal_one_are_two_operations() -> None:
    story = broken(P, Q).when(proposes(P, step("reserve", "p2", input={"n": 1})))
    assert story.new[-1] == like(f.StepStarted, step="p2")
    assert story.key("p2") == story.key("p").removesuffix(".0") + ".1"


def test_without_it_the_equal_one_is_the_same_operation() -> None:
    story = broken(P, Q).when(proposes(step("reserve", "p2", input={"n": 1}), step("look", "x")))
    assert story.new[2] == f.StepSatisfied("p2", story.key("p"))


def test_both_listed_again_leave_nothing_to_do_twice() -> None:
    p2 = step("reserve", "p2", input={"n": 1})
    story = given(*planned(P, p2, Q), succeeds("p"), succeeds("p2"), fails("q"))
    story.when(proposes(P, p2, step("reserve", "p3", input={"n": 1})))
    assert story.new[-1] == like(f.StepStarted, operation=story.key("p").removesuffix(".0") + ".2")


def test_an_equal_one_with_other_arguments_is_no_conflict_beside_it() -> None:
    paid = step("charge", "paid", input={"order": 1, "amount": 5})
    more = step("charge", "more", input={"order": 1, "amount": 7})
    q = step("ship", "q")
    assert refused(broken(paid, q).when(proposes(more))) == [has("operation conflict")]
    story = broken(paid, q).when(proposes(paid, more))
    assert story.new[-1] == like(f.StepStarted, step="more")


# -- what was started and is not done


def test_a_step_that_failed_is_tried_again_under_its_id() -> None:
    story = broken(P, Q, R)
    key = story.key("q")
    story.when(proposes(P, Q, R)).then(
        like(f.PlanProposed, relisted=("p",)),
        like(f.PlanAccepted, kept=("p",), added=("q", "r"), stability=0),
        like(f.StepStarted, step="q", operation=key, attempt=2),
        like(Execute, operation=key, attempt=2),
    )
    assert [(each.id, each.state) for each in view(story.run).steps] == [
        ("p", "done"),
        ("q", "running"),
        ("r", "pending"),
    ]
    story.when(succeeds("q")).when(succeeds("r"))
    assert story.run.final == "completed"


def test_a_planner_that_answers_everything_with_the_same_plan_is_stuck_at_the_second_lap() -> None:
    story = broken(P, Q).when(proposes(P, Q)).when(fails("q"))
    assert story.run.stuck == has("ship failed: no at version", "again on the same state")


@pytest.mark.parametrize("revisions", [1, 2])
def test_under_the_id_of_a_failed_step_no_other_step_is_planned(revisions: int) -> None:
    story = broken(P, Q)
    if revisions == 2:
        story.when(proposes(step("look", "x"))).when(asks_replan("x"))
    story.when(proposes(step("ship", "q", input={"to": "Oslo"})))
    assert refused(story) == [
        has("step 'q' was started with other arguments; give the changed step a new id")
    ]


def test_a_late_receipt_of_the_step_before_does_not_finish_the_one_of_its_name() -> None:
    q = step("ship", "q", input={"to": "{{board.to}}"})
    story = given(*planned(step("look", "l"), P), asks_replan("l", "where", to="Oslo"))
    story.when(proposes(q)).when(fails("q"))
    old = story.key("q")
    story.when(proposes(step("look", "x"))).when(asks_replan("x", "there", to="Bergen"))
    story.when(proposes(step("look", "y"), q))
    assert [(each.id, each.state) for each in view(story.run).steps] == [("y", "running"), ("q", "pending")]
    late = m.ReportSuccess(at=story.at, operation=old, attempt=1, receipt=Receipt("late"))
    story.when(late).then(like(f.ReceiptArrivedLate, operation=old))
    assert (story.run.ledger[old].step, story.run.done) == ("q", {})
    story.when(succeeds("y")).then(
        like(f.StepCompleted), like(f.StepStarted, step="q", input={"to": "Bergen"}), like(Execute)
    )


# -- what a replay sees


def test_a_replay_finds_the_same_operations() -> None:
    story = broken(P, Q).when(proposes(P, step("reserve", "p2", input={"n": 1}), R))
    again = fold("run", story.facts)
    assert (again.order, again.tail_again, again.tail_n) == (
        story.run.order,
        story.run.tail_again,
        story.run.tail_n,
    )


def test_the_digest_tells_a_plan_that_lists_what_is_done_from_one_that_does_not() -> None:
    x = step("look", "x")
    marks = [broken(P, Q).when(proposes(*steps)).new[0].digest for steps in ((P, x), (x,))]  # type: ignore[attr-defined]
    assert marks[0] != marks[1]


def test_a_step_of_a_first_plan_has_nothing_to_be_compared_with() -> None:
    assert problems_of(given(start()).run, Plan([P]), CATALOG) == ()
