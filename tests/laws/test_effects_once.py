"""Operations: whatever is proposed, crashes or is tried again, an effect that stands is not had once more.

The rules find operations by their keys. Here effects are counted by what they are in business, the tool and
the item, and against what plans asked for; keys are not looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.evolve import evolve
from midcourse.domain.plan import Step
from midcourse.domain.run import Run
from midcourse.domain.summary import wake_at

from .life import ENDINGS, NONE, Life, Shape, step
from .wider import Wider

Business = tuple[str, int]
EFFECTS = ("reserve", "charge", "pack", "ship", "notify")
AGAIN = tuple(
    step(tool, n, again=True, on_replan=mode)
    for tool in EFFECTS
    for n in (0, 1)
    for mode in ("drain", "adopt", "cancel")
)  # fmt: skip
PLAIN = tuple(
    step(tool, n, on_replan=mode) for tool in EFFECTS for n in (0, 1) for mode in ("drain", "adopt", "cancel")
)
STEPS: tuple[Step, ...] = (*PLAIN, *PLAIN, *AGAIN, step("charge", 0, amount=7), step("charge", 1, amount=7))
SHAPES: tuple[Shape, ...] = ("sequence", "all at once", "tree")


class Counted(Wider):
    """Bounds, at each accepted plan, how many effects of each kind may stand until the next.

    Equal steps of a tail that do not say ``again`` are as many effects as there are of them, those that stand
    already included; each step that says it is one more.
    """

    def __init__(self) -> None:
        super().__init__()
        self.shadow = Run("run")
        self.most: Counter[Business] = Counter()

    def check_quickly(self) -> None:
        super().check_quickly()
        too_many = {kind: count for kind, count in self.standing().items() if count > self.most[kind]}
        assert too_many == {}, f"more effects stand than any plan asked for: {too_many}"

    def tell(self, message: m.Message) -> None:
        super().tell(message)
        self.follow()

    def person(self, message: m.Message, *, foreign: bool) -> None:
        super().person(message, foreign=foreign)
        self.follow()

    def follow(self) -> None:
        """Take note of the facts since."""
        for fact in self.facts[self.shadow.version :]:
            if isinstance(fact, f.PlanAccepted):
                self.set_bounds(fact)
            evolve(self.shadow, fact)

    def set_bounds(self, fact: f.PlanAccepted) -> None:
        proposal = self.shadow.pending
        assert proposal is not None
        plain, more = Counter[Business](), Counter[Business]()
        for each in proposal.plan.steps:
            if not each.undoes:
                is_one_more = each.again and each.id not in fact.adopted and each.id in fact.added
                (more if is_one_more else plain)[each.tool_name, each.input["item"]] += 1
        for id in proposal.relisted:
            listed = self.shadow.steps[id]
            plain[listed.tool_name, listed.input["item"]] += not listed.undoes
        there = self.standing() + self.may_come()
        self.most = Counter(
            {kind: max(there[kind], plain[kind]) + more[kind] for kind in there | plain | more}
        )

    def standing(self) -> Counter[Business]:
        return Counter(self.business[key] for key in self.world.standing())

    def may_come(self) -> Counter[Business]:
        """What is in flight and has not had its effect yet."""
        in_flight = (
            *self.shadow.running.values(),
            *self.shadow.backoff.values(),
            *self.shadow.unknown.values(),
        )
        return Counter(
            (each.tool, each.input["item"])
            for each in in_flight
            if not each.takes_back and not self.world.times[each.key]
        )

    @property
    def business(self) -> dict[str, Business]:
        return {
            fact.operation: (fact.tool, fact.input["item"])
            for fact in self.facts
            if isinstance(fact, f.StepStarted) and not fact.takes_back
        }


def choices(life: Life, random: Random) -> Iterator[tuple[float, Callable[[], object]]]:
    """Proposals above all, by planners and people; crashes and retries between them."""
    assert isinstance(life, Wider)
    pick, process = random.choice, life.process
    plan = life.plan(
        random.choices(STEPS, k=random.randint(0, 5)),
        pick(SHAPES),
        pick((0, 0, 1, 3, 255)),
        pick((NONE, 0, 1)),
    )
    keep, relist = pick((7, 2, 0)), pick((0, 0, 255, 5))
    if process.planning is not None:
        yield 8, lambda: life.planner_keeps(plan, keep, relist)
    if life.in_hand:
        yield 10, lambda: life.attempt_ends(random.randrange(6), "done")
        yield 5, lambda: life.attempt_ends(random.randrange(6), pick(ENDINGS))
    if process.probes:
        yield 5, lambda: life.probe_answers(can_tell=random.random() < 0.8)
    if wake_at(life.run) is not None:
        yield 4, life.timer_fires
    if life.effects:
        yield 1, lambda: life.receipt_arrives_late_or_twice(random.randrange(20))
    if life.past:
        yield 0.5, lambda: life.message_arrives_again(random.randrange(50))
    yield 1.5, lambda: life.process_dies(frozenset("p"), life.catalog, random.randrange(8))
    yield (
        2,
        lambda: life.person_proposes(
            life.keeping(plan, keep, relist), behind=False, foreign=random.random() < 0.5
        ),
    )
    yield 1, lambda: life.jump("", "", "look again", foreign=False)
    yield 0.3, lambda: life.signal("", relevant=True, foreign=False)
    if life.run.approvals:
        yield 6, lambda: life.person_answers(0, "host:bob", approves=random.random() < 0.8, foreign=False)
    if life.run.unknown:
        yield 3, lambda: life.person_settles(with_receipt=True, foreign=False)
    if life.run.parked:
        yield 3, lambda: life.person_decides_about_an_undo(waive=False, foreign=False)


def walk(seed: int, events: int, life: Wider) -> None:
    """Live a life. The seed alone says what happens."""
    random = Random(seed)
    life.begin(random.choices(STEPS, k=4), random.choice(SHAPES), "planner", "autonomous")
    for _ in range(events):
        weights, happenings = zip(*choices(life, random), strict=True)
        random.choices(happenings, weights)[0]()
        life.check_quickly()


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_no_sequence_of_proposals_crashes_and_retries_repeats_a_committed_effect_that_is_not_undone(
    seed: int,
) -> None:
    life = Counted()
    walk(seed, 60, life)
    life.live_to_the_end()
