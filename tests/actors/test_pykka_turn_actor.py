"""Turn actors: batches, holds, stop, failure, refusal, isolation."""

from __future__ import annotations

import asyncio
import gc
import logging
import tracemalloc
from collections.abc import Sequence
from contextvars import ContextVar
from types import TracebackType
from typing import Any

import pykka
import pytest

from midcourse.actors._pykka import (
    HOLD,
    ActorDeadError,
    AsyncioActorRef,
    Dispatcher,
    Envelope,
    Hold,
    TurnActor,
)

_request: ContextVar[str] = ContextVar("_request", default="none")


def _no_flush() -> None:
    pass


class Recorder(TurnActor):
    """Keeps its batches, answers askers with the message, and does what some messages say."""

    def __init__(self, started: list[Recorder], *, holds: bool = False, is_held: bool = False) -> None:
        super().__init__(urn="recorder", dispatcher=Dispatcher(_no_flush), is_held=is_held)
        started.append(self)
        self.holds = holds
        self.batches: list[list[Any]] = []
        self.seen_requests: list[str] = []
        self.failures: list[BaseException | None] = []
        self.refused: list[Any] = []
        self.stops = 0

    def on_turn(self, messages: list[Envelope[Any]]) -> Hold | None:
        self.batches.append([envelope.message for envelope in messages])
        self.seen_requests.append(_request.get())
        for envelope in messages:
            if isinstance(envelope.message, BaseException):
                raise envelope.message
            if callable(envelope.message):
                envelope.message(self)
            if envelope.reply_to is not None:
                envelope.reply_to.set(envelope.message)
        return HOLD if self.holds else None

    def on_stop(self) -> None:
        self.stops += 1

    def on_failure(
        self,
        exception_type: type[BaseException] | None,
        exception_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.failures.append(exception_value)

    def on_refused(self, messages: Sequence[Any]) -> None:
        self.refused.extend(messages)


def start(kind: type[Recorder] = Recorder, **options: bool) -> tuple[AsyncioActorRef[Recorder], Recorder]:
    started: list[Recorder] = []
    return kind.start(started, **options), started[0]


class Idle(TurnActor):
    def on_turn(self, messages: list[Envelope[Any]]) -> Hold | None:
        return None


async def slices(count: int = 3) -> None:
    """Let the loop go round, so that ready turns are taken."""
    for _ in range(count):
        await asyncio.sleep(0)


async def test_messages_told_before_the_turn_come_in_one_batch_in_order() -> None:
    ref, actor = start()
    for number in range(5):
        ref.tell(number)
    assert actor.batches == []
    await slices()
    assert actor.batches == [[0, 1, 2, 3, 4]]


async def test_an_ask_is_answered() -> None:
    ref, _ = start()
    assert await ref.ask("hello") == "hello"


async def test_a_turn_gets_no_more_than_max_batch() -> None:
    ref, actor = start()
    for number in range(300):
        ref.tell(number)
    await ref.ask("last")
    assert [len(batch) for batch in actor.batches] == [128, 128, 45]
    assert [message for batch in actor.batches for message in batch] == [*range(300), "last"]


async def test_hold_keeps_turns_back_until_resumed() -> None:
    ref, actor = start(holds=True)
    ref.tell("first")
    await slices()
    ref.tell("second")
    ref.tell("third")
    await slices()
    assert actor.batches == [["first"]]
    actor.resume_turns()
    await slices()
    assert actor.batches == [["first"], ["second", "third"]]


async def test_resuming_with_nothing_waiting_lets_the_next_message_in() -> None:
    ref, actor = start(holds=True)
    ref.tell("first")
    await slices()
    actor.resume_turns()
    await slices()
    ref.tell("second")
    await slices()
    assert actor.batches == [["first"], ["second"]]


async def test_resuming_twice_gives_one_turn() -> None:
    ref, actor = start(holds=True)
    ref.tell("first")
    await slices()
    ref.tell("second")
    actor.resume_turns()
    actor.resume_turns()
    await slices()
    ref.tell("third")
    await slices()
    assert actor.batches == [["first"], ["second"]]


async def test_a_resume_within_the_turn_that_holds_is_not_lost() -> None:
    ref, actor = start(holds=True)
    ref.tell(Recorder.resume_turns)
    await slices()
    ref.tell("next")
    await slices()
    assert actor.batches == [[Recorder.resume_turns], ["next"]]


async def test_an_actor_may_hold_from_its_start() -> None:
    ref, actor = start(is_held=True)
    ref.tell("early")
    await slices()
    assert actor.batches == []
    actor.resume_turns()
    await slices()
    assert actor.batches == [["early"]]


async def test_a_resume_within_on_start_ends_the_hold_of_the_start() -> None:
    class Eager(Recorder):
        def on_start(self) -> None:
            self.actor_ref.tell("from on_start")
            self.resume_turns()

    _, actor = start(Eager, is_held=True)
    await slices()
    assert actor.batches == [["from on_start"]]


async def test_a_message_told_to_itself_comes_in_the_next_turn() -> None:
    ref, actor = start()

    def tell_itself(recorder: Recorder) -> None:
        recorder.actor_ref.tell("to myself")

    ref.tell(tell_itself)
    await slices()
    assert actor.batches == [[tell_itself], ["to myself"]]


async def test_stop_handles_what_came_before_and_refuses_what_came_after() -> None:
    ref, actor = start()
    ref.tell("before")
    stopped = ref.stop()
    ref.tell("after")
    asked_after = ref.ask("asked after")
    assert await stopped is True
    assert actor.batches == [["before"]]
    assert actor.refused == ["after"]
    assert actor.stops == 1
    assert not ref.is_alive()
    with pytest.raises(ActorDeadError, match=r"Recorder \(recorder\) has stopped"):
        await asked_after


async def test_more_than_a_batch_before_a_stop_is_handled() -> None:
    ref, actor = start()
    for number in range(200):
        ref.tell(number)
    assert await ref.stop() is True
    assert [message for batch in actor.batches for message in batch] == list(range(200))


async def test_a_stop_waits_for_a_held_turn() -> None:
    ref, actor = start(holds=True)
    ref.tell("append")
    stopped = ref.stop()
    await slices()
    assert ref.is_alive()
    actor.resume_turns()
    assert await stopped is True


async def test_two_stops_under_way_are_both_answered_and_a_later_one_finds_it_dead() -> None:
    ref, actor = start()
    stops = [ref.stop(), ref.stop()]
    assert [await stop for stop in stops] == [True, True]
    assert await ref.stop() is False
    assert actor.stops == 1


async def test_a_dead_actor_refuses_at_once() -> None:
    ref, _ = start()
    await ref.stop()
    with pytest.raises(ActorDeadError, match="send to a newly started actor"):
        ref.tell("late")
    with pytest.raises(pykka.ActorDeadError):
        await ref.ask("late")


async def test_an_exception_in_a_turn_ends_the_actor_and_its_owner_sees_it() -> None:
    ref, actor = start()
    error = ValueError("broken")
    ref.tell(error)
    asked = ref.ask("in the same batch")
    stopped = ref.stop()
    assert await stopped is True
    assert actor.failures == [error]
    assert ref.failure is error
    assert actor.stops == 0
    with pytest.raises(ActorDeadError, match="failed with ValueError") as refusal:
        await asked
    assert refusal.value.__cause__ is error
    with pytest.raises(ActorDeadError, match="failed with ValueError"):
        ref.tell("late")


async def test_a_cancelled_error_in_a_turn_is_a_failure_like_any_other() -> None:
    ref, actor = start()
    error = asyncio.CancelledError()
    ref.tell(error)
    await ref.stop()
    assert actor.failures == [error]


async def test_failing_outside_a_turn_refuses_what_waits() -> None:
    ref, actor = start(holds=True)
    ref.tell("append")
    await slices()
    waiting = ref.ask("waiting")
    ref.tell("told")
    error = OSError("disk full")
    actor.fail(error)
    actor.resume_turns()
    with pytest.raises(ActorDeadError, match="disk full"):
        await waiting
    assert actor.failures == [error]
    assert actor.refused == ["told"]
    assert actor.batches == [["append"]]


async def test_failing_within_a_turn_refuses_its_askers_that_have_no_answer_yet() -> None:
    ref, actor = start()
    error = OSError("no disk")

    def fail(recorder: Recorder) -> None:
        recorder.fail(error)

    answered = ref.ask("answered")
    ref.tell(fail)
    assert await answered == "answered"
    assert actor.failures == [error]

    silent, _ = start(Silent)
    with pytest.raises(ActorDeadError, match="no disk"):
        await silent.ask("anything")


class Silent(Recorder):
    """Fails without raising and answers nobody."""

    def on_turn(self, messages: list[Envelope[Any]]) -> Hold | None:
        self.fail(OSError("no disk"))
        return None


async def test_a_failing_on_start_gives_a_dead_reference_that_shows_why() -> None:
    class Stillborn(Recorder):
        def on_start(self) -> None:
            raise ValueError("cannot start")

    ref = Stillborn.start([])
    assert not ref.is_alive()
    assert repr(ref.failure) == "ValueError('cannot start')"


async def test_a_failing_on_stop_is_a_failure_and_the_stop_is_answered() -> None:
    class Clumsy(Recorder):
        def on_stop(self) -> None:
            raise ValueError("cannot clean up")

    ref = Clumsy.start([])
    assert await ref.stop() is True
    assert repr(ref.failure) == "ValueError('cannot clean up')"


async def test_hooks_left_as_they_are_report_failure_and_refusal(caplog: pytest.LogCaptureFixture) -> None:
    class Plain(TurnActor):
        def on_turn(self, messages: list[Envelope[Any]]) -> Hold | None:
            raise ValueError("plain")

    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: reported.append(context))
    ref = Plain.start(urn="one", dispatcher=Dispatcher(_no_flush))
    for number in range(129):
        ref.tell(number)
    await ref.stop()
    assert [(context["message"], repr(context["exception"])) for context in reported] == [
        ("Plain (one) failed", "ValueError('plain')")
    ]
    assert caplog.record_tuples == [
        ("midcourse.actors", logging.WARNING, "Plain (one) ended with 1 messages not handled: int")
    ]


