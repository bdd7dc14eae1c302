"""The messages waiting for one actor."""

from __future__ import annotations

import asyncio
import logging
from contextvars import Context
from typing import Any, Protocol

from pykka._envelope import Envelope
from pykka.messages import _ActorStop

from .errors import ActorDeadError

_log = logging.getLogger("midcourse.actors")


class Listener(Protocol):
    """Whoever reads an inbox."""

    def message_arrived(self) -> None:
        """A message has come into an armed inbox; arm it again to be told of the next."""


class Inbox:
    """Messages in order of arrival, for one reader on one event loop.

    Everything happens on the reader's loop: a put made there goes straight in, a put from another thread or
    loop is handed over to it. So a message is either read or refused; none slips between the last look of an
    actor and its end. A hand-over that a loop never gets to run, because it ended with its actors still
    running, is lost: stop actors before their loop.

    Attributes:
        loop: the event loop of the reader.
        waiting: what has arrived and was not taken.
        armed: whether the next message calls the listener.
        listener: the reader; so who holds the inbox (a reference does) keeps the reader alive until it ends.
        stop_requested: a stop message is, or will be, among the waiting.
        closed: whether messages are refused.
        failure: the error that ended the reader, if one did.
    """

    __slots__ = ("_end", "armed", "closed", "failure", "listener", "loop", "stop_requested", "waiting")

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.waiting: list[Envelope[Any]] = []
        self.armed = False
        self.listener: Listener | None = None
        self.stop_requested = False
        self.closed = False
        self.failure: BaseException | None = None
        self._end = ""

    def put(self, envelope: Envelope[Any], /) -> None:
        """Add a message, from any thread.

        Raises:
            ActorDeadError: the inbox or its loop is closed. A message from another thread may also find it
                closed later, on arrival; then an asker gets the error as the answer, and what was told is
                logged.
        """
        if self.closed:
            raise self.dead_error()
        try:
            on_loop = asyncio.get_running_loop() is self.loop
        except RuntimeError:
            on_loop = False
        if not on_loop:
            self._hand_over(envelope)
            return
        self.waiting.append(envelope)
        if self.armed and self.listener is not None:
            self.armed = False
            self.listener.message_arrived()

    def put_stop(self, envelope: Envelope[Any], /) -> None:
        """Add the message that stops the reader when its turn comes. Raises as `put` does."""
        # Set first and from any thread: it only makes `take` look for the message, early does no harm.
        self.stop_requested = True
        self.put(envelope)

    def _hand_over(self, envelope: Envelope[Any]) -> None:
        try:
            self.loop.call_soon_threadsafe(self._arrive, envelope, context=Context())
        except RuntimeError as error:
            raise ActorDeadError("the event loop of the actor is closed; start a new actor") from error

    def _arrive(self, envelope: Envelope[Any]) -> None:
        try:
            self.put(envelope)
        except ActorDeadError as error:
            refuse(envelope, error)
            if envelope.reply_to is None:
                kind = type(envelope.message).__name__
                _log.warning("%s; a %s told from another thread came too late", self._end, kind)

    def take(self, limit: int) -> list[Envelope[Any]]:
        """Take up to `limit` waiting messages, never past a stop.

        Returns:
            the messages, oldest first; empty if none waits or a stop is next.
        """
        waiting = self.waiting
        if len(waiting) <= limit and not self.stop_requested:
            self.waiting = []
            return waiting
        taken = waiting[:limit]
        if self.stop_requested:
            stop = next((at for at, envelope in enumerate(taken) if is_stop(envelope)), len(taken))
            del taken[stop:]
        del waiting[: len(taken)]
        return taken

    def get(self) -> Envelope[Any]:
        """Take the oldest message without waiting, as Pykka's protocol of an inbox asks for.

        Raises:
            IndexError: none is waiting.
        """
        return self.waiting.pop(0)

    def empty(self) -> bool:
        """Return whether no message is waiting."""
        return not self.waiting

    def close(self, end: str, failure: BaseException | None = None) -> list[Envelope[Any]]:
        """Refuse messages from now on, and return those left over.

        Args:
            end: what became of the reader, for the error of those refused: ``"Planner (main) has stopped"``.
            failure: the error that ended it.
        """
        if not self.closed:
            self._end = end
        self.failure = self.failure or failure
        self.closed, self.armed = True, False
        left, self.waiting = self.waiting, []
        return left

    def dead_error(self) -> ActorDeadError:
        """Return a new error for one sender that is refused."""
        error = ActorDeadError(f"{self._end}; it takes no messages, send to a newly started actor")
        error.__cause__ = self.failure
        return error


class StopFlag:
    """Pykka's ``actor_stopped``, read from the inbox: a `threading.Event` for each actor costs over 1 kB."""

    __slots__ = ("_inbox",)

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox

    def is_set(self) -> bool:
        """Return whether the actor takes no messages any more."""
        return self._inbox.closed


def is_stop(envelope: Envelope[Any]) -> bool:
    """Return whether the envelope holds the message that stops an actor."""
    return isinstance(envelope.message, _ActorStop)


def refuse(envelope: Envelope[Any], error: ActorDeadError) -> None:
    """Tell the asker, if any, that the message was not handled (for a stop: that there was no need)."""
    if envelope.reply_to is None:
        return
    if is_stop(envelope):
        envelope.reply_to.set(False)
    else:
        envelope.reply_to.set_exception((ActorDeadError, error, None))
