"""Attempts that are stopped: by a time-out, by silence, by a cancel, by the end of their engine."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from midcourse.actors._pykka import ActorDeadError, Dispatcher
from midcourse.actors.context import ToolContext
from midcourse.actors.control import RequestReplan, ToolError
from midcourse.actors.executor import Executor
from midcourse.actors.orders import Finish, RunOrders
from midcourse.actors.tools import Tool, tool
from midcourse.domain.messages import ReportFailure, ReportLost, ReportReplan, ReportSuccess
from midcourse.domain.orders import Execute
from midcourse.domain.receipt import Receipt

Start = Callable[..., Any]


def lost(why: str, details: Any = None, attempt: int = 1, at: float = 1_000.0) -> ReportLost:
    return ReportLost(at=at, operation="op.0", attempt=attempt, why=why, details=details)


def success(result: Any, attempt: int = 1, at: float = 1_000.0) -> ReportSuccess:
    return ReportSuccess(at=at, operation="op.0", attempt=attempt, receipt=Receipt(result))


class Door:
    """Where a tool waits until a test lets it through."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.entered = asyncio.Event()
        self.heard = asyncio.Event()
        self.opened = asyncio.Event()
        self.thread_opened = threading.Event()

    def open(self) -> None:
        self.opened.set()
        self.thread_opened.set()


@pytest.fixture
async def door() -> Any:
    made = Door()
    yield made
    made.open()


def waiting(door: Door, **terms: Any) -> Tool:
    async def wait(*, context: ToolContext) -> str:
        door.entered.set()
        await door.opened.wait()
        return f"attempt {context.attempt}"

    return tool(**terms)(wait)


def stubborn(door: Door, then: BaseException | None = None, **terms: Any) -> Tool:
    """A coroutine that takes no notice of its cancellation."""

    async def wait(*, context: ToolContext) -> str:
        door.entered.set()
        while not door.opened.is_set():
            try:
                await door.opened.wait()
            except asyncio.CancelledError:
                door.heard.set()
        if then is not None:
            raise then
        return f"attempt {context.attempt}"

    return tool(**terms)(wait)


def blocking(door: Door, **terms: Any) -> Tool:
    def wait(*, context: ToolContext) -> str:
        door.loop.call_soon_threadsafe(door.entered.set)
        door.thread_opened.wait()
        return f"attempt {context.attempt}"

    return tool(**terms)(wait)


# ------------------------------------------------------------------------------------------------ time-outs


async def test_an_attempt_that_takes_too_long_is_lost(executor: Start, door: Door) -> None:
    kit = executor(waiting(door, timeout_s=5.0))
    kit.execute("wait", details={"page": 3})
    await door.entered.wait()
    kit.timers.advance(4.9)
    assert kit.reports.all == []
    kit.timers.advance(0.1)
    assert await kit.reports.next() == lost("timeout", {"page": 3}, at=1_005.0)


async def test_a_deadline_cuts_the_time_of_an_attempt_short(executor: Start, door: Door) -> None:
    kit = executor(waiting(door, timeout_s=5.0))
    kit.execute("wait", deadline=1_002.0)
    await door.entered.wait()
    kit.timers.advance(2.0)
    assert await kit.reports.next() == lost("timeout", at=1_002.0)


@pytest.mark.parametrize("make", [waiting, blocking])
async def test_an_attempt_does_not_begin_after_its_deadline(
    executor: Start, door: Door, make: Callable[..., Tool]
) -> None:
    kit = executor(make(door))
    kit.execute("wait", deadline=999.0)
    report = await kit.reports.next()
    assert (report.failure.kind, report.no_effect, report.retry_after_s) == ("timeout", True, None)
    assert not door.entered.is_set()


async def test_an_event_loop_serves_for_timers(door: Door, reports: Any) -> None:
    wait = waiting(door, timeout_s=0.01)
    ref = Executor.start(
        urn="real time",
        dispatcher=Dispatcher(lambda: None),
        tools={wait.name: wait},
        report=reports,
        clock=lambda: 1_000.0,
        timers=asyncio.get_running_loop(),
        random=lambda: 1.0,
    )
    ref.tell(RunOrders("run", [Execute("op.0", 1, wait.name, {})]))
    assert await reports.next() == lost("timeout")
    await ref.stop()


