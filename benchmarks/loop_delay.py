"""How long does an engine with 256 runs in flight hold the event loop of its host?

Two hosts ask: one whose callback puts itself back at once, so that the time between two of its calls is all
that happened on the loop between; and one with a timer every millisecond, whose lateness is what a real host
feels. The same hosts beside an idle engine show what the machine adds.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from _bench import Options, emit, median, parse, parser, percentile, scratch, url_of
from _workload import carry, nothing, sequence

from midcourse import Engine

STEPS = 20
IN_FLIGHT = 256
TIMER_S = 0.001


class SpinningHost:
    """Measures from call to call, with nothing between but the loop and the engine."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.held_s: list[float] = []
        self._loop = loop
        self._last = time.perf_counter()
        self._handle = loop.call_soon(self._turn)

    def _turn(self) -> None:
        now = time.perf_counter()
        self.held_s.append(now - self._last)
        self._last = now
        self._handle = self._loop.call_soon(self._turn)

    def stop(self) -> None:
        self._handle.cancel()


class TimerHost:
    """Measures how late a timer is."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.held_s: list[float] = []
        self._loop = loop
        self._due = loop.time() + TIMER_S
        self._handle = loop.call_at(self._due, self._turn)

    def _turn(self) -> None:
        now = self._loop.time()
        self.held_s.append(max(0.0, now - self._due))
        self._due = now + TIMER_S
        self._handle = self._loop.call_at(self._due, self._turn)

    def stop(self) -> None:
        self._handle.cancel()


Host = SpinningHost | TimerHost


async def busy(path: Path, kind: type[Host], runs: int) -> tuple[list[float], float]:
    async with Engine(url_of(path), tools=[nothing]) as engine:
        plans = [sequence(STEPS)] * runs
        host = kind(asyncio.get_running_loop())
        start = time.perf_counter()
        await carry(engine, plans, IN_FLIGHT)
        took_s = time.perf_counter() - start
        host.stop()
    return sorted(host.held_s), took_s


async def idle(path: Path, kind: type[Host], wait_s: float) -> list[float]:
    async with Engine(url_of(path), tools=[nothing]):
        host = kind(asyncio.get_running_loop())
        await asyncio.sleep(wait_s)
        host.stop()
    return sorted(host.held_s)


def report(options: Options, measurement: str, rounds: list[list[float]], **values: float) -> None:
    """Report the round in the middle by its 99.9th percentile, and the worst of all rounds."""
    rounds = sorted(rounds, key=lambda held: percentile(held, 0.999))
    held = rounds[len(rounds) // 2]
    emit(
        "loop_delay",
        measurement,
        options,
        p50_ms=percentile(held, 0.5) * 1000,
        p99_ms=percentile(held, 0.99) * 1000,
        p999_ms=percentile(held, 0.999) * 1000,
        max_ms=held[-1] * 1000,
        max_of_all_rounds_ms=max(held[-1] for held in rounds) * 1000,
        each_p999_ms=[percentile(held, 0.999) * 1000 for held in rounds],
        samples=len(held),
        **values,
    )


def main() -> None:
    options = parse(parser(__doc__, size=768, unit="runs"), quick_size=8)
    hosts: dict[str, type[Host]] = {"callback": SpinningHost, "timer of 1 ms": TimerHost}
    with scratch(options) as folder:
        asyncio.run(busy(folder / "warm-up.db", TimerHost, min(options.size, 128)))
    for name, kind in hosts.items():
        loaded, at_rest, rates = [], [], []
        for _ in range(options.rounds):
            with scratch(options) as folder:
                held, took_s = asyncio.run(busy(folder / "busy.db", kind, options.size))
                at_rest.append(asyncio.run(idle(folder / "idle.db", kind, min(took_s, 2.0))))
            loaded.append(held)
            rates.append(options.size * STEPS / took_s)
        rate = median(rates)
        report(options, f"{IN_FLIGHT} in flight, {name}", loaded, in_flight=IN_FLIGHT, steps_per_s=rate)
        report(options, f"idle, {name}", at_rest, in_flight=0)


if __name__ == "__main__":
    main()
