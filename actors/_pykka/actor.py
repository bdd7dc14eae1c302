"""What actors on an event loop have in common."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Self

import pykka
from pykka._envelope import Envelope

from .future import AsyncioFuture
from .inbox import Inbox, StopFlag, is_stop, refuse
from .ref import AsyncioActorRef

_log = logging.getLogger("midcourse.actors")


class LoopActor(pykka.Actor):
    """An actor on the event loop that runs when it is started.

    Args:
        urn: the name of the actor in errors and logs, unique among the actors of its kind.
    """

    actor_inbox: Inbox
    actor_stopped: StopFlag  # type: ignore[assignment]  # as much of threading.Event as Pykka reads
    _actor_ref: AsyncioActorRef[Any]
    _stops: tuple[Envelope[Any], ...] = ()

    def __init__(self, *, urn: str) -> None:
        # Pykka's own __init__ would make a random URN and a threading.Event, to be replaced at once.
        self.actor_urn = urn
        self.actor_inbox = self._create_actor_inbox()
        self.actor_stopped = StopFlag(self.actor_inbox)
        self._actor_ref = AsyncioActorRef(self)

    @classmethod
    def start(cls, *args: Any, **kwargs: Any) -> AsyncioActorRef[Self]:
        """Make an actor and start it on the running event loop; Pykka's registry is not told.

        Args:
            args: for the constructor.
            kwargs: for the constructor.

        Returns:
            the reference of the actor. Keep it: it keeps the actor alive.

        Raises:
            RuntimeError: no event loop is running in this thread.
        """
        actor = cls(*args, **kwargs)
        actor._start_actor_loop()
        return actor.actor_ref

    @staticmethod
    def _create_actor_inbox() -> Inbox:
        return Inbox()

    @staticmethod
    def _create_future() -> AsyncioFuture[Any]:
        return AsyncioFuture()

    @property
    def actor_ref(self) -> AsyncioActorRef[Self]:
        """The reference of this actor."""
        return self._actor_ref

    def stop(self) -> None:
        """Stop once the messages sent so far are handled, as `AsyncioActorRef.stop` does."""
        self.actor_ref.stop()

    def fail(self, error: BaseException) -> None:
        """End the actor because of an error: refuse what waits, then call `on_failure`.

        For errors outside a handler too, such as that of an append under way. Call it on the actor's loop. If
        the actor has failed already, the further error goes to the loop's exception handler.

        Args:
            error: what went wrong; `AsyncioActorRef.failure` shows it, and it is the cause of every refusal.
        """
        if self.actor_inbox.failure is not None:
            self._complain("met another error after it had failed", error)
            return
        self._close(f"{self} failed with {error!r}", error)
        self._guard("on_failure", lambda: self.on_failure(type(error), error, error.__traceback__))

    def on_failure(
        self,
        exception_type: type[BaseException] | None,
        exception_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Act on the error that ended the actor; as it stands, hand it to the loop's exception handler.

        Args:
            exception_type: the class of the error.
            exception_value: the error.
            traceback: where it was raised.
        """
        del exception_type, traceback
        self._complain("failed", exception_value)

    def on_refused(self, messages: Sequence[Any]) -> None:
        """Act on told messages that waited when the actor ended; as it stands, log their number and kinds.

        Askers need no care: each has already got an `ActorDeadError` for an answer.

        Args:
            messages: what was told and not handled, oldest first.
        """
        kinds = ", ".join(sorted({type(message).__name__ for message in messages}))
        _log.warning("%s ended with %d messages not handled: %s", self, len(messages), kinds)

    def _close(self, end: str, failure: BaseException | None = None) -> None:
        """Close the inbox and refuse what is in it; `_end_stops` answers those who asked for a stop."""
        left = self.actor_inbox.close(end, failure)
        self._stops += tuple(envelope for envelope in left if is_stop(envelope))
        self._refuse([envelope for envelope in left if not is_stop(envelope)])

    def _end_stops(self) -> None:
        """Answer those who asked for the stop, and let go of the inbox: the last thing an actor does."""
        stops, self._stops = self._stops, ()
        for envelope in stops:
            if envelope.reply_to is not None:
                envelope.reply_to.set(True)
        self.actor_inbox.listener = None

    def _refuse(self, envelopes: Iterable[Envelope[Any]]) -> None:
        told = []
        for envelope in envelopes:
            if envelope.reply_to is None:
                told.append(envelope.message)
            else:
                refuse(envelope, self.actor_inbox.dead_error())
        if told:
            self._guard("on_refused", lambda: self.on_refused(told))

    def _guard(self, hook: str, call: Callable[[], None]) -> None:
        try:
            call()
        except Exception as error:  # noqa: BLE001 - a boundary: the actor has ended, nobody above could act on it
            self._complain(f"raised in {hook}()", error)

    def _complain(self, what: str, error: BaseException | None) -> None:
        self.actor_inbox.loop.call_exception_handler({"message": f"{self} {what}", "exception": error})
