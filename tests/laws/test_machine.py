"""Messages in any order: duplicates, late reports, conflicts, crashes, foreign writers. The laws hold."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from midcourse.domain.plan import Author, Step
from midcourse.domain.summary import wake_at
from midcourse.domain.tools import Catalog

from .life import ENDINGS, NONE, SMALLER, STEPS, Answer, Ending, Life, Shape
from .world import CATALOG

SELDOM = st.sampled_from((False, False, False, True))
TAILS = st.lists(st.sampled_from(STEPS), max_size=5)
SHAPES: st.SearchStrategy[Shape] = st.sampled_from(("sequence", "sequence", "all at once", "tree"))
AUTHORS: st.SearchStrategy[Author] = st.sampled_from(("planner", "planner", "human"))
ANSWERS: st.SearchStrategy[Answer] = st.sampled_from(("no plan", "give up", "reached", "raises"))
OFTEN_DONE: st.SearchStrategy[Ending] = st.sampled_from(("done", "done", "done", *ENDINGS))
UNDO = st.sampled_from((0, 0, 0, 1, 3, 6))
UNDOES = st.sampled_from((NONE, NONE, NONE, 0, 1))


class Machine(RuleBasedStateMachine):
    """What hypothesis may let happen, and when."""

    def __init__(self) -> None:
        super().__init__()
        self.life = Life()

    @invariant()
    def laws_hold(self) -> None:
        if self.life.facts:
            self.life.check()

    def teardown(self) -> None:
        if self.life.facts:
            self.life.live_to_the_end()

    @initialize(tail=TAILS, shape=SHAPES, by=AUTHORS, done=st.integers(0, 5))
    def start(self, tail: list[Step], shape: Shape, by: Author, done: int) -> None:
        self.life.start(tail, shape, by, done)

    @precondition(lambda self: self.life.process.planning is not None)
    @rule(tail=TAILS, shape=SHAPES, undo=UNDO, undoes=UNDOES)
    def planner_proposes(self, tail: list[Step], shape: Shape, undo: int, undoes: int) -> None:
        self.life.planner_proposes(tail, shape, undo, undoes)

    @precondition(lambda self: self.life.process.planning is not None)
    @rule(answer=ANSWERS)
    def planner_answers(self, answer: Answer) -> None:
        self.life.planner_answers(answer)

    @precondition(lambda self: self.life.process.attempts)
    @rule(which=st.integers(0, 5), ending=OFTEN_DONE)
    def attempt_ends(self, which: int, ending: Ending) -> None:
        self.life.attempt_ends(which, ending)

    @precondition(lambda self: self.life.run.final is None)
    @rule(tail=TAILS, times=st.integers(1, 3))
    def all_goes_well(self, tail: list[Step], times: int) -> None:
        for _ in range(times):
            if self.life.process.planning is not None:
                self.life.planner_proposes(tail, "sequence")
            else:
                self.life.go_on()

    @precondition(lambda self: self.life.effects)
    @rule(which=st.integers(0, 20))
    def receipt_arrives_late_or_twice(self, which: int) -> None:
        self.life.receipt_arrives_late_or_twice(which)

    @precondition(lambda self: self.life.past)
    @rule(which=st.integers(0, 50))
    def message_arrives_again(self, which: int) -> None:
        self.life.message_arrives_again(which)

    @precondition(lambda self: self.life.process.probes)
    @rule(can_tell=st.booleans())
    def probe_answers(self, can_tell: bool) -> None:
        self.life.probe_answers(can_tell=can_tell)

    @rule(seconds=st.sampled_from((0.5, 3.0, 100.0)))
    def time_passes(self, seconds: float) -> None:
        self.life.time_passes(seconds)

    @precondition(lambda self: wake_at(self.life.run) is not None)
    @rule()
    def timer_fires(self) -> None:
        self.life.timer_fires()

    @rule(
        seldom=SELDOM,
        planners=st.sampled_from((frozenset("p"), frozenset("p"), frozenset())),
        catalog=st.sampled_from((CATALOG, CATALOG, CATALOG, SMALLER)),
        happened=st.integers(0, 7),
    )
    def process_dies(self, seldom: bool, planners: frozenset[str], catalog: Catalog, happened: int) -> None:
        if seldom:
            self.life.process_dies(planners, catalog, happened)

    @rule(id=st.sampled_from(("", "a", "b")), relevant=SELDOM, foreign=st.booleans())
    def signal(self, id: str, relevant: bool, foreign: bool) -> None:
        self.life.signal(id, relevant=relevant, foreign=foreign)

    @rule(seldom=SELDOM, foreign=st.booleans())
    def pause(self, seldom: bool, foreign: bool) -> None:
        if seldom:
            self.life.pause(foreign=foreign)

    @precondition(lambda self: self.life.process.consulted)
    @rule(verdict=st.sampled_from(("ok", "ok", "step", "plan", "failed")))
    def reviewer_answers(self, verdict: str) -> None:
        self.life.reviewer_answers(verdict)

    @precondition(lambda self: self.life.run.reviews)
    @rule(verdict=st.sampled_from(("ok", "step", "plan", "continue", "reset", "stop")), foreign=st.booleans())
    def person_reviews(self, verdict: str, foreign: bool) -> None:
        self.life.person_reviews(verdict, foreign=foreign)

    @precondition(lambda self: self.life.run.paused is not None)
    @rule(foreign=st.booleans())
    def unpause(self, foreign: bool) -> None:
        self.life.unpause(foreign=foreign)

    @rule(seldom=SELDOM, foreign=st.booleans())
    def cancel(self, seldom: bool, foreign: bool) -> None:
        if seldom:
            self.life.cancel(foreign=foreign)

    @rule(seldom=SELDOM, foreign=st.booleans())
    def replan(self, seldom: bool, foreign: bool) -> None:
        if seldom:
            self.life.replan(foreign=foreign)

    @rule(tail=TAILS, shape=SHAPES, undo=UNDO, undoes=UNDOES, behind=SELDOM, foreign=st.booleans())
    def person_proposes(
        self, tail: list[Step], shape: Shape, undo: int, undoes: int, behind: bool, foreign: bool
    ) -> None:
        plan = self.life.plan(tail, shape, undo, undoes)
        self.life.person_proposes(plan, behind=behind, foreign=foreign)

    @precondition(lambda self: self.life.run.unknown)
    @rule(with_receipt=st.booleans(), foreign=st.booleans())
    def person_settles(self, with_receipt: bool, foreign: bool) -> None:
        self.life.person_settles(with_receipt=with_receipt, foreign=foreign)

    @precondition(lambda self: self.life.run.parked)
    @rule(waive=st.booleans(), foreign=st.booleans())
    def person_decides_about_an_undo(self, waive: bool, foreign: bool) -> None:
        self.life.person_decides_about_an_undo(waive=waive, foreign=foreign)


def test_the_laws_hold_whatever_happens_in_whatever_order() -> None:
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=100,
            stateful_step_count=30,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
