"""How many durable steps a second does an engine take, with 1, 16 and 256 runs in flight?

Every run has 20 sequential steps that do nothing. *Raw* is sqlite3 alone writing the very rows our runs
wrote, in the same order, a step a commit; *grouped* is the same rows, 256 steps a commit.
"""

from __future__ import annotations

import asyncio

from _bench import Options, emit, parse, parser, scratch
from _workload import timed
from _yardstick import Sides, a_step_each, read_back

STEPS = 20
IN_FLIGHT = (1, 16, 256)


def measure(options: Options, in_flight: int, runs: int) -> None:
    steps = runs * STEPS
    sides = Sides()
    for _ in range(options.rounds):
        with scratch(options) as folder:
            path = folder / "ours.db"
            timing = asyncio.run(timed(path, runs=runs, steps=STEPS, in_flight=in_flight))
            written = read_back(path)
            commits = a_step_each(written.appends)
            assert len(commits) == steps, f"{len(commits)} steps were recorded, not {steps}"
            sides.compare(folder, timing, written, commits)
    emit("steps", f"{in_flight} in flight", options, in_flight=in_flight, **sides.values("steps", steps))


def main() -> None:
    arguments = parser(__doc__, size=768, unit="runs at 256 in flight")
    arguments.add_argument("--in-flight", type=int, nargs="+", choices=IN_FLIGHT, default=IN_FLIGHT)
    options = parse(arguments, quick_size=8)
    with scratch(options) as folder:
        asyncio.run(timed(folder / "warm-up.db", runs=min(options.size, 128), steps=STEPS, in_flight=16))
    for in_flight in options.in_flight:
        # Where few share a commit a sixth takes as long.
        runs = options.size if in_flight == max(IN_FLIGHT) else max(options.size // 6, 1)
        measure(options, in_flight, runs)


if __name__ == "__main__":
    main()
