"""Actors with a task of their own: answers, stop, cancellation, failure, children."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Sequence
from contextvars import ContextVar
from types import TracebackType
from typing import Any

import pykka
import pytest

from midcourse.actors._pykka import (
    ActorDeadError,
    AsyncioActor,
    AsyncioActorRef,
    HandlerCancelledError,
)

_request: ContextVar[str] = ContextVar("_request", default="none")


class Worker(AsyncioActor):
    """Does what a message says (a coroutine function of the actor) or answers with the message."""

    def __init__(self, started: list[Worker]) -> None:
        super().__init__(urn="worker")
        started.append(self)
        self.log: list[Any] = []
        self.failures: list[BaseException | None] = []
        self.refused: list[Any] = []

    def on_start(self) -> None:
        self.log.append("started")

    async def on_receive(self, message: Any) -> Any:
        if callable(message):
            return await message(self)
        self.log.append(message)
        return message

    def on_stop(self) -> None:
        self.log.append("stopped")

    def on_failure(
        self,
        exception_type: type[BaseException] | None,
        exception_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.failures.append(exception_value)

    def on_refused(self, messages: Sequence[Any]) -> None:
        self.refused.extend(messages)


def start(kind: type[Worker] = Worker) -> tuple[AsyncioActorRef[Worker], Worker]:
    started: list[Worker] = []
    return kind.start(started), started[0]


class Gate:
    """A handler that waits until it is let on."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.open = asyncio.Event()

    async def __call__(self, worker: Worker) -> str:
        self.entered.set()
        await self.open.wait()
        worker.log.append("passed")
        return "passed"


async def test_messages_are_handled_one_after_the_other_in_order() -> None:
    ref, actor = start()
    gate = Gate()
    passed = ref.ask(gate)
    ref.tell("second")
    await gate.entered.wait()
    assert actor.log == ["started"]
    gate.open.set()
    assert await passed == "passed"
    assert await ref.ask("third") == "third"
    assert actor.log == ["started", "passed", "second", "third"]
    await ref.stop()


async def test_stop_handles_what_came_before_and_refuses_what_came_after() -> None:
    ref, actor = start()
    for number in range(100):
        ref.tell(number)
    stopped = ref.stop()
    ref.tell("after")
    after = ref.ask("asked after")
    assert await stopped is True
    assert actor.log == ["started", *range(100), "stopped"]
    assert actor.refused == ["after"]
    with pytest.raises(ActorDeadError, match=r"Worker \(worker\) has stopped"):
        await after
    with pytest.raises(ActorDeadError):
        ref.tell("late")
    assert await ref.stop() is False
    assert actor.task.done()


async def test_an_actor_may_stop_itself() -> None:
    async def stop(worker: Worker) -> None:
        worker.stop()

    ref, actor = start()
    ref.tell(stop)
    await asyncio.wait([actor.task])
    assert not ref.is_alive()
    assert actor.log == ["started", "stopped"]


async def test_an_error_after_an_ask_is_the_answer_and_the_actor_lives() -> None:
    async def fail(worker: Worker) -> None:
        raise ValueError("for the asker")

    ref, actor = start()
    with pytest.raises(ValueError, match="for the asker"):
        await ref.ask(fail)
    assert await ref.ask("alive") == "alive"
    assert actor.failures == []
    await ref.stop()


async def test_an_error_after_a_tell_ends_the_actor_and_its_owner_sees_it() -> None:
    error = ValueError("nobody to answer")

    async def fail(worker: Worker) -> None:
        raise error

    ref, actor = start()
    ref.tell(fail)
    waiting = ref.ask("waiting")
    ref.tell("told")
    assert await ref.stop() is True
    assert actor.failures == [error]
    assert ref.failure is error
    assert actor.refused == ["told"]
    assert actor.log == ["started"]
    with pytest.raises(ActorDeadError, match="nobody to answer") as refusal:
        await waiting
    assert refusal.value.__cause__ is error


