"""Replaying what a journal holds, and comparing states down to their last field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from midcourse.domain.evolve import fold
from midcourse.domain.facts import Fact
from midcourse.domain.run import Run
from midcourse.domain.run_fields import RunFields


def stored(facts: Iterable[Fact]) -> list[Fact]:
    """Facts as they come back from a journal."""
    return [msgspec.json.decode(msgspec.json.encode(fact), type=type(fact)) for fact in facts]


def replayed(run_id: str, facts: Iterable[Fact]) -> Run:
    return fold(run_id, stored(facts))


def snapshot(value: Any) -> Any:
    """Everything a state holds, in an order that matters where its own order matters."""
    if isinstance(value, Run):
        return {name: snapshot(getattr(value, name)) for name in RunFields.__slots__}
    if isinstance(value, Mapping):
        return [(key, snapshot(each)) for key, each in value.items()]
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, list | tuple):
        return type(value)(snapshot(each) for each in value)
    return value
