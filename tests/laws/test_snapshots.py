"""A state that was written and read is the state: what follows is folded into it as into the other."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midcourse.domain.evolve import evolve, fold
from midcourse.domain.facts import Fact
from midcourse.domain.run import Run

from .reading_back import is_kept, read_back
from .replay import snapshot, stored
from .test_walks import walk


def check(run_id: str, facts: list[Fact], places: list[int]) -> None:
    """Fold facts, and on the way write and read the state at some places."""
    run, whole = Run(run_id), Run(run_id)
    for start, end in pairwise([0, *places, len(facts)]):
        for fact in facts[start:end]:
            evolve(run, fact)
            evolve(whole, fact)
        is_kept(whole)
        run = read_back(run)
    assert snapshot(run) == snapshot(fold(run_id, facts))


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_a_state_survives_being_written_at_any_moment(seed: int) -> None:
    random = Random(seed)
    facts = stored(walk(seed, events=60).facts)
    check("run", facts, sorted(random.choices(range(len(facts)), k=8)))