async def test_a_caller_who_has_gone_does_not_hurt_the_actor() -> None:
    ref, actor = start()
    gate = Gate()
    caller = asyncio.ensure_future(_await(ref, gate))
    await gate.entered.wait()
    caller.cancel()
    await asyncio.wait([caller])
    gate.open.set()
    assert await ref.ask("alive") == "alive"
    assert actor.log == ["started", "passed", "alive"]
    assert actor.failures == []
    await ref.stop()


async def _await(ref: AsyncioActorRef[Worker], message: Any) -> Any:
    return await ref.ask(message)


async def test_a_cancelled_actor_refuses_everything_and_the_hosts_tasks_live() -> None:
    ref, actor = start()
    other_ref, _ = start()
    host_may_end = asyncio.Event()
    host = asyncio.create_task(host_may_end.wait())
    gate = Gate()
    in_hand = ref.ask(gate)
    waiting = ref.ask("waiting")
    ref.tell("told")
    await gate.entered.wait()
    actor.task.cancel()
    for refused in (in_hand, waiting):
        with pytest.raises(ActorDeadError, match="was cancelled"):
            await refused
    await asyncio.wait([actor.task])
    assert actor.task.cancelled()
    assert actor.refused == ["told"]
    assert actor.failures == []
    assert actor.log == ["started", "stopped"]
    assert await other_ref.ask("alive") == "alive"
    assert not host.done()
    host_may_end.set()
    assert await host is True
    await other_ref.stop()


async def test_an_actor_cancelled_before_its_first_step_refuses_too() -> None:
    ref, actor = start()
    waiting = ref.ask("waiting")
    stopped = ref.stop()
    actor.task.cancel()
    with pytest.raises(ActorDeadError, match="was cancelled"):
        await waiting
    assert await stopped is True
    assert not ref.is_alive()


async def test_a_cancellation_swallowed_by_a_handler_still_ends_the_actor() -> None:
    entered = asyncio.Event()

    async def swallow(worker: Worker) -> None:
        entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            worker.log.append("swallowed")

    ref, actor = start()
    ref.tell(swallow)
    ref.tell("told")
    await entered.wait()
    actor.task.cancel()
    await asyncio.wait([actor.task])
    assert not ref.is_alive()
    assert actor.log == ["started", "swallowed", "stopped"]
    assert actor.refused == ["told"]


async def test_a_timeout_inside_a_handler_is_no_cancellation_of_the_actor() -> None:
    async def time_out(worker: Worker) -> str:
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            return "timed out"
        return "not timed out"

    ref, _ = start()
    assert await ref.ask(time_out) == "timed out"
    assert await ref.ask("alive") == "alive"
    await ref.stop()


async def test_a_cancelled_future_inside_a_handler_is_an_error_of_the_handler() -> None:
    async def await_cancelled(worker: Worker) -> None:
        future = asyncio.get_running_loop().create_future()
        future.cancel()
        await future

    ref, actor = start()
    with pytest.raises(HandlerCancelledError):
        await ref.ask(await_cancelled)
    assert await ref.ask("alive") == "alive"
    ref.tell(await_cancelled)
    assert await ref.stop() is True
    assert [type(error) for error in actor.failures] == [HandlerCancelledError]


async def test_a_failing_on_start_ends_the_actor() -> None:
    class Stillborn(Worker):
        def on_start(self) -> None:
            raise ValueError("cannot start")

    ref, actor = start(Stillborn)
    with pytest.raises(ActorDeadError, match="cannot start"):
        await ref.ask("anything")
    assert [str(error) for error in actor.failures] == ["cannot start"]


async def test_a_failing_on_stop_is_a_failure_and_the_stop_is_answered() -> None:
    class Clumsy(Worker):
        def on_stop(self) -> None:
            raise ValueError("cannot clean up")

    ref, actor = start(Clumsy)
    assert await ref.stop() is True
    assert [str(error) for error in actor.failures] == ["cannot clean up"]


