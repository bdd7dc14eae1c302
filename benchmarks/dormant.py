"""What do runs cost that only wait? 100,000 of them, for a signal or for a time to come.

Measured in a process of its own, against the same engine on an empty store: the memory that waiting runs
add, the seconds from opening the store to the end of another run's first step, the processor time of an
idle engine, and how late runs are that are woken by their time or by a signal while all the others wait.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from _bench import Options, emit, median, parse, parser, percentile, scratch, url_of

from midcourse import Engine, Goal, Plan, Step, tool
from midcourse.actors.indexing import row_of
from midcourse.domain import ids
from midcourse.domain.decide import react
from midcourse.domain.messages import StartRun
from midcourse.domain.run import Run
from midcourse.domain.tools import Catalog
from midcourse.store import GENESIS, Append, Journal, open_journal

YEAR_S = 365 * 86_400.0
WOKEN = 200
IDLE_S = 3.0


@tool(effect="read")
async def look(due: float = 0.0) -> float:
    """Return the seconds since a time."""
    return time.time() - due


async def fill(path: Path, runs: int) -> None:
    """Start runs that wait: every second one for a signal, the others for a time within a year."""
    async with open_journal(url_of(path)) as journal:
        await settle(journal, runs)


async def settle(journal: Journal, runs: int) -> None:
    catalog, at = Catalog((look.spec,)), time.time()
    for first in range(0, runs, 500):
        batch = (started(n, catalog, at) for n in range(first, min(first + 500, runs)))
        await asyncio.gather(*(journal.append(append) for append in batch))


def started(n: int, catalog: Catalog, at: float) -> Append:
    wait = {"signal": "paid"} if n % 2 else {"for_s": 3_600 + n / 100_000 * YEAR_S}
    plan = Plan((Step("W", "wait", wait), Step("L", "look")))
    run_id = ids.run_id(at, n)
    run = Run(run_id)
    message = StartRun(at=at, goal=Goal(f"Wait, number {n}"), lineage=run_id, plan=plan)
    facts = react(run, message, catalog).facts
    entries = [(at, "host", cause, fact) for fact, cause in facts]
    return Append(run_id, 0, GENESIS, entries, row_of(run, None, at))


# -------------------------------------------------------------------------------- in the worker


async def observe(path: Path) -> None:
    """Open an engine on a store, and print what it costs and how late it is."""
    opened = time.perf_counter()
    async with Engine(url_of(path), tools=[look]) as engine:
        run = await engine.start("look", plan=Plan((Step("L", "look"),)))
        await run.outcome()
        first_step_s = time.perf_counter() - opened
        await asyncio.sleep(1.0)  # what an engine does of itself after it has opened
        gc.collect()
        cpu = time.process_time()
        await asyncio.sleep(IDLE_S)
        idle = (time.process_time() - cpu) / IDLE_S
        memory = resident_mb()
        by_time = await lateness_of_timers(engine)
        by_signal = await lateness_of_signals(engine)
    report = {
        "first_step_s": first_step_s, "idle": idle, "memory_mb": memory,
        "by_time": by_time, "by_signal": by_signal,
    }  # fmt: skip
    print(json.dumps(report))


def resident_mb() -> float:
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text("utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # the most there ever was


async def lateness_of_timers(engine: Engine) -> list[float]:
    """Return how many seconds after its time each of some runs begins its next step."""
    start = time.time() + 0.5
    runs = []
    for n in range(WOKEN):
        due = start + n * 0.01
        plan = Plan(
            (
                Step("W", "wait", {"until": datetime.fromtimestamp(due, UTC).isoformat()}),
                Step("L", "look", {"due": due}),
            )
        )
        runs.append(await engine.start("wake", plan=plan))
    return sorted([(await run.outcome()).result for run in runs])


async def lateness_of_signals(engine: Engine) -> list[float]:
    """Return how many seconds after its signal was sent each of some runs begins its next step."""
    plan = Plan((Step("W", "wait", {"signal": "go"}), Step("L", "look", {"due": "{{W.payload}}"})))
    runs = [await engine.start("wake", plan=plan) for _ in range(WOKEN)]
    late = []
    for run in runs:
        await run.signal("go", time.time())
        late.append((await run.outcome()).result)
    return sorted(late)


# -------------------------------------------------------------------------------- in the parent


def observed(path: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, "--worker", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def measure(folder: Path, options: Options) -> None:
    full, empty = folder / "full.db", folder / "empty.db"
    asyncio.run(fill(full, options.size))
    reports = [(observed(full), observed(empty)) for _ in range(options.rounds)]
    ours = [report for report, _ in reports]
    emit(
        "dormant",
        f"{options.size} waiting runs",
        options,
        runs=options.size,
        memory_added_mb=median(one["memory_mb"] - other["memory_mb"] for one, other in reports),
        memory_empty_mb=median(other["memory_mb"] for _, other in reports),
        open_to_first_step_s=median(report["first_step_s"] for report in ours),
        open_to_first_step_empty_s=median(other["first_step_s"] for _, other in reports),
        idle_cpu_share=median(report["idle"] for report in ours),
        idle_cpu_share_empty=median(other["idle"] for _, other in reports),
        store_bytes_per_run=full.stat().st_size / options.size,
        **{
            f"{how}_{name}_ms": median(percentile(report[how], share) for report in ours) * 1e3
            for how in ("by_time", "by_signal")
            for name, share in (("p50", 0.5), ("p99", 0.99))
        },
    )


def main() -> None:
    arguments = parser(__doc__, size=100_000, unit="waiting runs", rounds=3)
    arguments.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parse(arguments, quick_size=50)
    if options.worker:
        asyncio.run(observe(options.worker))
        return
    with scratch(options) as folder:
        measure(folder, options)


if __name__ == "__main__":
    main()