async def test_an_error_in_a_hook_goes_to_the_loops_exception_handler() -> None:
    class Hopeless(Recorder):
        def on_failure(
            self,
            exception_type: type[BaseException] | None,
            exception_value: BaseException | None,
            traceback: TracebackType | None,
        ) -> None:
            raise RuntimeError("hook broken")

    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: reported.append(context))
    ref = Hopeless.start([])
    ref.tell(ValueError("broken"))
    assert await ref.stop() is True
    assert [context["message"] for context in reported] == ["Hopeless (recorder) raised in on_failure()"]


async def test_a_turn_sees_neither_the_senders_context_nor_that_of_another_turn() -> None:
    ref, actor = start()

    def leave_a_mark(recorder: Recorder) -> None:
        _request.set("set in a turn")

    token = _request.set("of the sender")
    ref.tell(leave_a_mark)
    await slices()
    ref.tell("again")
    await slices()
    _request.reset(token)
    assert actor.seen_requests == ["none", "none"]


async def test_starting_and_stopping_leaves_pykkas_registry_empty() -> None:
    ref, _ = start()
    assert pykka.ActorRegistry.get_all() == []
    await ref.stop()
    assert pykka.ActorRegistry.get_all() == []


async def test_a_reference_keeps_the_actor_alive() -> None:
    ref = Recorder.start([])
    gc.collect()
    assert await ref.ask("still there") == "still there"


