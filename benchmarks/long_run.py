"""Does a step cost the same in a long run as in a short one, and what does a wide plan cost?

One run of sequential steps that do nothing, of every length from 10 to 5,000: seconds, CPU and stored bytes a
step as a whole, and in the longest around step 50 and at its end. Then a plan of 1,000 steps that wait for
nothing, with its commits counted.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from _bench import Options, emit, median, parse, parser, scratch, url_of
from _workload import carry, sequence
from _yardstick import Timing, a_step_each, read_back, write_timed

from midcourse import Engine, Plan, Step, tool
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


if __name__ == "__main__":
    main()
