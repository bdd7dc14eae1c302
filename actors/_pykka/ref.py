"""What the senders of an actor hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import pykka
from pykka._envelope import Envelope
from pykka.messages import _ActorStop

from .errors import ActorDeadError
from .future import AsyncioFuture

if TYPE_CHECKING:
    from .actor import LoopActor
    from .inbox import Inbox

A = TypeVar("A", bound="LoopActor")


class AsyncioActorRef(pykka.ActorRef[A]):
    """A reference to an actor, usable from any thread. Holding it keeps the running actor alive."""

    actor_inbox: Inbox

    @property
    def failure(self) -> BaseException | None:
        """The error the actor failed with; None while it runs and if it was stopped."""
        return self.actor_inbox.failure

    def tell(self, message: Any) -> None:
        """Send a message and wait for nothing.

        Raises:
            ActorDeadError: the actor has stopped or failed.
        """
        self.actor_inbox.put(Envelope(message))

    def ask(self, message: Any) -> AsyncioFuture[Any]:  # type: ignore[override]  # no `block`: it would be wrong
        """Send a message and return the future answer.

        Returns:
            a future to await; in a thread without an event loop, call its ``get(timeout=...)``. It raises
            what the handler raised, or `ActorDeadError` if the message was refused.
        """
        answer: AsyncioFuture[Any] = AsyncioFuture()
        try:
            self.actor_inbox.put(Envelope(message, answer))
        except ActorDeadError as error:
            answer.set_exception((ActorDeadError, error, None))
        return answer

    def stop(self) -> AsyncioFuture[bool]:  # type: ignore[override]  # Pykka's blocks in a get hook
        """Ask the actor to stop once it has handled what was sent before.

        Later messages are refused. There is no need to await the answer for the stop to happen.

        Returns:
            a future that is True when the actor has ended, and False if it had ended already.
        """
        answer: AsyncioFuture[bool] = AsyncioFuture()
        try:
            self.actor_inbox.put_stop(Envelope(_ActorStop(), answer))
        except ActorDeadError:
            answer.set(False)
        return answer

    def proxy(self) -> NoReturn:
        """Refuse: an actor on an event loop is sent messages, its attributes are not reached from outside."""
        raise TypeError(f"{self} has no proxy; send it a message with tell() or ask()")
