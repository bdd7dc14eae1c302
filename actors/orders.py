"""How a run's orders travel to the actors that carry them out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from ..domain.messages import Message
from ..domain.orders import Order

Reporter = Callable[[str, Message], None]
"""Hands a message to the run of that id; called on the event loop, it must not block."""


class Ask(Protocol):
    """Asks a run something on behalf of a tool that it has called."""

    def __call__(self, run_id: str, message: Any, /) -> Awaitable[Any]:
        """Return its answer, once that is durable."""


class RunOrders(msgspec.Struct, frozen=True, gc=False):
    """Orders of one run, in the order to act on them; an actor passes over those that are not for it."""

    run_id: str
    orders: Sequence[Order]


class Finish(NamedTuple):
    """Let what runs finish, for as long as the limits say, and take no more orders; answered when done."""


class ForgetRun(NamedTuple):
    """A run is no longer active and has no attempt in flight: what is remembered of its attempts can go."""

    run_id: str
