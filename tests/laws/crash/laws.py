"""What has to hold of a run that was killed and taken up again: its facts, and what the world saw of it."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from midcourse import Record, open_journal
from midcourse.actors.testing.crash import STORE
from midcourse.domain import facts as f
from midcourse.domain.children import PLAN_AND_EXECUTE, TAKE_BACK
from midcourse.domain.evolve import evolve, fold
from midcourse.domain.ledger import Committed
from midcourse.domain.run import Run
from midcourse.domain.view import view
from midcourse.examples.order.calls import Call, Duplicate
from midcourse.examples.order.effects import Effect
from midcourse.examples.order.world import World
from midcourse.store import Problem

from .stage import WORLD

_STARTS = (f.StepStarted, f.AttemptStarted, f.CompensationStarted)
_VERSION = re.compile(r"version \d+")
_RECEIPTS = (f.StepCompleted, f.ReceiptArrivedLate, f.CompensationCompleted)


class Books(NamedTuple):
    """What is on disk of a run and of its world.

    Attributes:
        records: the facts of the run; none, where it was not even started.
        below: the facts of each child run, in the order they were started.
        problems: what is wrong with their hash chain.
        calls: every call the world received.
        effects: everything they brought about.
        duplicates: operations that had their effect more than once.
        stock_left: pieces on the shelf.
        taken_cents: money taken less money given back.
    """

    records: list[Record]
    below: list[list[Record]]
    problems: list[Problem]
    calls: list[Call]
    effects: list[Effect]
    duplicates: list[Duplicate]
    stock_left: dict[str, int]
    taken_cents: int

    @property
    def run(self) -> Run:
        """The state the facts amount to."""
        return folded(self.records)

    @property
    def streams(self) -> list[list[Record]]:
        """The facts of the run, and of its child runs."""
        return [self.records, *self.below]

    @property
    def all_records(self) -> list[Record]:
        """The facts of all of them."""
        return [record for stream in self.streams for record in stream]


def folded(records: Sequence[Record]) -> Run:
    """The state the facts of one run amount to."""
    return fold(records[0].run_id, (record.fact for record in records))


def read_books(folder: Path) -> Books:
    """Read what is on disk; the process that wrote it has ended."""
    with World(folder / WORLD) as world:
        summary = world.summary()
        calls, effects, duplicates = world.calls(), world.effects(), world.duplicates()
    with open_journal(f"sqlite:///{(folder / STORE).absolute()}", read_only=True) as journal:
        runs = asyncio.run(journal.list()).runs
        of_run = {
            run.run_id: [record for batch in journal.read_batches(run.run_id) for record in batch]
            for run in runs
        }
        root = next((run.run_id for run in runs if run.key), "")
        below = [of_run[run] for run in sorted(of_run) if run != root]
        problems = list(journal.verify())
    return Books(
        of_run.get(root, []),
        below,
        problems,
        calls,
        effects,
        duplicates,
        summary.stock_left,
        summary.taken_cents,
    )


def picture(books: Books) -> dict[str, Any]:
    """What must be equal, however often the run was interrupted.

    Not in it, because a crash may change them: versions and times, numbers of attempts, how often a planner
    was asked or refused, and the order of what happens side by side, with the ids the world counts up in that
    order.
    """
    state = view(books.run)
    return {
        "status": state.status,
        "failure": (state.failure.kind, state.failure.message) if state.failure else None,
        "revision": state.revision,
        "replans": state.replans,
        "steps": [(step.id, step.tool, step.state, step.operation) for step in state.steps],
        "ledger": sorted((each.operation, each.step, each.tool, each.state) for each in state.ledger),
        "undos": sorted((undo.operation, undo.cause, undo.state) for undo in state.undos),
        "board": state.board,
        "attention": [
            (item.kind, _VERSION.sub("version", item.subject), item.detail) for item in state.attention
        ],
        "children": sorted(
            (child.goal.text, child.status, [(each.id, each.state, each.operation) for each in child.steps])
            for child in map(view, map(folded, books.below))
        ),
        "stock left": books.stock_left,
        "taken cents": books.taken_cents,
        "effects": sorted(
            (each.operation, each.kind, each.amount, each.detail, each.undone_by or "")
            for each in books.effects
        ),
    }


# -------------------------------------------------------------------------------------- laws of any books


def check_books(books: Books, live: Iterable[Any]) -> None:
    """Check what holds of any run that has come to rest.

    Args:
        books: what is on disk.
        live: states of the run as an engine had them in memory.
    """
    assert books.problems == [], "the hash chain does not verify"
    assert books.duplicates == [], "an operation had its effect more than once"
    assert _not_folded(books.records, live) == [], "a state in memory was not the fold of the facts"
    for records in books.streams:
        assert _repeated_starts(records) == [], "an operation was started again though it must not be"
        assert _rewritten_prefixes(records) == [], "a revision moved executed steps"
        assert _undos_out_of_order(records) == [], "undos were issued in another than the reverse order"
        assert _asked_in_vain(records) == [], "approval was asked for of a step that had begun"
    runs = [folded(records) for records in books.streams]
    done = {
        undo.key
        for run in runs
        for undo in run.undos.values()
        if undo.state == "done" and undo.tool != TAKE_BACK
    }
    lasting = {entry.key for entry in _effects(books)}
    assert lasting | done == {each.operation for each in books.effects}, "forgotten, or made up"
    assert _false_receipts(books) == [], "a receipt is not what the world answered"


def _not_folded(records: Sequence[Record], live: Iterable[Any]) -> list[str]:
    """Return the versions and fields in which a state in memory was not the fold of the facts."""
    in_memory = {state["version"]: state for state in live}
    run = Run(records[0].run_id)
    wrong = []
    for record in records:
        evolve(run, record.fact)
        if run.version in in_memory:
            folded = msgspec.to_builtins(view(run))
            now = in_memory[run.version]
            wrong += [f"{run.version}: {field}" for field in folded if folded[field] != now[field]]
    return wrong


def _repeated_starts(records: Sequence[Record]) -> list[str]:
    """Return operations started after their receipt, or while nobody knew whether they had happened."""
    closed: set[str] = set()
    wrong = []
    for record in records:
        match record.fact:
            case fact if isinstance(fact, _STARTS):
                if fact.operation in closed:
                    wrong.append(f"{record.version}: {fact.operation}")
            case f.OutcomeSettled(operation=operation, happened=False):
                closed.discard(operation)
            case fact if isinstance(fact, (*_RECEIPTS, f.OutcomeUnknown)):
                closed.add(fact.operation)
            case _:
                pass
    return wrong


def _rewritten_prefixes(records: Sequence[Record]) -> list[int]:
    """Return revisions that do not begin with the executed steps, in the order they had before."""
    run = Run(records[0].run_id)
    before: tuple[str, ...] = ()
    wrong = []
    for record in records:
        if isinstance(record.fact, f.PlanAccepted):
            kept = tuple(record.fact.kept)
            executed = {step for step in run.done if "/" not in step}  # a body goes with the step it is in
            if kept[: len(before)] != before or set(kept) != executed:
                wrong.append(record.fact.revision)
            before = kept
        evolve(run, record.fact)
    return wrong


def _undos_out_of_order(records: Sequence[Record]) -> list[int]:
    """Return versions at which an undo was issued right after that of an older effect."""
    committed: dict[str, int] = {}
    wrong = []
    before = 0
    for record in records:
        if isinstance(record.fact, f.CompensationIssued):
            if before and committed[record.fact.of] > before:
                wrong.append(record.version)
            before = committed[record.fact.of]
            continue
        before = 0
        if isinstance(record.fact, (f.StepCompleted, f.ReceiptArrivedLate, f.OutcomeSettled, f.ChildEnded)):
            committed[record.fact.operation] = record.version
    return wrong


def _asked_in_vain(records: Sequence[Record]) -> list[int]:
    """Return versions at which approval was asked for of a step that is under way, or done."""
    run = Run(records[0].run_id)
    wrong = []
    for record in records:
        if isinstance(record.fact, f.ApprovalRequested) and record.fact.step:
            open_steps = (*run.running.values(), *run.backoff.values(), *run.unknown.values())
            if record.fact.step in (*run.done, *(operation.step for operation in open_steps)):
                wrong.append(record.version)
        evolve(run, record.fact)
    return wrong


def _false_receipts(books: Books) -> list[str]:
    answers = {call.operation: call.outcome for call in books.calls if call.was_effect}
    return [
        entry.key
        for entry in _effects(books)
        if entry.receipt.result != msgspec.json.decode(answers[entry.key])
    ]


def _effects(books: Books) -> list[Committed]:
    """Return what the run and its child runs did to the world; a child run itself is no effect."""
    entries = (entry for records in books.streams for entry in folded(records).ledger.values())
    return [entry for entry in entries if entry.effect != "read" and entry.tool != PLAN_AND_EXECUTE]


# ------------------------------------------------------------------------------------- laws of a crash


def check_wreck(wreck: Books) -> None:
    """Check what holds of whatever a killed process leaves behind."""
    assert wreck.problems == [], "the hash chain does not verify"
    assert wreck.duplicates == [], "an operation had its effect more than once"
    starts = Counter(
        record.fact.operation for record in wreck.all_records if isinstance(record.fact, _STARTS)
    )
    calls = Counter(call.operation for call in wreck.calls)
    unannounced = {key: count for key, count in calls.items() if count > starts[key]}
    assert unannounced == {}, "a tool was called before the fact that it is started was durable"


def check_recovery(wreck: Books, rest: Books) -> None:
    """Check that what was on disk stayed, and that nothing with a receipt was called again."""
    lasting = {records[0].run_id: records for records in rest.streams}
    for records in wreck.streams if wreck.records else ():
        kept = lasting[records[0].run_id][: len(records)]
        assert [each.hash for each in kept] == [each.hash for each in records]
    assert rest.calls[: len(wreck.calls)] == wreck.calls
    receipts = {record.fact.operation for record in wreck.all_records if isinstance(record.fact, _RECEIPTS)}
    receipts |= {
        record.fact.operation
        for record in wreck.all_records
        if isinstance(record.fact, f.OutcomeSettled) and record.fact.happened
    }
    again = [call for call in rest.calls[len(wreck.calls) :] if call.operation in receipts]
    assert again == [], "an operation with a receipt was called again"
