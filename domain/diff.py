"""How two plans differ: what a revision keeps, adds, supersedes and undoes, and how stable it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from .ids import canonical
from .plan import Step


class PlanDiff(msgspec.Struct, frozen=True):
    """How a plan differs from an earlier one of the same run.

    Args:
        kept: steps of both, executed or in flight, in their positions.
        same: steps to come of both, whatever their ids: pairs of the earlier and the later one.
        added: steps of the later plan only.
        superseded: steps of the earlier plan only.
        undone: operations that are taken back on the way from one to the other.
        stability: how many steps differ, |π∖π′|+|π′∖π|.
    """

    kept: tuple[Step, ...]
    same: tuple[tuple[Step, Step], ...]
    added: tuple[Step, ...]
    superseded: tuple[Step, ...]
    undone: tuple[str, ...] = ()

    @property
    def stability(self) -> int:
        """How many steps differ between the two: M. Fox, A. Gerevini, D. Long, I. Serina, ICAPS 2006."""
        return len(self.added) + len(self.superseded)


def diff(
    earlier: Sequence[Step], later: Sequence[Step], *, kept: Iterable[str] = (), undone: Iterable[str] = ()
) -> PlanDiff:
    """Compare two plans.

    Steps are the same if they call the same tool with the same input: a plan that only names them anew is no
    other plan.

    Args:
        earlier: the steps of the earlier plan.
        later: the steps of the later plan.
        kept: ids of the steps that the later plan keeps in their places.
        undone: operations taken back.
    """
    keeps = frozenset(kept)
    left: dict[bytes, list[Step]] = {}
    for step in earlier:
        if step.id not in keeps:
            left.setdefault(_content(step), []).append(step)
    same, added = [], []
    for step in later:
        if step.id in keeps:
            continue
        twins = left.get(_content(step))
        if twins:
            same.append((twins.pop(0), step))
        else:
            added.append(step)
    gone = {id(step) for steps in left.values() for step in steps}
    return PlanDiff(
        tuple(step for step in later if step.id in keeps),
        tuple(same),
        tuple(added),
        tuple(step for step in earlier if id(step) in gone),
        tuple(undone),
    )


def stability(old: Sequence[Step], new: Sequence[Step]) -> int:
    """Return how many steps differ, |π∖π′|+|π′∖π|, without pairing them."""
    if not old:
        return len(new)
    before, after = Counter(map(_content, old)), Counter(map(_content, new))
    return (before - after).total() + (after - before).total()


def _content(step: Step) -> bytes:
    return canonical([step.tool_name, step.input])
