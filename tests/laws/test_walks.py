"""Long lives with much trouble in them: no sequence of proposals, crashes and retries repeats an effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midcourse.domain.plan import Author, Step
from midcourse.domain.summary import wake_at

from .life import ENDINGS, NONE, SMALLER, STEPS, Life, Shape
from .world import CATALOG, STRICT

Choice = tuple[float, Callable[[], object]]
SHAPES: tuple[Shape, ...] = ("sequence", "sequence", "all at once", "tree")
AUTHORS: tuple[Author, ...] = ("human", "planner", "planner", "planner")
VERDICTS = ("ok", "ok", "ok", "step", "plan", "refuse", "failed")
P = frozenset("p")


def tail(random: Random) -> list[Step]:
    return random.choices(STEPS, k=random.randint(0, 5))


def choices(life: Life, random: Random) -> Iterator[Choice]:
    """What could happen now, each with its weight."""
    pick, process = random.choice, life.process
    if process.planning is not None:
        undo, undoes = pick((0, 0, 0, 1, 3, 6)), pick((NONE, NONE, 0, 1))
        yield 8, lambda: life.planner_proposes(tail(random), pick(SHAPES), undo, undoes)
        yield 1, lambda: life.planner_answers(pick(("no plan", "give up", "reached", "raises", "raises")))
    if process.attempts:
        yield 14, lambda: life.attempt_ends(random.randrange(6), "done")
        yield 8, lambda: life.attempt_ends(random.randrange(6), pick(ENDINGS))
    if process.consulted:
        yield 6, lambda: life.reviewer_answers(pick(VERDICTS))
    if process.probes:
        yield 5, lambda: life.probe_answers(can_tell=random.random() < 0.7)
    if wake_at(life.run) is not None:
        yield 5, life.timer_fires
    yield 0.5, lambda: life.time_passes(pick((0.5, 3.0, 100.0)))
    yield from _disturbances(life, random)
    yield from _people(life, random)


def _disturbances(life: Life, random: Random) -> Iterator[Choice]:
    if life.effects:
        yield 1.5, lambda: life.receipt_arrives_late_or_twice(random.randrange(20))
    if life.past:
        yield 0.7, lambda: life.message_arrives_again(random.randrange(50))
    planners = random.choice((P, P, P, frozenset[str]()))
    catalog = random.choice((CATALOG, CATALOG, CATALOG, STRICT, SMALLER))
    yield 1, lambda: life.process_dies(planners, catalog, random.randrange(8))


def _people(life: Life, random: Random) -> Iterator[Choice]:
    foreign, maybe = random.random() < 0.5, random.random() < 0.5
    yield 0.7, lambda: life.signal(random.choice(("", "a", "b")), relevant=maybe, foreign=foreign)
    yield 0.2, lambda: life.cancel(foreign=foreign)
    yield 0.5, lambda: life.replan(foreign=foreign)
    plan = life.plan(tail(random), random.choice(SHAPES), random.choice((0, 1, 3)), random.choice((NONE, 0)))
    yield 1, lambda: life.person_proposes(plan, behind=random.random() < 0.2, foreign=foreign)
    if life.run.paused is not None:
        yield 2, lambda: life.unpause(foreign=foreign)
    yield 0.4, lambda: life.pause(foreign=foreign)
    if life.run.reviews:
        choice = random.choice(("ok", "step", "plan", "continue", "reset", "stop"))
        yield 2, lambda: life.person_reviews(choice, foreign=foreign)
    if life.run.unknown:
        yield 3, lambda: life.person_settles(with_receipt=maybe, foreign=foreign)
    if life.run.parked:
        yield 2, lambda: life.person_decides_about_an_undo(waive=maybe, foreign=foreign)


def walk(seed: int, events: int) -> Life:
    """Live a life. The seed alone says what happens."""
    random, life = Random(seed), Life()
    life.catalog = random.choice((CATALOG, CATALOG, STRICT))
    life.start(
        tail(random),
        random.choice(SHAPES),
        random.choice(AUTHORS),
        random.randrange(6),
        budget=random.choice((3, 8, 1_000)),
    )
    for place in range(events):
        weights, happenings = zip(*choices(life, random), strict=True)
        random.choices(happenings, weights)[0]()
        life.check_quickly()
        if place % 10 == 9:
            life.check()
    return life


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_no_effect_is_repeated_and_every_life_ends_or_needs_a_person(seed: int) -> None:
    walk(seed, events=60).live_to_the_end()
