"""A state that was written and read is the state: what follows is folded into it as into the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from random import Random
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midcourse.domain.evolve import evolve, fold
from midcourse.domain.facts import Fact
from midcourse.domain.run import Run
from midcourse.domain.snapshot import Unpacking, pack

from .replay import snapshot, stored
from .test_walks import walk


def read_back(run: Run) -> Run:
    unpacking = Unpacking(run.id)
    for piece in pack(run):
        unpacking.put(piece)
    return unpacking.run


def types(value: Any) -> Any:
    """What a state is made of: equal values of unlike types would act alike here and unlike elsewhere."""
    if isinstance(value, Run):
        return {name: types(getattr(value, name)) for name in Run.__slots__}
    if isinstance(value, msgspec.Struct):
        return (type(value), [types(getattr(value, name)) for name in value.__struct_fields__])
    if isinstance(value, Mapping):
        return (type(value), [types(each) for each in value.values()])
    if isinstance(value, set | frozenset):
        return (type(value), sorted(str(types(each)) for each in value))
    if isinstance(value, list | tuple) or type(value).__name__ == "deque":
        return (type(value), [types(each) for each in value])
    return type(value)


def changeable(value: Any) -> Iterator[object]:
    """Every struct of a state that can change, wherever it is reached, in order."""
    if isinstance(value, msgspec.Struct):
        if not value.__struct_config__.frozen:
            yield value
        for name in value.__struct_fields__:
            yield from changeable(getattr(value, name))
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from changeable(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from changeable(each)


def shared(run: Run) -> list[int]:
    """Which places of a state hold one and the same struct: what one changes, the other sees."""
    number: dict[int, int] = {}
    places = [each for name in Run.__slots__ for each in changeable(getattr(run, name))]
    return [number.setdefault(id(each), len(number)) for each in places]


def check(run_id: str, facts: list[Fact], places: list[int]) -> None:
    """Fold facts, and on the way write and read the state at some places."""
    run, whole = Run(run_id), Run(run_id)
    for start, end in pairwise([0, *places, len(facts)]):
        for fact in facts[start:end]:
            evolve(run, fact)
            evolve(whole, fact)
        again = read_back(run)
        assert snapshot(again) == snapshot(whole)
        assert types(again) == types(whole)
        assert shared(again) == shared(whole)
        run = again
    assert snapshot(run) == snapshot(fold(run_id, facts))


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_a_state_survives_being_written_at_any_moment(seed: int) -> None:
    random = Random(seed)
    facts = stored(walk(seed, events=60).facts)
    check("run", facts, sorted(random.choices(range(len(facts)), k=8)))