async def test_a_finished_attempt_leaves_no_timer(executor: Start, door: Door) -> None:
    kit = executor(waiting(door, timeout_s=5.0, heartbeat_timeout_s=1.0))
    kit.execute("wait")
    await door.entered.wait()
    assert kit.timers.pending() == 2
    door.open()
    assert await kit.reports.next() == success("attempt 1")
    assert kit.timers.pending() == 0


async def test_a_coroutine_that_does_not_hear_is_given_up_and_its_late_result_reported(
    executor: Start, door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    kit = executor(stubborn(door, timeout_s=5.0), max_attempts_at_once=1, cancel_timeout_s=2.0)
    kit.execute("wait", 1)
    await door.entered.wait()
    kit.timers.advance(5.0)
    await door.heard.wait()
    assert kit.reports.all == []
    kit.timers.advance(2.0)
    assert await kit.reports.next() == lost("timeout", at=1_007.0)
    assert "attempt 1 of op.0 (tool user__wait) goes on" in caplog.text
    kit.execute("wait", 2)  # the place is free again
    door.open()
    reports = [await kit.reports.next(), await kit.reports.next()]
    assert sorted(report.attempt for report in reports) == [1, 2]
    assert success("attempt 1", at=1_007.0) in reports


async def test_the_result_of_a_thread_is_reported_however_late(executor: Start, door: Door) -> None:
    kit = executor(blocking(door, timeout_s=5.0), max_threads=1)
    kit.execute("wait", 1)
    await door.entered.wait()
    kit.timers.advance(5.0)
    assert await kit.reports.next() == lost("timeout", at=1_005.0)
    door.entered.clear()
    kit.execute("wait", 2)
    await door.entered.wait()  # in a second thread, for the first is still at it
    door.open()
    reports = [await kit.reports.next(), await kit.reports.next()]
    assert sorted(report.receipt.result for report in reports) == ["attempt 1", "attempt 2"]


async def test_no_more_threads_are_left_behind_than_may_run(executor: Start, door: Door) -> None:
    kit = executor(blocking(door, timeout_s=5.0), max_threads=1)
    for attempt in (1, 2):
        door.entered.clear()
        kit.execute("wait", attempt)
        await door.entered.wait()
        kit.timers.advance(5.0)
        assert (await kit.reports.next()).why == "timeout"
    door.entered.clear()
    kit.execute("wait", 3)
    await kit.handled()
    assert not door.entered.is_set()
    door.open()
    assert sorted([(await kit.reports.next()).attempt for _ in range(3)]) == [1, 2, 3]


async def test_the_late_receipt_of_a_replan_request_is_reported(executor: Start, door: Door) -> None:
    request = RequestReplan("no express", receipt=Receipt({"id": 1}))
    kit = executor(stubborn(door, request, timeout_s=5.0), cancel_timeout_s=0.0)
    kit.execute("wait")
    await door.entered.wait()
    kit.timers.advance(5.0)
    assert await kit.reports.next() == lost("timeout", at=1_005.0)
    door.open()
    assert await kit.reports.next() == success({"id": 1}, at=1_005.0)


# ----------------------------------------------------------------------------------------------- heartbeats


async def test_silence_loses_an_attempt_and_its_last_words_are_kept(executor: Start, door: Door) -> None:
    beat = asyncio.Event()

    @tool(heartbeat_timeout_s=2.0)
    async def copy(*, context: ToolContext) -> None:
        for page in (1, 2):
            context.heartbeat({"page": page})
            door.entered.set()
            await beat.wait()
            beat.clear()

    kit = executor(copy)
    kit.execute("copy")
    await door.entered.wait()
    door.entered.clear()
    kit.timers.advance(1.5)
    beat.set()
    await door.entered.wait()
    kit.timers.advance(1.9)
    assert kit.reports.all == []
    kit.timers.advance(0.1)
    assert await kit.reports.next() == lost("heartbeat", {"page": 2}, at=1_003.5)


async def test_a_thread_hears_of_a_cancel_at_its_next_heartbeat(executor: Start, door: Door) -> None:
    cleaned_up = threading.Event()

    @tool
    def copy(*, context: ToolContext) -> None:
        context.heartbeat({"page": 1})
        door.loop.call_soon_threadsafe(door.entered.set)
        door.thread_opened.wait()
        try:
            context.heartbeat()
        finally:
            assert context.cancelled
            cleaned_up.set()

    kit = executor(copy)
    kit.execute("copy")
    await door.entered.wait()
    kit.cancel()
    await kit.order_taken()
    door.open()
    assert await kit.reports.next() == lost("cancelled", {"page": 1})
    assert cleaned_up.is_set()


async def test_details_that_cannot_be_recorded_do_not_fail_the_tool(executor: Start) -> None:
    @tool
    async def beat(*, context: ToolContext) -> str:
        context.heartbeat(object())
        return "done"

    kit = executor(beat)
    kit.execute("beat")
    assert await kit.reports.next() == success("done")


def test_a_context_made_by_hand_works_without_an_executor() -> None:
    context = ToolContext("op.0")
    context.heartbeat({"page": 1})
    assert (context.cancelled, context.attempt) == (False, 1)


def test_the_logger_of_a_context_knows_the_operation(capsys: pytest.CaptureFixture[str]) -> None:
    ToolContext("op.0", step="E0", tool="user__copy").log.info("copied", pages=3)
    line = capsys.readouterr().out
    assert "copied" in line
    assert "op.0" in line


# -------------------------------------------------------------------------------------------------- cancels


async def test_a_cancelled_coroutine_is_lost_once_it_ends(executor: Start, door: Door) -> None:
    kit = executor(waiting(door))
    kit.execute("wait")
    await door.entered.wait()
    kit.cancel()
    kit.cancel()
    assert await kit.reports.next() == lost("cancelled")
    assert len(kit.reports.all) == 1


async def test_an_attempt_cancelled_before_it_began_had_no_effect(executor: Start, door: Door) -> None:
    kit = executor(waiting(door))
    kit.execute("wait")
    kit.cancel()
    report = await kit.reports.next()
    assert isinstance(report, ReportFailure)
    assert (report.failure.kind, report.no_effect) == ("cancelled", True)
    assert not door.entered.is_set()


async def test_a_cancel_for_another_attempt_changes_nothing(executor: Start, door: Door) -> None:
    kit = executor(waiting(door))
    kit.execute("wait", 2)
    await door.entered.wait()
    kit.cancel(1)
    await kit.order_taken()
    door.open()
    assert await kit.reports.next() == success("attempt 2", attempt=2)


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        (None, success("attempt 1")),
        (ConnectionError("broken by the cancel"), lost("cancelled")),
        (
            RequestReplan("no", no_effect=True),
            ReportReplan(at=1_000.0, operation="op.0", attempt=1, reason="no", no_effect=True),
        ),
    ],
)
async def test_what_a_cancelled_tool_says_in_time_is_believed_if_it_is_a_fact(
    executor: Start, door: Door, then: BaseException | None, expected: Any
) -> None:
    kit = executor(stubborn(door, then))
    kit.execute("wait")
    await door.entered.wait()
    kit.cancel()
    await door.heard.wait()
    door.open()
    assert await kit.reports.next() == expected


