"""An actor with a task of its own."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any

from pykka._envelope import Envelope

from .actor import LoopActor
from .errors import HandlerCancelledError

# Messages handled before the loop is let in, for handlers that never wait for anything.
_BATCH = 32


class AsyncioActor(LoopActor):
    """An actor that handles one message after the other and may await while it does.

    What takes long belongs into a child task (`spawn`), or the messages behind it wait. A stop is a message
    like any other: those before it are handled, those after it are refused. Cancelling the actor's task stops
    it at once: the message in hand and all that wait are refused. An error in a handler is the answer to an
    `ask`, and after a `tell` it ends the actor.

    ``on_start`` and ``on_stop`` are Pykka's, not coroutines. ``on_stop`` is called after the last message,
    before the children are cancelled, and not after a failure.

    Args:
        urn: see `LoopActor`.

    Attributes:
        task: the actor's task.
    """

    task: asyncio.Task[None]

    def __init__(self, *, urn: str) -> None:
        super().__init__(urn=urn)
        self._taken: deque[Envelope[Any]] = deque()
        self._arrival: asyncio.Future[None] | None = None
        # The loop holds tasks weakly; these are the strong references.
        self._children: set[asyncio.Task[None]] = set()

    @abstractmethod
    async def on_receive(self, message: Any) -> Any:
        """Handle one message.

        Args:
            message: what was sent.

        Returns:
            the answer, if the message was an `ask`.
        """

    def spawn(self, work: Coroutine[Any, Any, None], *, name: str) -> asyncio.Task[None]:
        """Run `work` in a child task: the actor holds it, fails with its error, and cancels it when it ends.

        Args:
            work: the coroutine to run; it starts with an empty context.
            name: the name of the task.

        Returns:
            the task; cancelling it is no failure.
        """
        child = self.actor_inbox.loop.create_task(work, name=name, context=Context())
        self._children.add(child)
        child.add_done_callback(self._child_done, context=Context())
        return child

    def fail(self, error: BaseException) -> None:
        """End the actor because of an error; see `LoopActor.fail`. A handler at work may finish."""
        super().fail(error)
        self.message_arrived()

    def message_arrived(self) -> None:
        """Wake the task; for the inbox."""
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)

    def _start_actor_loop(self) -> None:
        self.actor_inbox.listener = self
        loop = self.actor_inbox.loop
        self.task = loop.create_task(self._run(), name=str(self), context=Context())
        # Not in a `finally`: a task cancelled before its first step never enters the coroutine.
        self.task.add_done_callback(self._task_done, context=Context())

    def _task_done(self, _task: asyncio.Task[None]) -> None:
        self._close(f"{self} was cancelled")
        self._end_stops()

    def _child_done(self, child: asyncio.Task[None]) -> None:
        self._children.discard(child)
        error = None if child.cancelled() else child.exception()
        if error is not None:
            self.fail(error)

    def _close(self, end: str, failure: BaseException | None = None) -> None:
        self.actor_inbox.waiting[:0] = self._taken
        self._taken.clear()
        super()._close(end, failure)

    async def _run(self) -> None:
        try:
            self._run_hook(self.on_start)
            while not self.actor_inbox.closed and not _is_cancelling():
                await self._handle_batch()
        finally:
            self._close(f"{self} was cancelled")  # without effect after a stop or a failure
            try:
                if self.actor_inbox.failure is None:
                    self._run_hook(self.on_stop)
            finally:
                await self._end_children()

    async def _handle_batch(self) -> None:
        inbox = self.actor_inbox
        if inbox.empty():
            await self._wait()
        self._taken.extend(inbox.take(_BATCH))
        if not self._taken and not inbox.closed:
            self._close(f"{self} has stopped")
        while self._taken:
            await self._handle(self._taken.popleft())
            if _is_cancelling():
                return  # a handler that swallowed the cancellation does not undo it
        if not inbox.empty():
            await asyncio.sleep(0)

    async def _wait(self) -> None:
        self._arrival = self.actor_inbox.loop.create_future()
        self.actor_inbox.armed = True
        try:
            await self._arrival
        finally:
            self.actor_inbox.armed = False
            self._arrival = None

    async def _handle(self, envelope: Envelope[Any]) -> None:
        try:
            reply = await self.on_receive(envelope.message)
        except Exception as error:  # noqa: BLE001 - a boundary: it is the asker's, or else the actor's failure
            self._handler_failed(envelope, error)
        except BaseException as error:
            if not isinstance(error, asyncio.CancelledError) or _is_cancelling():
                self._taken.appendleft(envelope)
                raise
            self._handler_failed(envelope, _cancelled_elsewhere(error))
        else:
            if envelope.reply_to is not None:
                envelope.reply_to.set(reply)

    def _handler_failed(self, envelope: Envelope[Any], error: Exception) -> None:
        if envelope.reply_to is None:
            self.fail(error)
        else:
            envelope.reply_to.set_exception((type(error), error, error.__traceback__))

    def _run_hook(self, hook: Callable[[], None]) -> None:
        try:
            hook()
        except Exception as error:  # noqa: BLE001 - a boundary: the error is the actor's failure, shown as such
            self.fail(error)

    async def _end_children(self) -> None:
        while self._children:
            for child in self._children:
                child.cancel()
            await asyncio.wait(self._children)


def _is_cancelling() -> bool:
    """Return whether somebody cancelled the task that runs this, as against a future that it awaited."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _cancelled_elsewhere(error: asyncio.CancelledError) -> HandlerCancelledError:
    cancelled = HandlerCancelledError("something the actor awaited was cancelled, though the actor was not")
    cancelled.__cause__ = error
    return cancelled
