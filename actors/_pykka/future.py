"""The answer to one `ask`, awaitable without blocking."""

from __future__ import annotations

import asyncio
import concurrent.futures
import sys
from collections.abc import Callable, Generator
from types import TracebackType
from typing import Any, NoReturn, TypeVar

import pykka

from .errors import HandlerCancelledError, WouldBlockError

T = TypeVar("T")

_ExcInfo = tuple[type[BaseException] | None, BaseException | None, TracebackType | None]


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class AsyncioFuture(pykka.Future[T]):
    """The future an asker gets. It belongs to the event loop it was made on, or to no loop in a plain thread.

    On a loop, ``await`` it; in a thread without one, call `get`. The answer may be set from any thread. An
    asker that has gone (cancelled, or its loop closed) is no error for the one who answers: the answer is
    dropped. Cancelling a task that awaits the future gives up the answer, for later awaits too.
    """

    def __init__(self) -> None:
        super().__init__()
        self._loop = _running_loop()
        self._answer: asyncio.Future[T] | concurrent.futures.Future[T] = (
            concurrent.futures.Future() if self._loop is None else self._loop.create_future()
        )

    def set(self, value: T | None = None) -> None:
        """Answer with a value. The first answer counts; later ones are dropped."""
        self._settle(self._answer.set_result, value)

    def set_exception(self, exc_info: _ExcInfo | None = None) -> None:
        """Answer with an error.

        Args:
            exc_info: as from `sys.exc_info`; without it, the exception being handled now.
        """
        error = (exc_info or sys.exc_info())[1]
        if error is None:
            raise TypeError("set_exception() needs an error: pass exc_info, or call it while handling one")
        self._settle(self._answer.set_exception, _passable(error))

    def _settle(self, settle: Callable[[Any], None], outcome: object) -> None:
        if self._loop is None or self._loop is _running_loop():
            self._settle_here(settle, outcome)
            return
        try:
            self._loop.call_soon_threadsafe(self._settle_here, settle, outcome)
        except RuntimeError:
            return  # the asker's loop is closed: nobody is left to be answered

    def _settle_here(self, settle: Callable[[Any], None], outcome: object) -> None:
        if not self._answer.done():
            settle(outcome)

    def get(self, *, timeout: float | None = None) -> T:
        """Return the answer, waiting for it in a thread that has no event loop.

        Args:
            timeout: seconds to wait; None waits for as long as it takes.

        Raises:
            pykka.Timeout: no answer in time.
            WouldBlockError: there is no answer yet, and this thread runs an event loop or the future belongs
                to one.
        """
        answer = self._answer
        if answer.done():
            return answer.result()
        if isinstance(answer, asyncio.Future) or _running_loop() is not None:
            raise WouldBlockError(
                "get() found no answer yet, and waiting for it would block an event loop; await the future "
                "on the loop that made it, or ask from a thread that runs no loop"
            )
        try:
            return answer.result(timeout)
        except concurrent.futures.TimeoutError:
            if answer.done():
                raise  # the answer itself is a TimeoutError
            raise pykka.Timeout(f"no answer within {timeout} seconds") from None

    def set_get_hook(self, func: Callable[[float | None], T]) -> NoReturn:
        """Refuse: a get hook runs blocking code; ``filter``, ``join``, ``map`` and ``reduce`` need one."""
        raise WouldBlockError(
            f"an AsyncioFuture takes no get hook ({func!r}), nor filter(), join(), map() or reduce(): "
            "the hook would block the event loop; await the future and use its value"
        )

    def __await__(self) -> Generator[Any, None, T]:
        """Wait for the answer without blocking the loop."""
        answer = self._answer
        if isinstance(answer, asyncio.Future):
            return answer.__await__()
        return asyncio.wrap_future(answer).__await__()

    __iter__ = __await__


def _passable(error: BaseException) -> BaseException:
    """Return the error as one that can travel through a future without being taken for something else."""
    if isinstance(error, asyncio.CancelledError):
        passable: BaseException = HandlerCancelledError(
            "what the actor awaited was cancelled, so it has no answer"
        )
    elif isinstance(error, StopIteration):
        passable = RuntimeError("the actor's handler raised StopIteration")
    else:
        return error
    passable.__cause__ = error
    return passable
