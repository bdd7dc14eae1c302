"""Limits on tools that all runs of an engine share: calls at once, calls in a stretch of time."""

import asyncio
from collections.abc import Callable
from typing import Any

from midcourse.actors.throttle import Throttle
from midcourse.actors.tools import Tool, tool
from midcourse.actors.work import Work
from midcourse.domain.authority import Rate, ToolLimit

from .conftest import ManualTimers

Start = Callable[..., Any]


class Gate:
    """Tools that note who entered, and wait until they are let out."""

    def __init__(self) -> None:
        self.entered: list[str] = []
        self._doors: dict[str, asyncio.Event] = {}

    def tool(self, name: str, **terms: Any) -> Tool:
        async def wait(who: str) -> str:
            self.entered.append(who)
            await self._doors.setdefault(who, asyncio.Event()).wait()
            return who

        return tool(name=name, **terms)(wait)

    def let_out(self, who: str) -> None:
        self._doors.setdefault(who, asyncio.Event()).set()

    def open(self, *who: str) -> None:
        for each in who:
            self.let_out(each)


def enter(kit: Any, name: str, who: str, run: str = "run") -> None:
    kit.execute(name, operation=f"{who}.0", input={"who": who}, run=run)


async def left(kit: Any, gate: Gate, who: str) -> None:
    gate.let_out(who)
    report = await kit.reports.next()
    assert report.receipt.result == who
    await kit.handled()


async def test_concurrency_of_a_tool_is_shared_by_all_runs(executor: Start) -> None:
    gate = Gate()
    kit = executor(gate.tool("pay"), tools=(ToolLimit(tool="pay", at_once=2),))
    for number, run in enumerate("abcd"):
        enter(kit, "pay", f"p{number}", run)
    await kit.handled()
    assert gate.entered == ["p0", "p1"]
    await left(kit, gate, "p1")
    assert gate.entered == ["p0", "p1", "p2"]
    await left(kit, gate, "p0")
    assert gate.entered == ["p0", "p1", "p2", "p3"]


async def test_tools_of_one_glob_share_its_limit_and_others_are_free(executor: Start) -> None:
    gate = Gate()
    tools = [gate.tool("pay_card"), gate.tool("pay_cash"), gate.tool("mail")]
    kit = executor(*tools, tools=(ToolLimit(tool="pay_*", at_once=1),))
    enter(kit, "pay_card", "card")
    enter(kit, "pay_cash", "cash")
    enter(kit, "mail", "mail")
    await kit.handled()
    assert gate.entered == ["card", "mail"]
    await left(kit, gate, "card")
    assert gate.entered == ["card", "mail", "cash"]


async def test_a_rate_lets_so_many_begin_in_any_stretch_of_time(executor: Start) -> None:
    gate = Gate()
    kit = executor(gate.tool("mail"), tools=(ToolLimit(tool="mail", rate=Rate(2, 10.0)),))
    enter(kit, "mail", "m0", "a")
    await kit.handled()
    kit.timers.advance(4.0)
    for number in range(1, 5):
        enter(kit, "mail", f"m{number}", "b")
    await kit.handled()
    assert gate.entered == ["m0", "m1"]
    kit.timers.advance(5.9)
    await kit.handled()
    assert gate.entered == ["m0", "m1"]
    kit.timers.advance(0.1)
    await kit.handled()
    assert gate.entered == ["m0", "m1", "m2"]
    kit.timers.advance(4.0)
    await kit.handled()
    assert gate.entered == ["m0", "m1", "m2", "m3"]
    gate.open("m0", "m1", "m2", "m3", "m4")
    await kit.reports.next()
    await kit.handled()
    assert gate.entered == ["m0", "m1", "m2", "m3"], "an end makes no room in time"


async def test_a_rate_per_run_holds_up_no_other_run(executor: Start) -> None:
    gate = Gate()
    kit = executor(gate.tool("mail"), tools=(ToolLimit(tool="mail", rate_per_run=Rate(1, 10.0)),))
    for run in "ab":
        enter(kit, "mail", f"{run}0", run)
        enter(kit, "mail", f"{run}1", run)
    await kit.handled()
    assert gate.entered == ["a0", "b0"]
    kit.timers.advance(10.0)
    await kit.handled()
    assert gate.entered == ["a0", "b0", "a1", "b1"]


