"""Writing a state and reading it back, and comparing the two in what comparing states does not see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from midcourse.domain.run import Run
from midcourse.domain.run_fields import RunFields
from midcourse.domain.snapshot import Unpacking, pack

from .replay import snapshot


def read_back(run: Run) -> Run:
    unpacking = Unpacking(run.id)
    for piece in pack(run):
        unpacking.put(piece)
    return unpacking.run


def types(value: Any) -> Any:
    """What a state is made of: equal values of unlike types would act alike here and unlike elsewhere."""
    if isinstance(value, Run):
        return {name: types(getattr(value, name)) for name in RunFields.__slots__}
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
    places = [each for name in RunFields.__slots__ for each in changeable(getattr(run, name))]
    return [number.setdefault(id(each), len(number)) for each in places]


def is_kept(run: Run) -> None:
    """A state that is written and read is the same: in its values, their types, and what it shares."""
    again = read_back(run)
    assert snapshot(again) == snapshot(run)
    assert types(again) == types(run)
    assert shared(again) == shared(run)
    assert list(pack(again)) == list(pack(run)), "whoever opens it writes it the same way"
