"""The planner's briefing: a run as a planning call may see it.

What leaves here for planners and people is theirs: it shares nothing that can be changed with the run, whose
state is what its facts say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from .copies import SCALARS, copied
from .goal import Goal
from .ledger import Committed, Operation
from .plan import Step
from .planning import LedgerEntry, OpenOperation, PlanningContext, SignalEntry
from .receipt import Receipt
from .run import Run
from .tools import Catalog

_NUMBERED = re.compile(r"E(\d+)\Z")


def brief(run: Run, catalog: Catalog) -> PlanningContext:
    """Return what the planner of a run is told now."""
    ledger = tuple(ledger_entry(entry) for entry in run.ledger.values())
    open_ = open_steps(run) if run.running else {}
    return PlanningContext(
        run_id=run.id,
        goal=goal(run),
        epoch=run.epoch,
        revision=run.revision,
        is_replanning=run.revision > 0,
        reason=run.owed.reason if run.owed else "start",
        board=copied(run.board),
        signals=signals(run),
        ledger=ledger,
        constraints=(
            *(e for e in ledger if e.effect == "irreversible" and e.state == "committed"),
            *_kept_by_children(run),
        ),
        executed=tuple(_step(run.steps[step]) for step in run.order if step in run.done),
        superseded=tuple(
            _step(run.steps[step]) for step in run.order if step not in run.done and step not in open_
        ),
        failures=tuple(run.failures),
        excluded=run.excluded,
        next_id=next_id(run),
        tools=catalog.for_planners(),
        refusals=tuple(run.refusals),
        askers=tuple(run.askers),
        gaps=run.gaps,
        revisions=tuple(run.revisions),
        open_operations=tuple(
            OpenOperation(_step(run.steps[step]), operation.key, copied(operation.input), operation.effect)
            for step, operation in open_.items()
        ),
    )


def open_steps(run: Run) -> dict[str, Operation]:
    """Return the operations in flight that a new plan may keep, by step."""
    return {
        operation.step: operation
        for operation in run.running.values()
        if operation.on_replan == "adopt" and operation.key not in run.orphans and not operation.is_left
    }


def _kept_by_children(run: Run) -> Iterator[LedgerEntry]:
    """Yield the irreversible effects of child runs, as entries of the step that each was started for."""
    for child in run.family.values():
        for kept in child.kept:
            yield LedgerEntry(
                kept.operation, child.step, kept.tool, copied(kept.input), _receipt(kept.receipt),
                "irreversible", "committed", "", run.version,
            )  # fmt: skip


def ledger_entry(entry: Committed) -> LedgerEntry:
    """Return a committed operation as planners and people see it."""
    return LedgerEntry(
        entry.key, entry.step, entry.tool, copied(entry.input), _receipt(entry.receipt), entry.effect,
        entry.state, entry.takes_back, entry.version,
    )  # fmt: skip


def goal(run: Run) -> Goal:
    """Return the goal of a run as planners and people see it."""
    return Goal(run.goal.text, copied(run.goal.inputs), run.goal.requirements)


def signals(run: Run) -> tuple[SignalEntry, ...]:
    """Return the signals since the last accepted plan as planners and people see them."""
    return tuple(replace(signal, payload=copied(signal.payload)) for signal in run.signals)


def _receipt(receipt: Receipt) -> Receipt:
    if receipt.undo_input is None and receipt.result.__class__ in SCALARS:
        return receipt  # nothing in it can be changed
    return Receipt(copied(receipt.result), receipt.resources, copied(receipt.undo_input), receipt.observed_at)


def _step(step: Step) -> Step:
    return replace(step, input=copied(step.input))


def next_id(run: Run) -> int:
    """Return the number from which step ids ``E{n}`` are free."""
    numbers = (_NUMBERED.match(step) for step in (*run.started, *run.order))
    return max((int(match[1]) for match in numbers if match), default=-1) + 1
