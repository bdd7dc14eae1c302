"""Steps that a proposal lists again under an id that was started before.

A step that is done and listed as it was is kept: its position and its evidence stay, and the tail goes on
without it. One that was started and is not done may be tried again, if it is the same step still.
An id that stands for something else is a problem: its evidence could be read in two ways.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ..ids import canonical
from ..plan import Plan, Step
from ..run import Run
from ..tails import rest_of


def leave_out_done(run: Run, plan: Plan) -> tuple[Plan, tuple[str, ...]]:
    """Return a plan without the done steps that it lists as they were, and the ids of these steps."""
    kept: dict[str, None] = {}
    rest: list[Step] = []
    for step in plan.steps:
        if step.id in run.done and step.id not in kept and not reuse_problem(run, plan, step):
            kept[step.id] = None
        else:
            rest.append(step)
    if not kept:
        return plan, ()
    return msgspec.structs.replace(plan, steps=rest_of(plan.steps, rest)), tuple(kept)


def reuse_problem(run: Run, plan: Plan, step: Step) -> str:
    """Return why a step may not have its id, or nothing where it may."""
    before = run.started.get(step.id)
    if before is None:
        return ""
    is_done = step.id in run.done
    changes = " and ".join(_changes(before, step))
    if changes and is_done:
        return (
            f"step {step.id!r} is done with {changes}; it keeps its place: leave it out or list it as it "
            "was, and give another step a new id"
        )
    if changes:
        return f"step {step.id!r} was started with {changes}; give the changed step a new id"
    if is_done and not _stands(run, plan, run.done[step.id]):
        return (
            f"step {step.id!r} is done and its effect is taken back; leave it out, or give it a new id to "
            "have it done again"
        )
    return ""


def _changes(before: Step, now: Step) -> Iterator[str]:
    """Yield what was different about a step when it was started."""
    if before.tool_name != now.tool_name:
        yield "another tool"
    if canonical(before.input) != canonical(now.input):
        yield "other arguments"
    if (before.needs or ()) != (now.needs or ()):
        yield "other needs"
    if before.operation != now.operation:
        yield "another operation"
    if before.again != now.again or before.undoes != now.undoes:
        yield "other values of again and undoes"


def _stands(run: Run, plan: Plan, key: str) -> bool:
    entry = run.ledger.get(key)
    return key not in plan.undo and (entry is None or entry.state == "committed")
