from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from midcourse.actors._pykka import Dispatcher
from midcourse.actors.executor import Executor
from midcourse.actors.executor_limits import ExecutorLimits
from midcourse.actors.orders import RunOrders
from midcourse.actors.tools import Tool
from midcourse.domain.messages import Message
from midcourse.domain.orders import CancelAttempt, Execute, Order, Probe


class ManualTimer:
    def __init__(self, callback: Callable[[], object]) -> None:
        self.callback = callback
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class ManualTimers:
    """Time that passes only when a test says so."""

    def __init__(self) -> None:
        self.now_s = 1_000.0
        self.armed = asyncio.Event()
        self._due: list[tuple[float, int, ManualTimer]] = []
        self._numbers = itertools.count()

    def time(self) -> float:
        return self.now_s

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> ManualTimer:
        timer = ManualTimer(lambda: callback(*args))
        self.armed.set()
        heapq.heappush(self._due, (self.now_s + delay, next(self._numbers), timer))
        return timer

    def pending(self) -> int:
        return sum(not timer.is_cancelled for _, _, timer in self._due)

    def advance(self, seconds: float) -> None:
        end_s = self.now_s + seconds
        while self._due and self._due[0][0] <= end_s:
            self.now_s, _, timer = heapq.heappop(self._due)
            if not timer.is_cancelled:
                timer.callback()
        self.now_s = end_s


class Reports:
    """What runs were told."""

    def __init__(self) -> None:
        self.all: list[tuple[str, Message]] = []
        self.gone_runs: set[str] = set()
        self._queue: asyncio.Queue[Message] = asyncio.Queue()

    def __call__(self, run_id: str, message: Message) -> None:
        if run_id in self.gone_runs:
            raise LookupError(f"no run {run_id}")
        self.all.append((run_id, message))
        self._queue.put_nowait(message)

    async def next(self) -> Any:
        return await self._queue.get()


class ExecutorKit:
    """An executor, its time, and its reports."""

    def __init__(self, *tools: Tool, **limits: Any) -> None:
        self.timers = ManualTimers()
        self.reports = Reports()
        self.ref = Executor.start(
            urn="test",
            dispatcher=Dispatcher(lambda: None),
            tools={tool.name: tool for tool in tools},
            report=self.reports,
            clock=self.timers.time,
            timers=self.timers,
            random=lambda: 1.0,
            limits=ExecutorLimits(**limits),
        )

    def order(self, *orders: Order, run: str = "run") -> None:
        self.ref.tell(RunOrders(run, orders))

    def execute(self, tool: str, attempt: int = 1, *, operation: str = "op.0", **fields: Any) -> None:
        arguments, run = fields.pop("input", {}), fields.pop("run", "run")
        self.order(Execute(operation, attempt, f"user__{tool}", arguments, "E0", **fields), run=run)

    def probe(self, tool: str, *, operation: str = "op.0") -> None:
        self.order(Probe(operation, 1, f"user__{tool}", {}))

    def cancel(self, attempt: int = 1, *, operation: str = "op.0") -> None:
        self.order(CancelAttempt(operation, attempt, "a test says so"))

    async def handled(self) -> None:
        """Return once all that was ordered is taken up and has had its turn on the loop."""
        await self.order_taken()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def order_taken(self) -> None:
        await self.ref.ask(RunOrders("nobody", ()))


@pytest.fixture
async def executor() -> AsyncIterator[Callable[..., ExecutorKit]]:
    kits: list[ExecutorKit] = []

    def start(*tools: Tool, **limits: Any) -> ExecutorKit:
        kits.append(ExecutorKit(*tools, **limits))
        return kits[-1]

    yield start
    for kit in kits:
        await kit.ref.stop()


@pytest.fixture
def manual_timers() -> ManualTimers:
    return ManualTimers()


@pytest.fixture
def reports() -> Reports:
    return Reports()