async def test_a_cancelled_tool_may_vouch_that_nothing_happened(executor: Start, door: Door) -> None:
    kit = executor(stubborn(door, ToolError("rolled back", no_effect=True)))
    kit.execute("wait")
    await door.entered.wait()
    kit.cancel()
    await door.heard.wait()
    door.open()
    report = await kit.reports.next()
    assert (report.failure.message, report.no_effect) == ("rolled back", True)


async def test_a_thread_that_does_not_hear_a_cancel_is_given_up(executor: Start, door: Door) -> None:
    kit = executor(blocking(door), cancel_timeout_s=2.0)
    kit.execute("wait")
    await door.entered.wait()
    kit.cancel()
    await kit.order_taken()
    kit.timers.advance(2.0)
    assert await kit.reports.next() == lost("cancelled", at=1_002.0)
    door.open()
    assert await kit.reports.next() == success("attempt 1", at=1_002.0)


# ----------------------------------------------------------------------------------------------------- ends


def tool_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("midcourse-tool")}


@pytest.fixture(autouse=True)
def no_thread_remains(door: Door) -> Iterator[None]:
    before = tool_threads()
    yield
    door.open()
    for thread in tool_threads() - before:
        thread.join(10)
        assert not thread.is_alive()


async def test_attempts_may_finish_before_the_executor_does(executor: Start, door: Door) -> None:
    kit = executor(waiting(door), max_attempts_at_once=1)
    kit.execute("wait", 1)
    kit.execute("wait", 2)
    await door.entered.wait()
    finished = kit.ref.ask(Finish())
    door.open()
    assert await finished is None
    assert [message for _, message in kit.reports.all] == [
        success("attempt 1"),
        success("attempt 2", attempt=2),
    ]
    kit.execute("wait", 3)
    await kit.order_taken()
    assert len(kit.reports.all) == 2
    assert kit.timers.pending() == 0


