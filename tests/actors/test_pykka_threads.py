"""Actors and the world outside their loop: other threads, other loops, other kinds of loop, and futures."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

import pykka
import pytest

from midcourse.actors._pykka import (
    ActorDeadError,
    AsyncioActor,
    AsyncioActorRef,
    AsyncioFuture,
    Dispatcher,
    Envelope,
    HandlerCancelledError,
    Hold,
    TurnActor,
    WouldBlockError,
)


class Echo(AsyncioActor):
    def __init__(self, started: list[Echo] | None = None) -> None:
        super().__init__(urn="echo")
        if started is not None:
            started.append(self)

    async def on_receive(self, message: Any) -> Any:
        return message


class Counter(TurnActor):
    """Counts messages and answers askers with the count and the thread it runs in."""

    def __init__(self, started: list[Counter]) -> None:
        super().__init__(urn="counter", dispatcher=Dispatcher(lambda: None))
        started.append(self)
        self.count = 0
        self.is_busy = asyncio.Event()

    def on_turn(self, messages: list[Envelope[Any]]) -> Hold | None:
        for envelope in messages:
            self.count += 1
            if self.count == 50:
                self.is_busy.set()
            if envelope.reply_to is not None:
                envelope.reply_to.set((self.count, threading.get_ident()))
        return None

    def on_failure(
        self,
        exception_type: type[BaseException] | None,
        exception_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pass


def start_counter() -> tuple[AsyncioActorRef[Counter], Counter]:
    started: list[Counter] = []
    return Counter.start(started), started[0]


async def test_messages_from_many_threads_all_arrive_and_run_on_the_loops_thread() -> None:
    ref, _ = start_counter()

    def send() -> None:
        for number in range(250):
            ref.tell(number)

    await asyncio.gather(*(asyncio.to_thread(send) for _ in range(4)))
    assert await ref.ask("count") == (1001, threading.get_ident())


async def test_a_thread_without_a_loop_gets_its_answer_by_get() -> None:
    ref = Echo.start()
    assert await asyncio.to_thread(lambda: ref.ask("from a thread").get(timeout=10)) == "from a thread"
    assert await asyncio.to_thread(lambda: ref.stop().get(timeout=10)) is True


async def test_a_thread_that_waits_too_briefly_gets_a_timeout() -> None:
    ref = Echo.start()

    def ask_while_the_loop_is_busy() -> None:
        with pytest.raises(pykka.Timeout, match="0 seconds"):
            ref.ask("never mind").get(timeout=0)

    thread = threading.Thread(target=ask_while_the_loop_is_busy)
    thread.start()
    thread.join()  # holds the loop, so that no answer can come
    assert await ref.ask("alive") == "alive"
    await ref.stop()


async def test_a_message_that_another_thread_put_before_the_end_is_refused_on_arrival(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ref, actor = start_counter()
    answers: list[AsyncioFuture[Any]] = []

    def put() -> None:
        answers.append(ref.ask("too late"))
        ref.tell("too late")

    thread = threading.Thread(target=put)
    thread.start()
    thread.join()  # both messages are on their way to the loop now, the inbox was open
    actor.fail(OSError("gone"))
    await asyncio.sleep(0)
    with pytest.raises(ActorDeadError, match="gone"):
        answers[0].get()
    assert [record.getMessage() for record in caplog.records] == [
        "Counter (counter) failed with OSError('gone'); a str told from another thread came too late"
    ]


async def test_while_threads_race_a_stop_every_ask_is_answered_or_refused() -> None:
    ref, actor = start_counter()
    outcomes: list[str] = []
    ready = threading.Barrier(4)

    def race() -> None:
        ready.wait()
        for number in range(200):
            try:
                ref.ask(number).get(timeout=30)
                outcomes.append("answered")
            except ActorDeadError:
                outcomes.append("refused")

    racers = [asyncio.create_task(asyncio.to_thread(race)) for _ in range(4)]
    await actor.is_busy.wait()
    await ref.stop()
    await asyncio.gather(*racers)
    assert len(outcomes) == 800
    assert outcomes.count("answered") == actor.count


async def test_a_stop_from_another_thread_is_honoured() -> None:
    ref, actor = start_counter()

    def use() -> bool:
        ref.tell("before")
        stopped = ref.stop()
        return stopped.get(timeout=10)

    assert await asyncio.to_thread(use) is True
    assert actor.count == 1


def test_two_loops_in_two_threads_serve_each_other() -> None:
    refs: dict[str, AsyncioActorRef[Counter]] = {}
    both_started = threading.Barrier(2)
    both_done = threading.Barrier(2)
    results: dict[str, tuple[int, int]] = {}
    threads: dict[str, int] = {}

    async def serve(name: str, peer: str) -> None:
        threads[name] = threading.get_ident()
        ref, _ = start_counter()
        refs[name] = ref
        await asyncio.to_thread(both_started.wait, 10)
        for number in range(500):
            refs[peer].tell(number)
        results[name] = await refs[peer].ask("count")
        await asyncio.to_thread(both_done.wait, 10)
        await ref.stop()

    workers = [
        threading.Thread(target=asyncio.run, args=(serve(name, peer),))
        for name, peer in (("left", "right"), ("right", "left"))
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == {"left": (501, threads["right"]), "right": (501, threads["left"])}


def test_two_loops_one_after_the_other_and_a_reference_to_a_closed_loop() -> None:
    async def start() -> AsyncioActorRef[Counter]:
        ref, _ = start_counter()
        assert (await ref.ask("first"))[0] == 1
        return ref

    first = asyncio.run(start())
    second = asyncio.run(start())
    for ref in (first, second):
        with pytest.raises(ActorDeadError, match="event loop of the actor is closed"):
            ref.tell("late")
        with pytest.raises(ActorDeadError, match="event loop of the actor is closed"):
            ref.ask("late").get(timeout=1)
        assert ref.stop().get(timeout=1) is False


def _uvloop() -> asyncio.AbstractEventLoop:
    uvloop = pytest.importorskip("uvloop")
    return uvloop.new_event_loop()  # type: ignore[no-any-return]


def _eager_loop() -> asyncio.AbstractEventLoop:
    eager_task_factory = getattr(asyncio, "eager_task_factory", None)
    if eager_task_factory is None:
        pytest.skip("eager tasks came with Python 3.12")
    loop = asyncio.new_event_loop()
    loop.set_task_factory(eager_task_factory)
    return loop


@pytest.mark.parametrize("loop_factory", [asyncio.new_event_loop, _uvloop, _eager_loop])
def test_every_kind_of_loop_runs_actors(loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def scenario() -> tuple[Any, ...]:
        echo = Echo.start()
        counter, _ = start_counter()
        counter.tell("one")
        from_thread = await asyncio.to_thread(lambda: echo.ask("from a thread").get(timeout=10))
        count, _ = await counter.ask("two")
        started: list[Echo] = []
        cancelled = Echo.start(started)
        started[0].task.cancel()
        await asyncio.wait([started[0].task])
        return (
            await echo.ask("hello"),
            from_thread,
            count,
            cancelled.is_alive(),
            await echo.stop(),
            await counter.stop(),
        )

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        assert runner.run(scenario()) == ("hello", "from a thread", 2, False, True, True)


def test_a_loop_that_ends_cancels_its_actors_and_they_refuse() -> None:
    class Stuck(Echo):
        async def on_receive(self, message: Any) -> Any:
            await asyncio.Event().wait()

    async def leave_running() -> tuple[AsyncioActorRef[Stuck], AsyncioFuture[Any]]:
        ref = Stuck.start()
        return ref, ref.ask("unanswered")

    ref, unanswered = asyncio.run(leave_running())
    assert not ref.is_alive()
    with pytest.raises(ActorDeadError, match="was cancelled"):
        unanswered.get()
    with pytest.raises(ActorDeadError, match="was cancelled"):
        ref.tell("late")


async def test_get_on_a_loop_is_a_clear_error() -> None:
    future: AsyncioFuture[int] = AsyncioFuture()
    with pytest.raises(WouldBlockError, match="await the future"):
        future.get()
    future.set(7)
    assert future.get() == 7
    assert await future == 7


async def test_get_in_a_thread_on_a_future_of_a_loop_is_a_clear_error() -> None:
    future: AsyncioFuture[int] = AsyncioFuture()

    def get() -> None:
        with pytest.raises(WouldBlockError, match="on the loop that made it"):
            future.get(timeout=1)

    await asyncio.to_thread(get)


async def test_a_future_made_in_a_thread_can_be_awaited() -> None:
    future: AsyncioFuture[int] = await asyncio.to_thread(AsyncioFuture)
    await asyncio.to_thread(future.set, 7)
    assert await future == 7


async def test_awaiting_lets_the_loop_run() -> None:
    future: AsyncioFuture[int] = AsyncioFuture()
    asyncio.get_running_loop().call_soon(future.set, 7)
    assert await future == 7


async def test_hooks_that_block_are_refused() -> None:
    future: AsyncioFuture[int] = AsyncioFuture()
    with pytest.raises(WouldBlockError, match=r"map\(\)"):
        future.map(str)
    with pytest.raises(WouldBlockError, match=r"join\(\)"):
        future.join(future)


async def test_the_first_answer_counts_and_a_late_one_is_dropped() -> None:
    future: AsyncioFuture[int] = AsyncioFuture()
    future.set(1)
    future.set(2)
    future.set_exception((ValueError, ValueError("late"), None))
    assert await future == 1


def test_an_answer_to_an_asker_whose_loop_is_closed_is_dropped() -> None:
    async def ask() -> AsyncioFuture[int]:
        return AsyncioFuture()

    future = asyncio.run(ask())
    future.set(1)
    with pytest.raises(WouldBlockError):
        future.get()


@pytest.mark.parametrize(
    ("raised", "got"), [(asyncio.CancelledError(), HandlerCancelledError), (StopIteration(), RuntimeError)]
)
async def test_errors_that_mean_something_to_await_are_wrapped(
    raised: BaseException, got: type[Exception]
) -> None:
    future: AsyncioFuture[int] = AsyncioFuture()
    future.set_exception((type(raised), raised, None))
    with pytest.raises(got) as wrapped:
        await future
    assert wrapped.value.__cause__ is raised


async def test_set_exception_takes_the_error_being_handled() -> None:
    future: AsyncioFuture[int] = AsyncioFuture()
    with pytest.raises(TypeError, match="needs an error"):
        future.set_exception()
    try:
        raise ValueError("being handled")  # noqa: TRY301 - it is to be handled here
    except ValueError:
        future.set_exception()
    with pytest.raises(ValueError, match="being handled"):
        await future
