"""What does SIGKILL cost? 200 runs are half done when their process is killed; another finishes them.

Half of the steps call a tool that is idempotent, half one that is not and can be probed. Every call is
written to a file outside before the tool returns, so a repeat shows whatever the store says. Counted are
calls of operations that already had a receipt, repeats of those that must not be repeated, and steps that
were never called. The yardstick is the same engine uncrashed, from the moment its runs are half done to
their end; times are per remaining step.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from _bench import Options, emit, median, parse, parser, scratch, url_of

from midcourse import Engine, Goal, Plan, Step, ToolContext, tool
from midcourse.domain.evolve import evolve
from midcourse.domain.run import Run
from midcourse.store import Journal, RunFilter, open_journal

STEPS = 20


class Call(NamedTuple):
    """A line of the record outside."""

    operation: str
    run: int
    n: int


class Outside:
    """The world: every call is an effect, and a line in a file that the killed process leaves behind."""

    def __init__(self, path: Path, half: int) -> None:
        self.calls = len(path.read_bytes().splitlines()) if path.exists() else 0
        self.half_at = 0.0
        self.known = {call.operation for call in calls_in(path)}
        self._half = half
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def call(self, operation: str, run: int, n: int) -> None:
        os.write(self._file, f"{operation} {run} {n}\n".encode())
        self.known.add(operation)
        self.calls += 1
        if self.calls == self._half and not self.half_at:
            self.half_at = time.time()
            print("half", flush=True)


def calls_in(path: Path) -> list[Call]:
    if not path.exists():
        return []
    lines = (line.split() for line in path.read_text("utf-8").splitlines())
    return [Call(operation, int(run), int(n)) for operation, run, n in lines]


# -------------------------------------------------------------------------------- in the worker


async def work(folder: Path, runs: int) -> None:
    """Start the runs, or go on with those there are, and print when what happened."""
    outside = Outside(folder / "calls.txt", runs * STEPS // 2)

    @tool(effect="irreversible", idempotent=True)
    async def put(run: int, n: int, *, context: ToolContext) -> int:
        outside.call(context.operation, run, n)
        return n

    async def was_sent(operation: str) -> int | None:
        return 1 if operation in outside.known else None

    @tool(effect="irreversible", probe=was_sent)
    async def send(run: int, n: int, *, context: ToolContext) -> int:
        outside.call(context.operation, run, n)
        return n

    opened_at = time.time()
    async with Engine(url_of(folder / "store.db"), tools=[put, send]) as engine:
        if outside.calls:
            handles = [engine.run(run.run_id) for run in (await engine.runs(limit=runs)).runs]
        else:
            starts = (engine.start(Goal(f"Run {n}"), plan=plan_of(n)) for n in range(runs))
            handles = await asyncio.gather(*starts)
        outcomes = await asyncio.gather(*(handle.outcome() for handle in handles))
        finished_at = time.time()
    statuses = Counter(outcome.status for outcome in outcomes)
    print(
        json.dumps(
            {
                "opened_at": opened_at,
                "half_at": outside.half_at,
                "finished_at": finished_at,
                "statuses": dict(statuses),
            }
        )
    )


def plan_of(run: int) -> Plan:
    steps = (Step(id=f"s{n}", tool_name=tool_of(run, n), input={"run": run, "n": n}) for n in range(STEPS))
    return Plan(tuple(steps))


def tool_of(run: int, n: int) -> str:
    """Return the tool of a step: whenever the process dies, half of what is in flight is of each."""
    return "put" if (run + n) % 2 else "send"


# -------------------------------------------------------------------------------- in the parent


class Recovery(NamedTuple):
    """What became of runs whose process was killed.

    Args:
        per_step_s: from opening the store to the last outcome, per remaining step.
        per_step_from_spawn_s: the same from the start of the process.
        with_receipt: operations called again although their receipt was durable.
        not_idempotent: operations called twice although they must not be.
        idempotent: operations without a receipt called twice, which they allow.
        forgotten: steps never called, and runs that did not complete.
        in_doubt: operations in flight when the process was killed.
        remaining: steps called after the kill.
    """

    per_step_s: float
    per_step_from_spawn_s: float
    with_receipt: int
    not_idempotent: int
    idempotent: int
    forgotten: int
    in_doubt: int
    remaining: int


def worker(folder: Path, runs: int) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, "--worker", str(folder), "--size", str(runs)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def last_line(process: subprocess.Popen[str]) -> dict[str, Any]:
    output, _ = process.communicate()
    assert process.returncode == 0, f"the worker failed with {process.returncode}"
    report: dict[str, Any] = json.loads(output.splitlines()[-1])
    return report


def uncrashed(folder: Path, runs: int) -> float:
    """Return the seconds a step takes in the second half."""
    folder.mkdir()
    report = last_line(worker(folder, runs))
    return float(report["finished_at"] - report["half_at"]) / (runs * STEPS - runs * STEPS // 2)


def crashed(folder: Path, runs: int) -> Recovery:
    folder.mkdir()
    process = worker(folder, runs)
    assert process.stdout is not None
    assert process.stdout.readline() == "half\n"
    process.kill()
    process.wait()
    process.stdout.close()
    before = calls_in(folder / "calls.txt")
    receipts, in_doubt = asyncio.run(known_to_the_store(folder / "store.db"))
    spawned_at = time.time()
    report = last_line(worker(folder, runs))
    after = calls_in(folder / "calls.txt")[len(before) :]
    times = Counter((call.run, call.n) for call in before + after)
    repeated = {step for step, count in times.items() if count > 1}
    committed = {(call.run, call.n) for call in before if call.operation in receipts}
    with_receipt = {(call.run, call.n) for call in after} & committed
    return Recovery(
        per_step_s=(report["finished_at"] - report["opened_at"]) / len(after),
        per_step_from_spawn_s=(report["finished_at"] - spawned_at) / len(after),
        with_receipt=len(with_receipt),
        not_idempotent=sum(tool_of(*step) == "send" for step in repeated),
        idempotent=sum(tool_of(*step) == "put" for step in repeated - with_receipt),
        forgotten=runs * STEPS - len(times) + unfinished(folder / "store.db", runs),
        in_doubt=in_doubt,
        remaining=len(after),
    )


async def known_to_the_store(path: Path) -> tuple[set[str], int]:
    """Return the operations with a durable receipt, and how many were in flight."""
    receipts: set[str] = set()
    in_doubt = 0
    async with open_journal(url_of(path), read_only=True) as journal:
        for indexed in (await journal.list(limit=10_000)).runs:
            run = await folded(journal, indexed.run_id)
            receipts |= run.ledger.keys()
            in_doubt += len(run.running)
    return receipts, in_doubt


async def folded(journal: Journal, run_id: str) -> Run:
    run = Run(run_id)
    for record in await journal.read(run_id):
        evolve(run, record.fact)
    return run


def unfinished(path: Path, runs: int) -> int:
    with open_journal(url_of(path), read_only=True) as journal:
        completed = asyncio.run(journal.list(RunFilter(statuses=("completed",)), limit=10_000)).runs
    return runs - len(completed)


def measure(folder: Path, options: Options) -> None:
    rest, recoveries = [], []
    for n in range(options.rounds):
        rest.append(uncrashed(folder / f"uncrashed-{n}", options.size))
        recoveries.append(crashed(folder / f"crashed-{n}", options.size))
    emit(
        "recover",
        f"{options.size} runs",
        options,
        runs=options.size,
        steps=options.size * STEPS,
        repeats_with_receipt=sum(r.with_receipt for r in recoveries),
        repeats_not_idempotent=sum(r.not_idempotent for r in recoveries),
        repeats_allowed=sum(r.idempotent for r in recoveries),
        forgotten=sum(r.forgotten for r in recoveries),
        in_doubt=sum(r.in_doubt for r in recoveries),
        time_ratio=median(r.per_step_s for r in recoveries) / median(rest),
        time_ratio_from_spawn=median(r.per_step_from_spawn_s for r in recoveries) / median(rest),
        uncrashed_us_per_step=median(rest) * 1e6,
        recovered_us_per_step=median(r.per_step_s for r in recoveries) * 1e6,
        remaining_steps=[float(r.remaining) for r in recoveries],
        bytecode_kept=not sys.dont_write_bytecode,
    )


def main() -> None:
    arguments = parser(__doc__, size=200, unit="runs")
    arguments.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parse(arguments, quick_size=4)
    if options.worker:
        asyncio.run(work(options.worker, options.size))
        return
    with scratch(options) as folder:
        measure(folder, options)


if __name__ == "__main__":
    main()