async def test_several_limits_of_a_tool_hold_together(executor: Start) -> None:
    gate = Gate()
    limits = (ToolLimit(at_once=1), ToolLimit(tool="mail", rate=Rate(1, 10.0)))
    kit = executor(gate.tool("mail"), gate.tool("pay"), tools=limits)
    enter(kit, "mail", "m0")
    enter(kit, "mail", "m1")
    enter(kit, "pay", "p0")
    await kit.handled()
    assert gate.entered == ["m0"]
    await left(kit, gate, "m0")
    assert gate.entered == ["m0", "p0"], "what waits for time gives its place to what does not"
    kit.timers.advance(10.0)
    await kit.handled()
    assert gate.entered == ["m0", "p0"]
    await left(kit, gate, "p0")
    assert gate.entered == ["m0", "p0", "m1"]


async def test_runs_take_turns_where_limits_count_them_by_themselves(executor: Start) -> None:
    gate = Gate()
    limits = (ToolLimit(tool="pay", at_once=1, rate_per_run=Rate(9, 1.0)),)
    kit = executor(gate.tool("pay"), tools=limits)
    for who, run in (("a0", "a"), ("a1", "a"), ("a2", "a"), ("b0", "b"), ("b1", "b")):
        enter(kit, "pay", who, run)
    await kit.handled()
    for who in ("a0", "a1", "b0", "a2", "b1"):
        assert gate.entered[-1] == who
        await left(kit, gate, who)
    assert gate.entered == ["a0", "a1", "b0", "a2", "b1"]


async def test_a_call_that_is_cancelled_while_it_waits_never_begins_and_holds_up_nobody(
    executor: Start,
) -> None:
    gate = Gate()
    kit = executor(gate.tool("pay"), tools=(ToolLimit(tool="pay", at_once=1),))
    for who in ("p0", "p1", "p2"):
        enter(kit, "pay", who)
    await kit.handled()
    kit.cancel(operation="p1.0")
    report = await kit.reports.next()
    assert (report.operation, report.no_effect) == ("p1.0", True)
    await left(kit, gate, "p0")
    assert gate.entered == ["p0", "p2"]


async def test_a_call_that_fails_or_is_given_up_gives_its_place_back(executor: Start) -> None:
    gate = Gate()
    stubborn = asyncio.Event()

    @tool(name="stuck")
    async def stuck() -> None:
        while not stubborn.is_set():
            try:
                await stubborn.wait()
            except asyncio.CancelledError:
                continue

    kit = executor(stuck, gate.tool("pay"), tools=(ToolLimit(at_once=1),), cancel_timeout_s=5.0)
    kit.execute("stuck", operation="s.0")
    enter(kit, "pay", "p0")
    await kit.handled()
    kit.cancel(operation="s.0")
    await kit.handled()
    assert gate.entered == []
    kit.timers.advance(5.0)
    await kit.reports.next()
    await kit.handled()
    assert gate.entered == ["p0"]
    stubborn.set()


async def test_limits_of_plain_functions_count_threads_as_well(executor: Start) -> None:
    begun: list[int] = []
    gate = Gate()

    @tool(name="count")
    def count(number: int) -> int:
        begun.append(number)
        return number

    kit = executor(count, gate.tool("pay"), tools=(ToolLimit(at_once=1),))
    enter(kit, "pay", "p0")
    for number in range(2):
        kit.execute("count", operation=f"c{number}.0", input={"number": number})
    await kit.handled()
    assert begun == []
    await left(kit, gate, "p0")
    assert [(await kit.reports.next()).receipt.result for _ in range(2)] == [0, 1]


class Call(Work):
    """Work that is only counted."""

    def __init__(self, run_id: str) -> None:
        super().__init__(run_id, run_id, lambda: 0.0, is_async=True)

    call = ask_to_stop = not_begun = lost = returned = raised = Work.cancel_timers  # type: ignore[assignment]


async def test_what_is_counted_for_runs_that_did_nothing_lately_is_forgotten(
    manual_timers: ManualTimers,
) -> None:
    begun: list[Work] = []
    throttle = Throttle([ToolLimit(rate_per_run=Rate(1, 10.0))], manual_timers, begun.append)
    for number in range(500):
        call = Call(f"run{number}")
        throttle.enter(call, "user__mail")
        throttle.leave(call)
        manual_timers.advance(1.0)
    assert len(begun) == 500
    assert len(throttle._runs) <= 64  # noqa: SLF001 - what it keeps shows nowhere else
