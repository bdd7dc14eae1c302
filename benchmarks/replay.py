"""How many facts a second are read from SQLite, decoded and folded into the state of a run?

The yardstick is an aggregate of the ``eventsourcing`` library as its tutorial has it, with as many events of
the same content in its own SQLite file.
"""

from __future__ import annotations

import asyncio
import gc
import time
from pathlib import Path
from typing import Any
from uuid import UUID

from _bench import Options, emit, median, parse, parser, ratio, scratch, url_of
from _workload import carry, nothing, sequence
from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

from midcourse import Engine
from midcourse.domain.evolve import evolve
from midcourse.domain.run import Run
from midcourse.store import Journal, open_journal

RUNS_AT_ONCE = 20


class StockRun(Aggregate):
    """A run as the library's own documentation would write it."""

    def __init__(self, goal: str) -> None:
        self.goal = goal
        self.running: dict[str, dict[str, Any]] = {}
        self.ledger: dict[str, dict[str, Any]] = {}

    @event("StepStarted")
    def start_step(self, step: str, operation: str, tool: str, input: dict[str, Any], digest: str) -> None:
        self.running[operation] = {"step": step, "tool": tool, "input": input, "digest": digest}

    @event("StepCompleted")
    def complete_step(self, step: str, operation: str, attempt: int, result: Any) -> None:
        started = self.running.pop(operation)
        self.ledger[operation] = {**started, "step": step, "attempt": attempt, "result": result}


async def make_ours(path: Path, runs: int, steps: int) -> None:
    async with Engine(url_of(path), tools=[nothing]) as engine:
        await carry(engine, [sequence(steps)] * runs, RUNS_AT_ONCE)


async def run_ids(journal: Journal) -> list[str]:
    return [run.run_id for run in (await journal.list(limit=10_000)).runs]


def fold_offline(journal: Journal, ids: list[str]) -> int:
    facts = 0
    for run_id in ids:
        run = Run(run_id)
        for batch in journal.read_batches(run_id):
            for record in batch:
                evolve(run, record.fact)
        facts += run.version
    return facts


async def fold_on_a_loop(journal: Journal, ids: list[str]) -> int:
    facts = 0
    for run_id in ids:
        run = Run(run_id)
        async for batch in journal.batches(run_id):
            for record in batch:
                evolve(run, record.fact)
        facts += run.version
    return facts


def stock(path: Path) -> Application[UUID]:
    return Application(
        env={
            "PERSISTENCE_MODULE": "eventsourcing.sqlite",
            "SQLITE_DBNAME": str(path),
            "AGGREGATE_CACHE_MAXSIZE": "",
        }
    )


def make_stock(path: Path, runs: int, events: int) -> list[UUID]:
    """Record runs side by side, so that the rows of one lie as far apart as ours."""
    application, ids = stock(path), []
    for first in range(0, runs, RUNS_AT_ONCE):
        group = [StockRun(goal=f"Run {number}") for number in range(first, min(first + RUNS_AT_ONCE, runs))]
        for n in range((events - 1) // 2):
            operation = f"user__nothing:{n:024x}.0"
            for run in group:
                run.start_step(f"s{n}", operation, "user__nothing", {"n": n}, f"{n:024x}")
                run.complete_step(f"s{n}", operation, 1, n)
            application.save(*group)
        ids += [run.id for run in group]
    application.close()
    return ids


def replay_stock(path: Path, ids: list[UUID]) -> tuple[int, float]:
    application = stock(path)
    gc.collect()
    start = time.perf_counter()
    events = sum(application.repository.get(run_id).version for run_id in ids)
    took_s = time.perf_counter() - start
    application.close()
    return events, took_s


def replay_ours(path: Path) -> tuple[int, float, float]:
    with open_journal(url_of(path), read_only=True) as journal:
        ids = asyncio.run(run_ids(journal))
        gc.collect()
        start = time.perf_counter()
        facts = fold_offline(journal, ids)
        offline_s = time.perf_counter() - start
        gc.collect()
        start = time.perf_counter()
        asyncio.run(fold_on_a_loop(journal, ids))
        return facts, offline_s, time.perf_counter() - start


def measure(folder: Path, options: Options, steps: int) -> None:
    runs = max(1, options.size // (2 * steps))
    ours, theirs = folder / f"ours-{steps}.db", folder / f"stock-{steps}.db"
    asyncio.run(make_ours(ours, runs, steps))
    facts = replay_ours(ours)[0]
    ids = make_stock(theirs, runs, facts // runs)
    offline, on_a_loop, library = [], [], []
    for _ in range(options.rounds):
        facts, offline_s, on_a_loop_s = replay_ours(ours)
        events, library_s = replay_stock(theirs, ids)
        offline.append(facts / offline_s)
        on_a_loop.append(facts / on_a_loop_s)
        library.append(events / library_s)
    emit(
        "replay",
        f"runs of {steps} steps",
        options,
        runs=runs,
        facts=facts,
        facts_per_s=median(offline),
        on_a_loop_per_s=median(on_a_loop),
        stock_events_per_s=median(library),
        against_stock=ratio(offline, library),
        each_per_s=offline,
    )


def main() -> None:
    options = parse(parser(__doc__, size=40_000, unit="facts"), quick_size=80)
    with scratch(options) as folder:
        for steps in (20, 1_000):
            if 2 * steps <= options.size:
                measure(folder, options, steps)


if __name__ == "__main__":
    main()
