"""Which step waits for which: the edges of a plan, and its cycles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .control import CONTROLS, outside_references, possible_outside_references
from .plan import Step
from .templates import compile_value, possible_references, references


def is_dag(tail: Sequence[Step]) -> bool:
    """Whether a tail says itself which step needs which."""
    return any(step.needs is not None for step in tail)


def edges(tail: Sequence[Step], last_executed: str = "") -> dict[str, tuple[str, ...]]:
    """Return what each step of a tail waits for.

    Without any ``needs`` the tail is a sequence: each step waits for the one before, the first for the last
    executed step. With one, it is a DAG: a step waits for its ``needs`` and for the steps its templates refer
    to.
    """
    if is_dag(tail):
        ids = {step.id for step in tail}
        return {step.id: _dag_needs(step, ids) for step in tail}
    waits: dict[str, tuple[str, ...]] = {}
    before = last_executed
    for step in tail:
        waits[step.id] = (before,) if before else ()
        before = step.id
    return waits


def _dag_needs(step: Step, ids: set[str]) -> tuple[str, ...]:
    named = step.needs or ()
    roots: set[str] = set()
    if step.tool_name in CONTROLS:
        roots |= outside_references(step) | possible_outside_references(step) & ids
        return (*named, *sorted(roots.difference(named)))
    for text in (step.input, step.operation):
        template = compile_value(text)
        roots |= references(template) - {"input", "board"} | possible_references(template) & ids
    return (*named, *sorted(roots.difference(named)))


def cycle(waits: Mapping[str, Iterable[str]]) -> list[str]:
    """Return one cycle among the steps, as a path that ends where it began, or an empty list.

    Kahn's algorithm: what cannot be peeled off from the roots holds a cycle, which is then walked.
    """
    unmet = {step: sum(1 for need in needs if need in waits) for step, needs in waits.items()}
    needed_by: dict[str, list[str]] = {}
    for step, needs in waits.items():
        for need in needs:
            needed_by.setdefault(need, []).append(step)
    peeled = [step for step, count in unmet.items() if count == 0]
    for step in peeled:
        for dependent in needed_by.get(step, ()):
            unmet[dependent] -= 1
            if unmet[dependent] == 0:
                peeled.append(dependent)
    left = set(unmet) - set(peeled)
    return _walk(waits, left) if left else []


def _walk(waits: Mapping[str, Iterable[str]], left: set[str]) -> list[str]:
    path = [min(left)]
    while True:
        following = next(need for need in waits[path[-1]] if need in left)
        if following in path:
            return [*path[path.index(following) :], following]
        path.append(following)