async def test_hooks_left_as_they_are_report_failure_and_refusal(caplog: pytest.LogCaptureFixture) -> None:
    class Plain(AsyncioActor):
        async def on_receive(self, message: Any) -> Any:
            raise ValueError(message)

    reported: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: reported.append(f"{context['message']}: {context['exception']!r}")
    )
    ref = Plain.start(urn="one")
    ref.tell("first")
    ref.tell("second")
    await ref.stop()
    assert reported == ["Plain (one) failed: ValueError('first')"]
    assert caplog.record_tuples == [
        ("midcourse.actors", logging.WARNING, "Plain (one) ended with 1 messages not handled: str")
    ]


async def test_children_run_beside_the_messages_and_are_cancelled_and_awaited_at_the_end() -> None:
    child_entered = asyncio.Event()

    async def work(worker: Worker) -> None:
        child_entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            worker.log.append("child ended")

    async def spawn(worker: Worker) -> None:
        worker.spawn(work(worker), name="child")

    ref, actor = start()
    await ref.ask(spawn)
    await child_entered.wait()
    gc.collect()
    assert await ref.ask("beside") == "beside"
    await ref.stop()
    assert actor.log == ["started", "beside", "stopped", "child ended"]


async def test_an_error_of_a_child_ends_the_actor_and_a_cancelled_child_does_not() -> None:
    error = ValueError("child broken")

    async def fail() -> None:
        raise error

    async def wait_for_ever() -> None:
        await asyncio.Event().wait()

    async def spawn_and_cancel(worker: Worker) -> asyncio.Task[None]:
        child = worker.spawn(wait_for_ever(), name="cancelled")
        child.cancel()
        await asyncio.wait([child])
        return child

    async def spawn_failing(worker: Worker) -> None:
        worker.spawn(fail(), name="failing")

    ref, actor = start()
    assert (await ref.ask(spawn_and_cancel)).cancelled()
    ref.tell(spawn_failing)
    await asyncio.wait([actor.task])
    assert actor.failures == [error]
    assert ref.failure is error


async def test_handlers_and_children_see_no_context_of_the_sender_or_the_starter() -> None:
    seen: list[str] = []

    async def look(worker: Worker) -> None:
        seen.append(_request.get())
        _request.set("of the actor")
        await worker.spawn(look_in_child(), name="child")

    async def look_in_child() -> None:
        seen.append(_request.get())

    token = _request.set("of the starter")
    ref, _ = start()
    await ref.ask(look)
    assert _request.get() == "of the starter"
    _request.reset(token)
    await ref.stop()
    assert seen == ["none", "none"]


async def test_handlers_that_never_wait_let_the_host_run() -> None:
    async def tell_itself(worker: Worker) -> None:
        worker.log.append("again")
        worker.actor_ref.tell(tell_itself)

    ref, actor = start()
    ref.tell(tell_itself)
    for _ in range(20):
        await asyncio.sleep(0)
    stopped = ref.stop()
    assert await stopped is True
    assert 2 < len(actor.log) <= 20 * 32


async def test_a_held_reference_keeps_actor_and_task_alive() -> None:
    ref = Worker.start([])
    gc.collect()
    assert await ref.ask("still there") == "still there"
    gc.collect()
    assert await ref.stop() is True


async def test_pykkas_registry_stays_empty() -> None:
    ref, _ = start()
    assert pykka.ActorRegistry.get_all() == []
    await ref.stop()
    assert pykka.ActorRegistry.get_all() == []


async def test_there_are_no_proxies() -> None:
    ref, _ = start()
    with pytest.raises(TypeError, match="send it a message"):
        ref.proxy()
    await ref.stop()


async def test_an_actor_needs_a_running_loop() -> None:
    with pytest.raises(RuntimeError, match="no running event loop"):
        await asyncio.to_thread(Worker.start, [])
