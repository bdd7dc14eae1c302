"""What a person's proposal finds when its turn comes: steps done by now, a planner that was asked."""

from __future__ import annotations

from midcourse.domain import facts as f
from midcourse.domain.evolve import fold
from midcourse.domain.orders import Execute, MakePlan
from midcourse.domain.plan import Author, Step

from .kit import Story, given, like, step
from .tellings import asks_replan, is_lost, later, planned, proposes, signal, succeeds

HUMAN: Author = "human"
OPEN = step("reserve", "A", needs=(), on_replan="adopt")
DRAINS = step("ship", "B", needs=())


def waiting(*steps: Step) -> Story:
    """A person's proposal waits for B, and lists A, which is in flight, so that it is kept."""
    return given(*planned(OPEN, DRAINS)).when(proposes(*steps, by=HUMAN))


def test_a_step_in_flight_that_it_keeps_and_that_is_done_by_then_keeps_its_place() -> None:
    story = waiting(OPEN, step("notify", "C", needs=("A",)))
    assert story.new[-1] == like(f.ProposalHeld)
    story.when(succeeds("A", "r")).when(succeeds("B")).then(
        like(f.StepCompleted),
        like(f.PlanAccepted, kept=("A", "B"), added=("C",), adopted=()),
        like(f.StepStarted, step="C"),
        like(Execute),
    )
    assert story.run.order == ["A", "B", "C"]
    assert story.run.results == {"A": "r", "B": "ok"}


def test_what_is_left_of_it_is_still_a_dag() -> None:
    others = step("look", "C"), step("look", "D", input={"n": 2})
    story = waiting(OPEN, *others).when(succeeds("A")).when(succeeds("B"))
    assert [like(f.StepStarted, step="C"), like(f.StepStarted, step="D")] == story.new[-2:]


def test_the_done_step_counts_among_the_equal_steps_of_the_plan() -> None:
    equal = step("reserve", "C", needs=())
    story = waiting(OPEN, equal).when(succeeds("A")).when(succeeds("B"))
    assert story.new[-1] == like(f.StepStarted, step="C", operation=story.run.done["A"][:-1] + "1")


def test_a_plan_of_nothing_but_steps_that_are_done_by_then_completes_the_run() -> None:
    story = waiting(OPEN).when(succeeds("A")).when(succeeds("B"))
    assert [
        like(f.StepCompleted),
        like(f.PlanAccepted, kept=("A", "B"), added=()),
        like(f.RunCompleted),
    ] == story.new


def test_a_replay_knows_what_was_left_out() -> None:
    story = waiting(OPEN, step("reserve", "C", needs=())).when(succeeds("A")).when(succeeds("B"))
    again = fold("run", story.facts)
    assert (story.run.order, story.run.tail_again, story.run.steps) == (
        again.order,
        again.tail_again,
        again.steps,
    )


def test_the_planner_that_was_asked_before_is_asked_anew_when_it_is_refused() -> None:
    story = given(*planned(OPEN, DRAINS), asks_replan("B", no_effect=True), is_lost("A"))
    story.when(proposes("notify", by=HUMAN)).then(
        like(f.ReplanJoined, cause="person"),
        like(f.PlanProposed, author="human"),
        like(f.ProposalHeld),
    )
    story.when(signal()).when(later(1.0)).then(
        like(f.AttemptStarted),
        like(f.ProposalRejected, code="stale"),
        like(f.PlanRequested),
        like(Execute),
        like(MakePlan),
    )


def test_what_the_planner_answers_all_the_same_is_stale_and_leaves_it_alone() -> None:
    story = given(*planned(OPEN, DRAINS), asks_replan("B", no_effect=True), is_lost("A"))
    answer = story.message(proposes("look"))
    story.when(proposes("notify", by=HUMAN)).when(answer).then(
        like(f.PlanProposed, author="planner"), like(f.ProposalRejected, code="stale")
    )
    assert story.run.held is not None
    assert story.run.refused == 0
