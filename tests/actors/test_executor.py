import asyncio
import contextvars
import inspect
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from midcourse.actors.context import ToolContext
from midcourse.actors.control import OutcomeUnknownError, RequestReplan, ToolError
from midcourse.actors.json_values import UNREADABLE
from midcourse.actors.orders import ForgetRun
from midcourse.actors.tools import tool
from midcourse.domain.facts import Failure
from midcourse.domain.messages import ReportFailure, ReportLost, ReportProbe, ReportReplan, ReportSuccess
from midcourse.domain.receipt import Receipt, Resource
from midcourse.domain.tools import RetryPolicy

Start = Callable[..., Any]


@tool(effect="read")
async def add(a: int, b: int = 0) -> int:
    return a + b


@tool
def subtract(a: int, b: int) -> int:
    return a - b


async def test_a_coroutine_and_a_plain_function_report_their_results(executor: Start) -> None:
    kit = executor(add, subtract)
    kit.execute("add", input={"a": 1, "b": 2}, operation="op.0")
    assert await kit.reports.next() == ReportSuccess(
        at=1_000.0, operation="op.0", attempt=1, receipt=Receipt(3)
    )
    kit.execute("subtract", input={"a": 1, "b": 2}, operation="op.1")
    assert await kit.reports.next() == ReportSuccess(
        at=1_000.0, operation="op.1", attempt=1, receipt=Receipt(-1)
    )
    assert [run for run, _ in kit.reports.all] == ["run", "run"]


async def test_a_tool_is_told_what_it_works_for(executor: Start) -> None:
    seen: list[ToolContext] = []

    @tool
    async def look(*, context: ToolContext) -> None:
        seen.append(context)

    kit = executor(look)
    kit.execute("look", 3, operation="op.7", details={"page": 4})
    await kit.reports.next()
    (context,) = seen
    assert (context.run_id, context.operation, context.attempt) == ("run", "op.7", 3)
    assert (context.step, context.tool, context.details) == ("E0", "user__look", {"page": 4})
    assert (context.cancelled, dict(context.board)) == (False, {})


async def test_wrong_arguments_are_reported_and_the_tool_is_not_called(executor: Start) -> None:
    kit = executor(add)
    kit.execute("add", input={"b": "2", "c": 3})
    report = await kit.reports.next()
    assert (report.failure.kind, report.retry_after_s, report.no_effect) == ("arguments", None, True)
    assert report.failure.message == (
        "tool 'user__add' was not called, its arguments do not fit: b: Expected `int`, got `str`; "
        "c: no such argument (arguments: a, b); a: is missing"
    )


async def test_a_tool_nobody_registered_is_reported_as_missing(executor: Start) -> None:
    kit = executor(add)
    kit.execute("divide")
    assert await kit.reports.next() == ReportFailure(
        at=1_000.0,
        operation="op.0",
        attempt=1,
        failure=Failure(
            "missing",
            "tool 'user__divide' is not registered with this engine (registered: user__add)",
            "E0",
            "user__divide",
        ),
        no_effect=True,
    )


async def test_a_token_is_used_once_until_its_run_is_forgotten(executor: Start) -> None:
    calls: list[int] = []

    @tool
    async def count(*, context: ToolContext) -> None:
        calls.append(context.attempt)

    kit = executor(count)
    kit.execute("count", 2)
    kit.execute("count", 2)
    await kit.reports.next()
    kit.execute("count", 2)
    kit.execute("count", 1)
    kit.execute("count", 3)
    await kit.reports.next()
    assert calls == [2, 3]
    kit.ref.tell(ForgetRun("run"))
    kit.execute("count", 3)
    await kit.reports.next()
    assert calls == [2, 3, 3]


# ------------------------------------------------------------------------------------------------- failures


class CardDeclinedError(Exception):
    pass


def failing(error: BaseException, **terms: Any) -> Any:
    async def fail() -> None:
        raise error

    return tool(**terms)(fail)


async def failure_of(executor: Start, error: BaseException, attempt: int = 1, **terms: Any) -> Any:
    kit = executor(failing(error, **terms))
    kit.execute("fail", attempt)
    return await kit.reports.next()


