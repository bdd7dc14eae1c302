"""Does a step cost the same in a long run as in a short one, and what does a wide plan cost?

One run of sequential steps that do nothing, of every length from 10 to 5,000: seconds, CPU and stored bytes a
step as a whole, and in the longest around step 50 and at its end. Then a plan of 1,000 steps that wait for
nothing, with its commits counted. Last a run five times as long as the longest, of 50,000 facts: what opening
it costs with a snapshot and without, how long the loop is held meanwhile, and what its next steps cost then.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from _bench import Options, emit, median, parse, parser, ratio, scratch, url_of
from _workload import carry, sequence
from _yardstick import Timing, a_step_each, read_back, write_timed
from loop_delay import SpinningHost

from midcourse import Engine, Plan, Settings, Step, tool
from midcourse.actors.loading import Loaded, load
from midcourse.store import open_journal
from midcourse.store.sqlite import SqliteBackend

LENGTHS = (10, 100, 1_000)
EARLY = slice(10, 91)
LATE_STEPS = 500
WIDE = 1_000


class Course(NamedTuple):
    """How a run went.

    Args:
        moments: when each step's tool was called, in seconds.
        cpu: the processor time used until then, in seconds.
        sizes: bytes of the records of each step.
        raw: when sqlite3 alone had committed each step.
        timing: the whole run.
    """

    moments: list[float]
    cpu: list[float]
    sizes: list[int]
    raw: list[float]
    timing: Timing


async def _carry(path: Path, plan: Plan) -> tuple[list[float], list[float], Timing]:
    moments: list[float] = []
    cpu: list[float] = []

    @tool(effect="irreversible", idempotent=True)
    async def nothing(n: int) -> int:
        moments.append(time.perf_counter())
        cpu.append(time.process_time())
        return n

    async with Engine(url_of(path), tools=[nothing]) as engine:
        gc.collect()
        cpu_start, start = time.process_time(), time.perf_counter()
        await carry(engine, [plan], 1)
        timing = Timing(time.perf_counter() - start, time.process_time() - cpu_start)
    return moments, cpu, timing


def course(options: Options, steps: int) -> Course:
    with scratch(options) as folder:
        moments, cpu, timing = asyncio.run(_carry(folder / "ours.db", sequence(steps)))
        written = read_back(folder / "ours.db")
        commits = a_step_each(written.appends)
        raw = write_timed(folder / "raw.db", written.tables, commits)[1]
    return Course(moments, cpu, [size_of(unit.records) for unit in commits], raw, timing)


def size_of(records: Sequence[tuple[Any, ...]]) -> int:
    return sum(len(row[0]) + len(row[2]) + len(row[3]) for row in records)


def gaps_us(moments: Sequence[float]) -> Sequence[float]:
    return [(later - earlier) * 1e6 for earlier, later in itertools.pairwise(moments)]


COSTS: dict[str, Callable[[Course], Sequence[float]]] = {
    "us": lambda c: gaps_us(c.moments),
    "cpu_us": lambda c: gaps_us(c.cpu),
    "raw_us": lambda c: gaps_us(c.raw),
    "bytes": lambda c: c.sizes,
}


def measure_length(options: Options, steps: int) -> list[Course]:
    courses = [course(options, steps) for _ in range(options.rounds)]
    emit(
        "long_run",
        f"{steps} steps",
        options,
        steps=steps,
        us_per_step=median(c.timing.wall_s / steps * 1e6 for c in courses),
        cpu_us_per_step=median(c.timing.cpu_s / steps * 1e6 for c in courses),
        bytes_per_step=median(sum(c.sizes) / steps for c in courses),
    )
    return courses


def measure_flatness(options: Options, courses: Sequence[Course], longest: Sequence[Course]) -> None:
    """Compare the end of the longest runs with the 50th step of all runs that have one, by medians.

    The median of single steps passes over those that met a slow commit or somebody else's load.
    """
    reaching = [c for c in courses if len(c.moments) >= EARLY.stop] or longest
    late = slice(max(0, options.size - LATE_STEPS), options.size)
    values: dict[str, float] = {}
    for name, cost_of in COSTS.items():
        early_cost = median(cost for c in reaching for cost in cost_of(c)[EARLY])
        late_cost = median(cost for c in longest for cost in cost_of(c)[late])
        values |= {
            f"early_{name}": early_cost,
            f"late_{name}": late_cost,
            f"{name}_ratio": late_cost / early_cost,
        }
    emit("long_run", f"step {options.size} against step 50", options, **values)


@contextmanager
def counted_commits() -> Iterator[list[int]]:
    """Note the size of every batch the store commits."""
    batches: list[int] = []
    commit = SqliteBackend.commit

    def counting(backend: SqliteBackend, batch: Sequence[Any]) -> Any:
        batches.append(len(batch))
        return commit(backend, batch)

    with patch.object(SqliteBackend, "commit", counting):
        yield batches


def measure_width(options: Options) -> None:
    steps = min(WIDE, options.size)
    plan = Plan(tuple(Step(id=f"s{n}", tool_name="nothing", input={"n": n}, needs=()) for n in range(steps)))
    rates, cpu, commits = [], [], []
    for _ in range(options.rounds):
        with scratch(options) as folder, counted_commits() as batches:
            timing = asyncio.run(_carry(folder / "wide.db", plan))[2]
        rates.append(steps / timing.wall_s)
        cpu.append(timing.cpu_s / steps * 1e6)
        commits.append(len(batches))
    emit(
        "long_run",
        f"{steps} wide",
        options,
        steps=steps,
        commits=median(commits),
        steps_per_s=median(rates),
        cpu_us_per_step=median(cpu),
        each_commits=[float(count) for count in commits],
    )


class Opened(NamedTuple):
    """How a long run was opened, and how it went on.

    Args:
        facts: how many it had.
        kept_bytes: size of its snapshot.
        folded_ms: milliseconds it took to fold all of them; ``folded_hold_ms``: the longest hold of the loop.
        opened_ms, opened_hold_ms: the same with its snapshot and the facts since.
        early_us, late_us: microseconds of a step around its 50th, and after it was opened.
    """

    facts: int
    kept_bytes: int
    folded_ms: float
    folded_hold_ms: float
    opened_ms: float
    opened_hold_ms: float
    early_us: float
    late_us: float


async def _until(path: Path, plan: Plan, at: int) -> tuple[str, list[float]]:
    """Carry a run until a step, and close its engine; return its id, and when its steps began."""
    moments: list[float] = []
    reached = asyncio.Event()

    @tool(effect="irreversible", idempotent=True)
    async def nothing(n: int) -> int:
        moments.append(time.perf_counter())
        if n == at:
            reached.set()
            await asyncio.Event().wait()
        return n

    settings = Settings(drain_s=0.0)
    async with Engine(url_of(path), tools=[nothing], settings=settings) as engine:
        run = await engine.start("Do nothing for long", plan=plan)
        await reached.wait()
    return run.id, moments


async def _open(path: Path, run_id: str, *, until: int | None = None) -> tuple[Loaded, float, float]:
    """Open a run as an engine does; return how long that took and the longest hold, in milliseconds."""
    with open_journal(url_of(path), read_only=True) as journal:
        gc.collect()
        host = SpinningHost(asyncio.get_running_loop())
        await asyncio.sleep(0)
        start = time.perf_counter()
        loaded = await load(journal, run_id, until=until)
        took_s = time.perf_counter() - start
        await asyncio.sleep(0)
        host.stop()
    assert loaded is not None
    return loaded, took_s * 1e3, max(host.held_s) * 1e3


async def _go_on(path: Path, run_id: str) -> list[float]:
    """Carry a run to its end in another engine; return when its steps began."""
    moments: list[float] = []

    @tool(effect="irreversible", idempotent=True)
    async def nothing(n: int) -> int:
        moments.append(time.perf_counter())
        return n

    async with Engine(url_of(path), tools=[nothing]) as engine:
        await engine.run(run_id).outcome()
    return moments


def opening(options: Options, steps: int) -> Opened:
    """Make a run of so many steps done and ``LATE_STEPS`` to go, open it both ways, and let it go on."""
    with scratch(options) as folder:
        path = folder / "long.db"
        run_id, early = asyncio.run(_until(path, sequence(steps + LATE_STEPS), steps))
        loaded, opened_ms, opened_hold_ms = asyncio.run(_open(path, run_id))
        facts = loaded.run.version
        _, folded_ms, folded_hold_ms = asyncio.run(_open(path, run_id, until=facts))
        late = asyncio.run(_go_on(path, run_id))
        kept_bytes = 0
        if loaded.snapshot is not None:
            with closing(sqlite3.connect(path)) as connection:
                query = "SELECT sum(length(body)) FROM snapshot_pieces"
                kept_bytes = connection.execute(query).fetchone()[0]
    return Opened(
        facts,
        kept_bytes,
        folded_ms,
        folded_hold_ms,
        opened_ms,
        opened_hold_ms,
        median(gaps_us(early)[EARLY]),
        median(gaps_us(late)),
    )


def measure_opening(options: Options) -> None:
    steps = 5 * options.size
    opened = [opening(options, steps) for _ in range(options.rounds)]
    columns = zip(Opened._fields, zip(*opened, strict=True), strict=True)
    values = {name: median(column) for name, column in columns}
    late_ratio = ratio([each.late_us for each in opened], [each.early_us for each in opened])
    emit("long_run", f"opening at step {steps}", options, **values, late_ratio=late_ratio)


def main() -> None:
    options = parse(parser(__doc__, size=5_000, unit="steps of the longest run"), quick_size=20)
    course(options, min(options.size, 1_000))  # warms up
    shorter: list[Course] = []
    for steps in LENGTHS:
        if steps < options.size:
            shorter += measure_length(options, steps)
    longest = measure_length(options, options.size)
    measure_flatness(options, [*shorter, *longest], longest)
    measure_width(options)
    measure_opening(options)


if __name__ == "__main__":
    main()
