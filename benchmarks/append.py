"""How many appends a second does the journal commit, one, 16 and 256 at a time, against raw sqlite3?

An append holds the two facts of a sequential step: the receipt of one and the start of the next. *Raw* is
sqlite3 alone writing the same rows, an append a commit; *grouped* is the same rows, 256 appends a commit.
"""

from __future__ import annotations

import asyncio
import gc
import time
from pathlib import Path

from _bench import Options, emit, parse, parser, scratch, url_of
from _yardstick import Sides, Timing, read_back

from midcourse.domain.facts import RunStarted, StepCompleted, StepStarted
from midcourse.domain.goal import Goal
from midcourse.domain.receipt import Receipt
from midcourse.store import GENESIS, Append, Journal, RunIndex, open_journal

IN_FLIGHT = (1, 16, 256)


async def keep_appending(journal: Journal, run_id: str, appends: int) -> None:
    version, hash_ = 0, GENESIS
    for n in range(appends):
        at = time.time()
        if n:
            facts = [
                StepCompleted(f"s{n}", f"user__nothing:{n:024x}.0", 1, Receipt(n)),
                StepStarted(
                    f"s{n + 1}", f"user__nothing:{n + 1:024x}.0", "user__nothing", {"n": n}, f"{n:024x}"
                ),
            ]
            entries = [(at, "engine", version, fact) for fact in facts]
            index = None
        else:
            entries = [(at, "engine", 0, RunStarted(Goal("Append")))]
            index = RunIndex(run_id=run_id, status="running", created=at, goal="Append")
        done = await journal.append(Append(run_id, version, hash_, entries, index))
        version, hash_ = done.head_version, done.head_hash


async def ours(path: Path, in_flight: int, appends: int) -> Timing:
    async with open_journal(url_of(path), owner=True) as journal:
        gc.collect()
        cpu, start = time.process_time(), time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for n in range(in_flight):
                group.create_task(keep_appending(journal, f"{n:016x}", appends // in_flight))
        return Timing(time.perf_counter() - start, time.process_time() - cpu)


def measure(options: Options, in_flight: int, total: int) -> None:
    count = total // in_flight * in_flight
    sides = Sides()
    for _ in range(options.rounds):
        with scratch(options) as folder:
            timing = asyncio.run(ours(folder / "ours.db", in_flight, total))
            written = read_back(folder / "ours.db")
            assert len(written.appends) == count, f"{len(written.appends)} were recorded, not {count}"
            sides.compare(folder, timing, written, written.appends)
    emit("append", f"{in_flight} in flight", options, in_flight=in_flight, **sides.values("appends", count))


def main() -> None:
    arguments = parser(__doc__, size=20_000, unit="appends at 256 in flight")
    arguments.add_argument("--in-flight", type=int, nargs="+", choices=IN_FLIGHT, default=IN_FLIGHT)
    options = parse(arguments, quick_size=512)
    with scratch(options) as folder:
        asyncio.run(ours(folder / "warm-up.db", 16, min(options.size, 2_000)))
    for in_flight in options.in_flight:
        # Where few share a commit a fifth takes as long.
        total = options.size if in_flight == max(IN_FLIGHT) else max(options.size // 5, in_flight)
        measure(options, in_flight, total)


if __name__ == "__main__":
    main()
