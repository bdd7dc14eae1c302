"""Whether the steps to come can still work: what their tools need, against what is now known.

A condition's value is what the last standing operation says whose tool names it in ``post``; else a boolean
of that name on the board, then in the inputs; else false, if some tool can make it true and none did; else
unknown. The steps before a step are taken to bring about what their tools promise.

Planners may know more, through functions of their own. So only those conditions of a step are looked at that
were not known to be otherwise when its plan was accepted: a condition is broken when it *no longer* holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ..plan import Plan, Step
from ..readiness import edges
from ..run import Run
from ..tools import Catalog

Broken = tuple[str, str, str]
"""Why a plan cannot go on, with the step that cannot work and its tool."""


def guarded(
    run: Run, plan: Plan, catalog: Catalog, open_steps: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Return, by step of a new tail, the conditions to look at after every receipt.

    Args:
        run: the run before the plan is accepted.
        plan: the new tail.
        catalog: the tools.
        open_steps: those of its steps that are in flight already.
    """
    needs = {
        step.id: tuple(spec.pre)
        for step in plan.steps
        if (spec := catalog.get(step.tool_name)) is not None and spec.pre and step.id not in open_steps
    }
    if not needs:
        return {}
    at_odds: dict[str, set[str]] = {}
    for step, name, _ in _violated(run, plan.steps, needs, catalog, frozenset(plan.undo)):
        at_odds.setdefault(step.id, set()).add(name)
    kept = {
        step_id: tuple(name for name in names if name not in at_odds.get(step_id, ()))
        for step_id, names in needs.items()
    }
    return {step_id: names for step_id, names in kept.items() if names}


def first_broken(run: Run, catalog: Catalog) -> Broken | None:
    """Return the first step to come that cannot work any more, or ``None``."""
    tail = [run.steps[step] for step in run.order if step in run.unmet]
    for step, name, wanted in _violated(run, tail, run.guarded, catalog, frozenset()):
        value = str(wanted).lower()
        reason = f"step {step.id} ({step.tool_name}) needs {name} to be {value}, which no longer holds"
        return reason, step.id, step.tool_name
    return None


def _violated(
    run: Run,
    tail: Sequence[Step],
    needs: Mapping[str, Sequence[str]],
    catalog: Catalog,
    without: frozenset[str],
) -> Iterator[tuple[Step, str, bool]]:
    """Go through a tail as if all went well, and yield each need that what is known contradicts."""
    known = _known(run, {name for names in needs.values() for name in names}, catalog, without)
    for step in _in_turn(tail):
        spec = catalog.get(step.tool_name)
        if spec is None:
            continue
        for name in needs.get(step.id, ()):
            wanted = spec.pre.get(name)
            if wanted is not None and known[name] is (not wanted):
                yield step, name, wanted
        _forget_what_is_undone(run, step, known, catalog)
        for name, value in spec.post.items():
            if name in known:
                known[name] = value


def _known(
    run: Run, names: Iterable[str], catalog: Catalog, without: frozenset[str]
) -> dict[str, bool | None]:
    open_names = set(names)
    known: dict[str, bool | None] = {}
    for entry in reversed(run.ledger.values()):
        if not open_names:
            break
        spec = catalog.get(entry.tool)
        if entry.state != "committed" or entry.key in without or spec is None:
            continue
        for name in open_names & spec.post.keys():
            known[name] = spec.post[name]
            open_names.discard(name)
    settable = {name for spec in catalog for name, value in spec.post.items() if value}
    for name in open_names:
        known[name] = _default(run, name, is_settable=name in settable)
    return known


def _default(run: Run, name: str, *, is_settable: bool) -> bool | None:
    for values in (run.board, run.goal.inputs):
        value = values.get(name)
        if isinstance(value, bool):
            return value
    return False if is_settable else None


def _forget_what_is_undone(run: Run, step: Step, known: dict[str, bool | None], catalog: Catalog) -> None:
    entry = run.ledger.get(step.undoes) if step.undoes else None
    spec = catalog.get(entry.tool) if entry is not None else None
    for name in spec.post if spec is not None else ():
        if name in known:
            known[name] = None


def _in_turn(tail: Sequence[Step]) -> Iterator[Step]:
    """Yield the steps of a tail, each after those it waits for."""
    by_id = {step.id: step for step in tail}
    waits = {step: [need for need in needs if need in by_id] for step, needs in edges(tail).items()}
    unmet = {step: len(needs) for step, needs in waits.items()}
    needed_by: dict[str, list[str]] = {}
    for step, needs in waits.items():
        for need in needs:
            needed_by.setdefault(need, []).append(step)
    turn = [step for step, count in unmet.items() if not count]
    for step in turn:
        yield by_id[step]
        for dependent in needed_by.get(step, ()):
            unmet[dependent] -= 1
            if not unmet[dependent]:
                turn.append(dependent)