async def test_a_dispatcher_of_another_loop_is_refused() -> None:
    async def make() -> Dispatcher:
        return Dispatcher(_no_flush)

    foreign = await asyncio.to_thread(asyncio.run, make())
    with pytest.raises(ValueError, match="serves another event loop"):
        Idle.start(urn="idle", dispatcher=foreign)


async def test_an_idle_actor_takes_less_than_a_kilobyte() -> None:
    dispatcher = Dispatcher(_no_flush)
    refs: list[AsyncioActorRef[Idle]] = [Idle.start(urn="warm", dispatcher=dispatcher)]
    tracemalloc.start()
    try:
        refs.extend(Idle.start(urn="idle", dispatcher=dispatcher) for _ in range(1000))
        held_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held_bytes / 1000 < 1024


async def test_a_further_error_of_a_failed_actor_is_reported_not_lost() -> None:
    reported: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: reported.append(f"{context['message']}: {context['exception']!r}")
    )
    ref, actor = start()
    first = ValueError("first")
    actor.fail(first)
    actor.fail(ValueError("second"))
    assert ref.failure is first
    assert actor.failures == [first]
    assert reported == [
        "Recorder (recorder) met another error after it had failed: ValueError('second')",
    ]


def test_an_interrupt_in_a_turn_reaches_the_host_and_the_asker_is_refused() -> None:
    asked: list[Any] = []

    async def interrupt() -> None:
        ref, _ = start()
        ref.tell(KeyboardInterrupt())
        asked.append(ref.ask("in the same batch"))
        await asyncio.Event().wait()

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(interrupt())
    with pytest.raises(ActorDeadError, match="KeyboardInterrupt"):
        asked[0].get()