def caused(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


def during(error: BaseException, context: BaseException) -> BaseException:
    error.__context__ = context
    return error


async def test_an_error_is_reported_with_its_type_and_a_wait(executor: Start) -> None:
    report = await failure_of(executor, CardDeclinedError("no funds"))
    assert report == ReportFailure(
        at=1_000.0,
        operation="op.0",
        attempt=1,
        failure=Failure("tool_error", "no funds", "E0", "user__fail", "CardDeclinedError"),
        retry_after_s=1.0,
        no_effect=False,
    )


@pytest.mark.parametrize(("attempt", "wait_s"), [(1, 2.0), (2, 6.0), (3, 18.0), (4, 20.0), (9_999, 20.0)])
async def test_waits_grow_up_to_the_policys_longest(executor: Start, attempt: int, wait_s: float) -> None:
    policy = RetryPolicy(initial_s=2.0, factor=3.0, max_s=20.0)
    report = await failure_of(executor, CardDeclinedError(), attempt, retry=policy)
    assert report.retry_after_s == wait_s


@pytest.mark.parametrize(
    ("error", "retry_after_s", "no_effect"),
    [
        (ToolError("x", retryable=False), None, False),
        (ToolError("x", retry_after_s=7), 7.0, False),
        (ToolError("x", no_effect=True), 1.0, True),
        (caused(CardDeclinedError(), ToolError(retryable=False, no_effect=True)), None, True),
        (during(CardDeclinedError(), ToolError(retryable=False, no_effect=True)), None, False),
        (ExceptionGroup("tasks", [ToolError(retryable=False)]), None, False),
    ],
)
async def test_an_error_says_what_may_be_done_about_it(
    executor: Start, error: BaseException, retry_after_s: float | None, no_effect: bool
) -> None:
    report = await failure_of(executor, error)
    assert (report.retry_after_s, report.no_effect) == (retry_after_s, no_effect)


@pytest.mark.parametrize(
    "error",
    [SystemExit(3), KeyboardInterrupt(), BaseException("odd"), asyncio.CancelledError(), GeneratorExit()],
)
@pytest.mark.parametrize("is_async", [True, False])
async def test_no_exception_of_a_tool_gets_through_to_the_host(
    executor: Start, error: BaseException, is_async: bool
) -> None:
    def fail_in_thread() -> None:
        raise error

    kit = executor(failing(error), tool(fail_in_thread))
    kit.execute("fail" if is_async else "fail_in_thread")
    report = await kit.reports.next()
    assert (report.failure.kind, report.failure.error_type) == ("tool_error", type(error).__name__)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (KeyError("zz"), "KeyError: 'zz'"),
        (CardDeclinedError(), "CardDeclinedError without a message"),
        (IndexError(5), "IndexError: 5"),
        (CardDeclinedError("no funds"), "no funds"),
    ],
)
async def test_a_bare_value_is_told_with_the_name_of_its_error(
    executor: Start, error: BaseException, message: str
) -> None:
    assert (await failure_of(executor, error)).failure.message == message


async def test_long_and_unprintable_messages_are_recorded_all_the_same(executor: Start) -> None:
    report = await failure_of(executor, CardDeclinedError("\ud800" + "x" * 5_000))
    assert len(report.failure.message) < 2_100
    assert msgspec.json.decode(msgspec.json.encode(report.failure), type=Failure) == report.failure


async def test_a_tool_may_say_that_the_outcome_is_unknown(executor: Start) -> None:
    report = await failure_of(executor, OutcomeUnknownError("the connection broke"))
    assert report == ReportLost(
        at=1_000.0, operation="op.0", attempt=1, why="tool: the connection broke", details=None
    )


async def test_a_request_for_a_replan_is_passed_on(executor: Start) -> None:
    receipt = Receipt({"id": (1,)}, (Resource("parcel", "p"),))
    request = RequestReplan("no express", {"options": {"sea"}, "bad": object()}, receipt=receipt)
    report = await failure_of(executor, request)
    assert isinstance(report, ReportReplan)
    assert (report.reason, report.no_effect) == ("no express", False)
    assert report.receipt == Receipt({"id": [1]}, (Resource("parcel", "p"),))
    assert report.updates["options"] == ["sea"]
    assert UNREADABLE in report.updates["bad"]
    alone = await failure_of(executor, ExceptionGroup("tasks", [RequestReplan("no", no_effect=True)]))
    assert (alone.reason, alone.receipt, alone.no_effect) == ("no", None, True)


async def test_a_request_for_a_replan_cannot_say_both(executor: Start) -> None:
    with pytest.raises(ValueError, match="a receipt says that the operation is committed"):
        RequestReplan("x", receipt=Receipt(), no_effect=True)


async def test_a_plain_function_that_returns_a_coroutine_is_told_to_be_async(executor: Start) -> None:
    async def inner() -> None: ...

    @tool
    def outer() -> object:
        return inner()

    kit = executor(outer)
    kit.execute("outer")
    report = await kit.reports.next()
    assert "declare the tool with async def" in report.failure.message
    assert report.retry_after_s is None


async def test_a_result_that_cannot_be_recorded_is_a_success_with_a_marker(executor: Start) -> None:
    @tool
    async def connect() -> object:
        return object()

    kit = executor(connect)
    kit.execute("connect")
    report = await kit.reports.next()
    assert isinstance(report, ReportSuccess)
    assert report.receipt.result[UNREADABLE]["type"] == "builtins.object"


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_result_that_ends_programs_when_it_is_read_ends_none(executor: Start, is_async: bool) -> None:
    class Model:
        def model_dump(self, **_options: Any) -> Any:
            raise SystemExit(4)

    @tool
    async def make() -> Model:
        return Model()

    @tool
    def make_in_thread() -> Model:
        return Model()

    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _loop, _context: None)
    kit = executor(make, make_in_thread)
    kit.execute("make" if is_async else "make_in_thread")
    report = await kit.reports.next()
    assert isinstance(report, (ReportLost, ReportSuccess))
    assert report.operation == "op.0"


