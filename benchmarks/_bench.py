"""What all benchmarks share: options, folders that are removed again, and one JSON line a measurement."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

_LOAD_AT_START = os.getloadavg()[0]
"""How many processes wanted a processor in the minute before ours began."""


class _Neighbours:
    """Watches how much of the processors other programs use; only Linux tells."""

    def __init__(self) -> None:
        self._seconds = self._read()
        self._share: float | None = None

    def busy(self) -> float | None:
        """Return the share of all processors that others used since the last call, if that was long ago."""
        now = self._read()
        passed_s, busy_s, ours_s = (new - old for new, old in zip(now, self._seconds, strict=True))
        if passed_s > 1:
            self._seconds = now
            self._share = round(max(0.0, (busy_s - ours_s) / passed_s), 2)
        return self._share

    @staticmethod
    def _read() -> tuple[float, float, float]:
        """Return the seconds of all processors, those anybody used, and those used by us."""
        try:
            fields = Path("/proc/stat").read_text("utf-8").partition("\n")[0].split()[1:9]
        except OSError:
            return 0.0, 0.0, 0.0
        seconds = [int(field) / os.sysconf("SC_CLK_TCK") for field in fields]
        return sum(seconds), sum(seconds) - seconds[3] - seconds[4], sum(os.times()[:4])


_neighbours = _Neighbours()


class Options(argparse.Namespace):
    """What a benchmark was asked to do.

    Args:
        quick: the smallest size that still runs every part; its numbers say nothing.
        size: how much of what the benchmark counts.
        rounds: how often each measurement is repeated; medians are reported.
        folder: where databases are made; the file system under it decides what a durable commit costs.
    """

    quick: bool
    size: int
    rounds: int
    folder: Path


def parser(question: str | None, *, size: int, unit: str, rounds: int = 5) -> argparse.ArgumentParser:
    """Return a parser of the options every benchmark has; `parse` reads them."""
    options = argparse.ArgumentParser(
        description=question, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--quick", action="store_true", help="tiny: shows that it runs, measures nothing")
    options.add_argument("--size", type=int, default=size, metavar="N", help=f"{unit} (default {size})")
    options.add_argument(
        "--rounds", type=int, default=rounds, metavar="N", help=f"repetitions (default {rounds})"
    )
    options.add_argument(
        "--folder",
        type=Path,
        default=Path(tempfile.gettempdir()),
        help="where databases are made (default: the system's folder for temporary files)",
    )
    return options


def parse(options: argparse.ArgumentParser, *, quick_size: int) -> Options:
    """Read the command line; ``--quick`` means one round of ``quick_size``."""
    found = options.parse_args(namespace=Options())
    if found.quick:
        found.size, found.rounds = quick_size, 1
    return found


@contextmanager
def scratch(options: Options) -> Iterator[Path]:
    """Make a folder and remove it with all that is in it."""
    folder = Path(tempfile.mkdtemp(prefix="midcourse-bench-", dir=options.folder))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def url_of(path: Path) -> str:
    """Return the URL of a store in a file."""
    return f"sqlite:///{path}"


def emit(benchmark: str, measurement: str, options: Options, **values: Any) -> None:
    """Print one measurement as one line of JSON, with all that is needed to compare it with another."""
    line = {
        "benchmark": benchmark,
        "measurement": measurement,
        **{name: _rounded(value) for name, value in values.items()},
        "rounds": options.rounds,
        "quick": options.quick,
        "load_1min_at_start": round(_LOAD_AT_START, 2),
        "others_busy": _neighbours.busy(),
        "processor_ms": round(_processor_ms(), 1),
        "cpus": os.cpu_count(),
        "filesystem": _filesystem(options.folder),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        **{name: version(name) for name in ("midcourse", "msgspec", "pykka", "eventsourcing")},
    }
    print(json.dumps(line), flush=True)


def median(values: Iterable[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def ratio(ours: Iterable[float], theirs: Iterable[float]) -> float:
    """Return the median of the ratios round by round: what slows the machine for a while slows both."""
    return median(our / their for our, their in zip(ours, theirs, strict=True))


def percentile(ordered: list[float], share: float) -> float:
    """Return the value that ``share`` of the ordered values do not exceed."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _processor_ms() -> float:
    """Time a fixed piece of Python: virtual machines share processors that do not always run at one speed."""
    times = []
    for _ in range(3):
        start, seen = time.perf_counter(), {}
        for n in range(50_000):
            seen[n & 1023] = str(n)
        times.append(time.perf_counter() - start)
    return min(times) * 1000


_SIGNIFICANT = 4


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_SIGNIFICANT}g}")
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    return value


def _filesystem(folder: Path) -> str:
    """Return the type of the file system under a folder, where the system tells."""
    try:
        mounts = [line.split() for line in Path("/proc/mounts").read_text("utf-8").splitlines()]
    except OSError:
        return "unknown"
    under = [mount for mount in mounts if folder.resolve().is_relative_to(mount[1])]
    return max(under, key=lambda mount: len(mount[1]))[2] if under else "unknown"
