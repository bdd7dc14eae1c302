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
from midcourse.domain.evolve import evolve, fold
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
        problems: what is wrong with their hash chain.
        calls: every call the world received.
        effects: everything they brought about.
        duplicates: operations that had their effect more than once.
        stock_left: pieces on the shelf.
        taken_cents: money taken less money given back.
    """

    records: list[Record]
    problems: list[Problem]
    calls: list[Call]
    effects: list[Effect]
    duplicates: list[Duplicate]
    stock_left: dict[str, int]
    taken_cents: int

    @property
    def run(self) -> Run:
        """The state the facts amount to."""
        return fold(self.records[0].run_id, (record.fact for record in self.records))


def read_books(folder: Path) -> Books:
    """Read what is on disk; the process that wrote it has ended."""
    with World(folder / WORLD) as world:
        summary = world.summary()
        calls, effects, duplicates = world.calls(), world.effects(), world.duplicates()
    with open_journal(f"sqlite:///{(folder / STORE).absolute()}", read_only=True) as journal:
        runs = asyncio.run(journal.list()).runs
        records = [record for run in runs for batch in journal.read_batches(run.run_id) for record in batch]
        problems = list(journal.verify())
    return Books(records, problems, calls, effects, duplicates, summary.stock_left, summary.taken_cents)


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
    assert _repeated_starts(books.records) == [], "an operation was started again though it must not be"
    assert _rewritten_prefixes(books.records) == [], "a revision moved executed steps"
    assert _undos_out_of_order(books.records) == [], "undos were issued in another than the reverse order"
    assert _asked_in_vain(books.records) == [], "approval was asked for of a step that had begun"
    run = books.run
    done = {undo.key for undo in run.undos.values() if undo.state == "done"}
    lasting = {entry.key for entry in run.ledger.values() if entry.effect != "read"}
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
        if isinstance(record.fact, (f.StepCompleted, f.ReceiptArrivedLate, f.OutcomeSettled)):
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
        for entry in books.run.ledger.values()
        if entry.effect != "read" and entry.receipt.result != msgspec.json.decode(answers[entry.key])
    ]


# ------------------------------------------------------------------------------------- laws of a crash


def check_wreck(wreck: Books) -> None:
    """Check what holds of whatever a killed process leaves behind."""
    assert wreck.problems == [], "the hash chain does not verify"
    assert wreck.duplicates == [], "an operation had its effect more than once"
    starts = Counter(record.fact.operation for record in wreck.records if isinstance(record.fact, _STARTS))
    calls = Counter(call.operation for call in wreck.calls)
    unannounced = {key: count for key, count in calls.items() if count > starts[key]}
    assert unannounced == {}, "a tool was called before the fact that it is started was durable"


def check_recovery(wreck: Books, rest: Books) -> None:
    """Check that what was on disk stayed, and that nothing with a receipt was called again."""
    assert [each.hash for each in rest.records[: len(wreck.records)]] == [each.hash for each in wreck.records]
    assert rest.calls[: len(wreck.calls)] == wreck.calls
    receipts = {record.fact.operation for record in wreck.records if isinstance(record.fact, _RECEIPTS)}
    receipts |= {
        record.fact.operation
        for record in wreck.records
        if isinstance(record.fact, f.OutcomeSettled) and record.fact.happened
    }
    again = [call for call in rest.calls[len(wreck.calls) :] if call.operation in receipts]
    assert again == [], "an operation with a receipt was called again"
