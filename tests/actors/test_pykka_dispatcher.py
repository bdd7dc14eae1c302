"""The dispatcher: slices, the host's callbacks in between, and what is flushed when."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import pytest

from midcourse.actors._pykka import Dispatcher

MARK = ContextVar("MARK", default="nobody's")


class Turn:
    """A turn that does what it is given."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.run_turn: Callable[[], Any] = act


class Clock:
    """A clock that moves on by hand."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def spend(self, seconds: float) -> None:
        self.now_s += seconds


async def drained(done: asyncio.Event) -> None:
    async with asyncio.timeout(10):
        await done.wait()


async def test_turns_run_in_order_of_schedule_with_one_flush_after_them() -> None:
    log: list[str] = []
    done = asyncio.Event()

    def flush() -> None:
        log.append("flush")
        done.set()

    dispatcher = Dispatcher(flush, clock=Clock())
    for name in ("a", "b", "c"):
        dispatcher.schedule(Turn(lambda name=name: log.append(name)))  # type: ignore[misc]
    assert log == []
    await drained(done)
    assert log == ["a", "b", "c", "flush"]


async def test_a_slice_ends_when_its_time_is_up_and_the_host_runs_before_the_next() -> None:
    log: list[str] = []
    clock = Clock()
    done = asyncio.Event()
    dispatcher = Dispatcher(lambda: log.append("flush"), slice_s=0.001, clock=clock)
    loop = asyncio.get_running_loop()

    def turn(name: str) -> Turn:
        def act() -> None:
            clock.spend(0.0006)
            log.append(name)
            if name == "first":
                loop.call_soon(log.append, "host")
            if name == "fifth":
                loop.call_soon(done.set)

        return Turn(act)

    for name in ("first", "second", "third", "fourth", "fifth"):
        dispatcher.schedule(turn(name))
    await drained(done)
    assert log == ["first", "second", "host", "third", "fourth", "fifth", "flush"]


async def test_a_slice_ends_with_a_flush_once_the_last_was_long_ago() -> None:
    log: list[str] = []
    clock = Clock()
    done = asyncio.Event()
    dispatcher = Dispatcher(lambda: log.append("flush"), slice_s=0.001, flush_s=0.003, clock=clock)

    def turn(name: str) -> Turn:
        def act() -> None:
            clock.spend(0.001)
            log.append(name)
            if name == "7":
                asyncio.get_running_loop().call_soon(done.set)

        return Turn(act)

    for number in range(1, 8):
        dispatcher.schedule(turn(str(number)))
    await drained(done)
    assert log == ["1", "2", "3", "flush", "4", "5", "6", "flush", "7", "flush"]


async def test_what_runs_on_the_loop_between_slices_counts_as_time_since_the_last_flush() -> None:
    log: list[str] = []
    clock = Clock()
    done = asyncio.Event()
    dispatcher = Dispatcher(lambda: log.append("flush"), slice_s=0.001, flush_s=0.003, clock=clock)
    loop = asyncio.get_running_loop()

    def first() -> None:
        clock.spend(0.001)
        log.append("first")
        loop.call_soon(clock.spend, 1.0)

    def second() -> None:
        clock.spend(0.001)
        log.append("second")

    dispatcher.schedule(Turn(first))
    dispatcher.schedule(Turn(second))
    dispatcher.schedule(Turn(lambda: loop.call_soon(done.set)))
    await drained(done)
    assert log == ["first", "second", "flush", "flush"]


async def test_a_turn_that_schedules_itself_for_ever_starves_nobody() -> None:
    clock = Clock()
    dispatcher = Dispatcher(lambda: None, slice_s=0.001, clock=clock)
    turns = 0
    running = True

    def act() -> None:
        nonlocal turns
        turns += 1
        clock.spend(0.0001)
        if running:
            dispatcher.schedule(endless)

    endless = Turn(act)
    dispatcher.schedule(endless)
    rounds = 0
    while rounds < 50:
        await asyncio.sleep(0)
        rounds += 1
    running = False
    await asyncio.sleep(0)
    assert rounds == 50
    assert 49 * 10 <= turns <= 52 * 11


async def test_a_turn_may_schedule_another_in_the_same_slice() -> None:
    log: list[str] = []
    done = asyncio.Event()

    def flush() -> None:
        log.append("flush")
        done.set()

    dispatcher = Dispatcher(flush, clock=Clock())

    def first() -> None:
        log.append("first")
        dispatcher.schedule(Turn(lambda: log.append("second")))
        log.append("first ends")

    dispatcher.schedule(Turn(first))
    await drained(done)
    assert log == ["first", "first ends", "second", "flush"]


async def test_what_a_flush_schedules_runs_in_the_next_slice() -> None:
    log: list[str] = []
    done = asyncio.Event()

    def flush() -> None:
        log.append("flush")
        if log.count("flush") == 1:
            dispatcher.schedule(Turn(lambda: log.append("resumed")))
        else:
            done.set()

    dispatcher = Dispatcher(flush, clock=Clock())
    dispatcher.schedule(Turn(lambda: log.append("turn")))
    await drained(done)
    assert log == ["turn", "flush", "resumed", "flush"]


async def test_an_error_in_a_turn_or_a_flush_is_reported_and_the_rest_still_runs() -> None:
    log: list[str] = []
    reported: list[str] = []
    done = asyncio.Event()
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: reported.append(repr(context["exception"]))
    )

    def fail(message: str) -> None:
        raise ValueError(message)

    def flush() -> None:
        log.append("flush")
        if log.count("flush") == 2:
            fail("in flush")
        if log.count("flush") == 3:
            done.set()

    dispatcher = Dispatcher(flush, flush_s=0.0, clock=Clock())
    dispatcher.schedule(Turn(lambda: fail("in turn")))
    dispatcher.schedule(Turn(lambda: dispatcher.schedule(Turn(lambda: log.append("last")))))
    dispatcher.schedule(Turn(lambda: fail("in turn again")))
    await drained(done)
    assert log == ["flush", "flush", "last", "flush"]
    assert reported == ["ValueError('in turn')", "ValueError('in flush')"]


async def test_turns_that_are_brought_run_at_once_in_slices_like_all_others() -> None:
    log: list[str] = []
    clock = Clock()
    done = asyncio.Event()
    dispatcher = Dispatcher(lambda: log.append("flush"), slice_s=0.001, clock=clock)

    def turn(name: str) -> Turn:
        def act() -> None:
            clock.spend(0.0006)
            log.append(name)
            if name == "third":
                asyncio.get_running_loop().call_soon(done.set)

        return Turn(act)

    dispatcher.run([turn("first"), turn("second"), turn("third")])
    assert log == ["first", "second"]
    await drained(done)
    assert log == ["first", "second", "third", "flush"]


async def test_turns_that_are_brought_while_a_slice_is_on_its_way_run_in_it() -> None:
    log: list[str] = []
    done = asyncio.Event()

    def flush() -> None:
        log.append("flush")
        done.set()

    dispatcher = Dispatcher(flush, clock=Clock())

    def first() -> None:
        log.append("first")
        dispatcher.run([Turn(lambda: log.append("third"))])

    dispatcher.schedule(Turn(first))
    dispatcher.run([Turn(lambda: log.append("second"))])
    assert log == []
    await drained(done)
    assert log == ["first", "second", "third", "flush"]


async def test_who_brings_turns_is_spared_their_errors() -> None:
    log: list[str] = []
    reported: list[object] = []
    done = asyncio.Event()
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: reported.append(repr(context["exception"]))
    )

    def fail() -> None:
        raise ValueError("in turn")

    dispatcher = Dispatcher(lambda: log.append("flush"), flush_s=0.0, clock=Clock())
    dispatcher.run([Turn(fail), Turn(done.set)])
    assert reported == ["ValueError('in turn')"]
    await drained(done)
    assert log == ["flush", "flush"]


async def test_a_turn_sees_neither_the_variables_of_its_sender_nor_those_of_another_turn() -> None:
    seen: list[str] = []
    done = asyncio.Event()
    dispatcher = Dispatcher(lambda: None, clock=Clock())

    def leave_a_mark() -> None:
        seen.append(MARK.get())
        MARK.set("another turn's")

    MARK.set("the sender's")
    dispatcher.run([Turn(leave_a_mark), Turn(leave_a_mark)])
    dispatcher.schedule(Turn(leave_a_mark))
    dispatcher.schedule(Turn(done.set))
    await drained(done)
    assert seen == ["nobody's"] * 3
    assert MARK.get() == "the sender's"


async def test_a_turn_that_could_not_be_posted_holds_no_later_one_up() -> None:
    log: list[str] = []
    done = asyncio.Event()
    dispatcher = Dispatcher(done.set, clock=Clock())
    loop = asyncio.get_running_loop()
    loop.set_debug(True)  # then it refuses calls from other threads

    def schedule() -> None:
        with pytest.raises(RuntimeError, match="Non-thread-safe"):
            dispatcher.schedule(Turn(lambda: log.append("foreign")))

    await asyncio.to_thread(schedule)
    loop.set_debug(False)
    dispatcher.schedule(Turn(lambda: log.append("own")))
    await drained(done)
    assert log == ["foreign", "own"]
