"""An actor without a task: an object that is given its messages in turns."""

from __future__ import annotations

import enum
from abc import abstractmethod
from contextvars import Context
from typing import Any, ClassVar, Final

from pykka._envelope import Envelope

from .actor import LoopActor
from .dispatcher import Dispatcher


class Hold(enum.Enum):
    """The type of `HOLD`."""

    HOLD = "hold"


HOLD: Final = Hold.HOLD
"""Returned by a turn: hold further turns back until `TurnActor.resume_turns` is called."""


class TurnActor(LoopActor):
    """An actor that is idle as a plain object and runs only when it has messages; there can be very many.

    Messages wait until the dispatcher gives the actor a turn, which calls `on_turn` with up to `max_batch` of
    them. A stop is a message like any other: those before it get their turns first (and a held turn is waited
    for), those after it are refused.

    Args:
        urn: see `LoopActor`.
        dispatcher: gives the turns; it must be of the running event loop.
        is_held: whether to get no turn until `resume_turns` is called, as if a turn had returned `HOLD`.
    """

    max_batch: ClassVar[int] = 128

    def __init__(self, *, urn: str, dispatcher: Dispatcher, is_held: bool = False) -> None:
        super().__init__(urn=urn)
        if dispatcher.loop is not self.actor_inbox.loop:
            raise ValueError(
                f"the dispatcher of {self} serves another event loop; use one made on the running loop"
            )
        self._dispatcher = dispatcher
        self._is_held = is_held
        self._is_in_turn = False

    @abstractmethod
    def on_turn(self, messages: list[Envelope[Any]]) -> Hold | None:
        """Act on messages without blocking.

        The askers among the senders are to be answered through ``reply_to``, now or later, errors included:
        an exception raised here says the actor is broken, ends it, and is the cause of the refusal its askers
        get. A call of `fail` does the same.

        Args:
            messages: one to `max_batch` messages, oldest first; the list is the actor's to keep.

        Returns:
            `HOLD` to get no turn until `resume_turns` is called, else None.
        """

    def resume_turns(self) -> None:
        """End a hold, if there is one. Call it on the actor's loop; within the turn that holds is fine."""
        if not self._is_held:
            return
        self._is_held = False
        if not self._is_in_turn:
            self._await_messages()

    def fail(self, error: BaseException) -> None:
        """End the actor because of an error; see `LoopActor.fail`.

        Messages that an earlier turn took and did not answer are the subclass's to answer, in `on_failure`.

        Args:
            error: what went wrong.
        """
        super().fail(error)
        self._end_stops()

    def run_turn(self) -> None:
        """Take a turn; for the dispatcher."""
        if self.actor_inbox.closed:
            return
        messages = self.actor_inbox.take(self.max_batch)
        if messages:
            self._act(messages)
        else:
            self._end()  # only a stop is waited for and not taken

    def message_arrived(self) -> None:
        """Get ready for a turn; for the inbox."""
        self._dispatcher.schedule(self)

    def _start_actor_loop(self) -> None:
        self.actor_inbox.listener = self
        Context().run(self._begin)

    def _begin(self) -> None:
        self._is_in_turn = True
        try:
            self.on_start()
        except Exception as error:  # noqa: BLE001 - as Pykka has it, a failing on_start ends the actor
            self.fail(error)
        self._is_in_turn = False
        if not self._is_held:
            self._await_messages()

    def _act(self, messages: list[Envelope[Any]]) -> None:
        # Held beforehand: `resume_turns` within the turn must not be overruled by the HOLD returned after it.
        self._is_held = self._is_in_turn = True
        try:
            hold = self.on_turn(messages)
        except BaseException as error:
            self.fail(error)
            self._refuse_askers(messages)
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            return
        self._is_in_turn = False
        if hold is not HOLD:
            self._is_held = False
        if self.actor_inbox.closed:
            self._refuse_askers(messages)
        elif not self._is_held:
            self._await_messages()

    def _refuse_askers(self, messages: list[Envelope[Any]]) -> None:
        self._refuse(envelope for envelope in messages if envelope.reply_to is not None)

    def _await_messages(self) -> None:
        inbox = self.actor_inbox
        if inbox.closed:
            return
        if inbox.waiting:
            self._dispatcher.schedule(self)
        else:
            inbox.armed = True

    def _end(self) -> None:
        self._close(f"{self} has stopped")
        try:
            self.on_stop()
        except Exception as error:  # noqa: BLE001 - a boundary: the error is the actor's failure, shown as such
            self.fail(error)
        finally:
            self._end_stops()