async def test_an_attempt_that_is_thrown_away_with_its_loop_says_nothing(executor: Start) -> None:
    begun = asyncio.Event()

    @tool
    async def wait() -> None:
        begun.set()
        await asyncio.Event().wait()

    kit = executor(wait)
    kit.execute("wait")
    await begun.wait()
    (task,) = (task for task in asyncio.all_tasks() if task.get_name().startswith("attempt 1 of op.0"))
    coroutine: Any = task.get_coro()
    coroutine.close()  # as the garbage collector does once the loop is gone
    assert kit.reports.all == []
    assert inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED
    task.cancel()
    await asyncio.wait([task])


# --------------------------------------------------------------------------------------------------- probes


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize(
    ("answer", "happened", "receipt", "why"),
    [
        (
            Receipt({"id": 1}, (Resource("charge", "c"),)),
            True,
            Receipt({"id": 1}, (Resource("charge", "c"),)),
            "",
        ),
        ({"id": 1}, True, Receipt({"id": 1}), ""),
        (None, False, None, ""),
        (
            False,
            None,
            None,
            "the probe returned False, which may mean either; return None for 'did not happen'",
        ),
        (OSError("down"), None, None, "the probe raised OSError: down"),
    ],
)
async def test_a_probe_says_what_became_of_an_operation(
    executor: Start, is_async: bool, answer: Any, happened: bool | None, receipt: Receipt | None, why: str
) -> None:
    asked: list[str] = []

    def probe(operation: str) -> Any:
        asked.append(operation)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def async_probe(operation: str) -> Any:
        return probe(operation)

    kit = executor(tool(probe=async_probe if is_async else probe, name="charge")(lambda: None))
    kit.probe("charge")
    report = await kit.reports.next()
    assert report == ReportProbe(
        at=1_000.0, operation="op.0", attempt=1, happened=happened, receipt=receipt, why=why
    )
    assert asked == ["op.0"]


async def test_a_probe_that_does_not_answer_leaves_the_outcome_unknown(executor: Start) -> None:
    async def probe(operation: str) -> None:
        await asyncio.Event().wait()

    kit = executor(tool(probe=probe, name="charge")(lambda: None), probe_timeout_s=3.0)
    kit.probe("charge")
    kit.probe("charge")
    await kit.handled()
    kit.timers.advance(3.0)
    report = await kit.reports.next()
    assert (report.happened, report.why) == (None, "the probe did not answer: timeout")
    assert len(kit.reports.all) == 1


async def test_a_tool_without_a_probe_leaves_the_outcome_unknown(executor: Start) -> None:
    kit = executor(add)
    kit.probe("add")
    report = await kit.reports.next()
    assert report.happened is None
    assert "has no probe" in report.why


# --------------------------------------------------------------------------------------------------- limits


async def test_attempts_wait_for_a_place_in_order(executor: Start) -> None:
    running: list[str] = []
    doors = {f"op.{n}": asyncio.Event() for n in range(4)}

    @tool
    async def hold(*, context: ToolContext) -> None:
        running.append(context.operation)
        await doors[context.operation].wait()

    kit = executor(hold, max_attempts_at_once=2)
    for operation in doors:
        kit.execute("hold", operation=operation)
    await kit.handled()
    assert running == ["op.0", "op.1"]
    kit.cancel(operation="op.2")
    withdrawn = await kit.reports.next()
    assert (withdrawn.operation, withdrawn.failure.kind, withdrawn.no_effect) == ("op.2", "cancelled", True)
    doors["op.1"].set()
    assert (await kit.reports.next()).operation == "op.1"
    doors["op.0"].set()
    doors["op.3"].set()
    assert {(await kit.reports.next()).operation, (await kit.reports.next()).operation} == {"op.0", "op.3"}
    assert running == ["op.0", "op.1", "op.3"]


ORIGIN: contextvars.ContextVar[str] = contextvars.ContextVar("origin", default="nobody")


async def test_attempts_see_the_context_of_the_start_and_not_of_each_other(executor: Start) -> None:
    @tool
    async def whence() -> str:
        seen = ORIGIN.get()
        ORIGIN.set("an attempt")
        return seen

    @tool
    def whence_in_thread() -> str:
        seen = ORIGIN.get()
        ORIGIN.set("a thread")
        return seen

    ORIGIN.set("the start")
    kit = executor(whence, whence_in_thread)
    ORIGIN.set("the sender")
    for n, name in enumerate(["whence", "whence", "whence_in_thread", "whence_in_thread"]):
        kit.execute(name, operation=f"op.{n}")
        assert (await kit.reports.next()).receipt == Receipt("the start")


async def test_a_run_that_takes_no_report_does_not_stop_the_others(executor: Start) -> None:
    complaints: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: complaints.append(context["message"]))
    kit = executor(add)
    kit.reports.gone_runs.add("gone")
    kit.execute("add", input={"a": 1}, run="gone")
    kit.execute("add", input={"a": 1})
    assert (await kit.reports.next()).receipt == Receipt(1)
    assert complaints == ["ReportSuccess on op.0 could not be handed to run gone"]