async def test_what_is_ordered_after_finishing_has_begun_is_not_taken_up(executor: Start, door: Door) -> None:
    kit = executor(waiting(door))
    kit.execute("wait", 1)
    await door.entered.wait()
    finished = kit.ref.ask(Finish())
    kit.execute("wait", 2)
    taken = kit.ref.ask(RunOrders("nobody", ()))
    door.open()
    await finished
    await taken
    assert [message for _, message in kit.reports.all] == [success("attempt 1")]


async def test_whoever_cancels_the_finishing_closes_the_executor(executor: Start, door: Door) -> None:
    kit = executor(waiting(door))
    kit.execute("wait")
    await door.entered.wait()
    kit.timers.armed.clear()
    finished = kit.ref.ask(Finish())
    await kit.timers.armed.wait()
    (task,) = [task for task in asyncio.all_tasks() if task.get_name().endswith("finishes")]
    task.cancel()
    assert await finished is None
    door.open()
    await kit.ref.stop()
    assert kit.reports.all == []


async def test_what_does_not_finish_in_time_is_cancelled_without_a_report(
    executor: Start, door: Door
) -> None:
    kit = executor(waiting(door), max_attempts_at_once=1, drain_s=3.0)
    kit.execute("wait", 1)
    kit.execute("wait", 2)
    await door.entered.wait()
    kit.timers.armed.clear()
    finished = kit.ref.ask(Finish())
    await kit.timers.armed.wait()
    kit.timers.armed.clear()
    kit.timers.advance(3.0)
    await finished
    await kit.ref.stop()
    assert kit.reports.all == []
    with pytest.raises(ActorDeadError):
        kit.execute("wait", 3)


@pytest.mark.parametrize("make", [stubborn, blocking])
async def test_what_does_not_end_at_all_is_left_behind_and_named(
    executor: Start, door: Door, make: Callable[..., Tool], caplog: pytest.LogCaptureFixture
) -> None:
    kit = executor(make(door), drain_s=3.0, close_grace_s=1.0)
    kit.execute("wait")
    await door.entered.wait()
    kit.timers.armed.clear()
    finished = kit.ref.ask(Finish())
    await kit.timers.armed.wait()
    kit.timers.armed.clear()
    kit.timers.advance(3.0)
    await kit.timers.armed.wait()
    kit.timers.advance(1.0)
    await finished
    await kit.ref.stop()
    assert "attempt 1 of op.0 (tool user__wait) does not end" in caplog.text
    assert kit.reports.all == []


async def test_a_result_within_the_grace_is_still_reported(executor: Start, door: Door) -> None:
    kit = executor(stubborn(door), drain_s=0.0, close_grace_s=1.0)
    kit.execute("wait")
    await door.entered.wait()
    kit.timers.armed.clear()
    finished = kit.ref.ask(Finish())
    await kit.timers.armed.wait()
    kit.timers.armed.clear()
    kit.timers.advance(0.0)
    await door.heard.wait()
    door.open()
    await finished
    assert [message for _, message in kit.reports.all] == [success("attempt 1")]


async def test_a_stop_alone_cancels_at_once_and_reports_nothing(executor: Start, door: Door) -> None:
    kit = executor(waiting(door, timeout_s=5.0), waiting(door, name="other"))
    kit.execute("wait")
    await door.entered.wait()
    await kit.ref.stop()
    assert kit.reports.all == []
    assert kit.timers.pending() == 0


async def test_whoever_cancels_the_tasks_of_the_loop_cancels_no_run(executor: Start, door: Door) -> None:
    kit = executor(waiting(door))
    kit.execute("wait")
    await door.entered.wait()
    (task,) = [task for task in asyncio.all_tasks() if task.get_name().startswith("attempt 1 of op.0")]
    task.cancel()
    await asyncio.wait([task])
    assert kit.reports.all == []
