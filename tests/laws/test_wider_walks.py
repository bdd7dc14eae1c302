"""Long lives in which plans are left in the middle, people have to agree, and effects are recalled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midcourse.domain.plan import Author, Step
from midcourse.domain.summary import wake_at

from .life import ENDINGS, NONE, Shape
from .wider import COLLEAGUE, NARROWER, STARTER, STRANGER, WIDER, WIDER_STEPS, Wider

Choice = tuple[float, Callable[[], object]]
SHAPES: tuple[Shape, ...] = ("sequence", "all at once", "all at once", "tree")
AUTHORS: tuple[Author, ...] = ("human", "planner", "planner", "planner", "planner")
P = frozenset("p")


def tail(random: Random) -> list[Step]:
    return random.choices(WIDER_STEPS, k=random.randint(0, 5))


def choices(life: Wider, random: Random) -> Iterator[Choice]:
    """What could happen now, each with its weight."""
    pick, process = random.choice, life.process
    if process.planning is not None:
        plan = life.plan(tail(random), pick(SHAPES), pick((0, 0, 1, 3, 6)), pick((NONE, NONE, 0, 1)))
        keep, relist = pick((7, 7, 2, 0)), pick((0, 0, 255, 5))
        yield 8, lambda: life.planner_keeps(plan, keep, relist)
        yield 1, lambda: life.planner_answers(pick(("no plan", "give up", "reached", "raises")))
    if life.in_hand:
        yield 10, lambda: life.attempt_ends(random.randrange(6), "done")
        yield 5, lambda: life.attempt_ends(random.randrange(6), pick(ENDINGS))
    if process.probes:
        yield 5, lambda: life.probe_answers(can_tell=random.random() < 0.7)
    if wake_at(life.run) is not None:
        yield 4, life.timer_fires
    yield 0.3, lambda: life.time_passes(pick((0.5, 3.0, 100.0)))
    yield from _disturbances(life, random)
    yield from _people(life, random)


def _disturbances(life: Wider, random: Random) -> Iterator[Choice]:
    if life.effects:
        yield 1.5, lambda: life.receipt_arrives_late_or_twice(random.randrange(20))
    if life.past:
        yield 0.7, lambda: life.message_arrives_again(random.randrange(50))
    planners, catalog = random.choice((P, P, P, frozenset[str]())), random.choice((*[WIDER] * 5, NARROWER))
    yield 1, lambda: life.process_dies(planners, catalog, random.randrange(8))


def _people(life: Wider, random: Random) -> Iterator[Choice]:
    run, pick = life.run, random.choice
    foreign, maybe = random.random() < 0.5, random.random() < 0.5
    yield 0.4, lambda: life.signal(pick(("", "a", "b")), relevant=maybe, foreign=foreign)
    yield 0.06, lambda: life.cancel(foreign=foreign)
    token, id = pick(("", "present", "old")), pick(("", "x", "y"))
    yield 1.5, lambda: life.jump(token, id, pick(("look again", "it rains")), foreign=foreign)
    plan = life.plan(tail(random), pick(SHAPES), pick((0, 1, 3)), pick((NONE, 0)))
    plan = life.keeping(plan, pick((7, 0)), pick((0, 255)))
    yield 0.7, lambda: life.person_proposes(plan, behind=random.random() < 0.2, foreign=foreign)
    if run.standing():
        yield 1, lambda: life.person_has_an_effect_undone(random.randrange(9), foreign=foreign)
    if run.approvals:
        who = pick((COLLEAGUE, COLLEAGUE, COLLEAGUE, STARTER, STRANGER))
        yield (
            5,
            lambda: life.person_answers(
                random.randrange(4), who, approves=random.random() < 0.7, foreign=foreign
            ),
        )
    if run.unknown:
        yield 3, lambda: life.person_settles(with_receipt=maybe, foreign=foreign)
    if run.parked:
        yield 2, lambda: life.person_decides_about_an_undo(waive=maybe, foreign=foreign)


def walk(seed: int, events: int, life: Wider) -> None:
    """Live a life. The seed alone says what happens."""
    random = Random(seed)
    life.begin(
        tail(random),
        random.choice(SHAPES),
        random.choice(AUTHORS),
        random.choice(("autonomous", "interactive")),
    )
    for place in range(events):
        weights, happenings = zip(*choices(life, random), strict=True)
        random.choices(happenings, weights)[0]()
        life.check_quickly()
        if place % 10 == 9:
            life.check()


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_the_laws_hold_when_plans_are_left_in_the_middle_and_people_have_to_agree(seed: int) -> None:
    life = Wider()
    walk(seed, 60, life)
    life.live_to_the_end()
