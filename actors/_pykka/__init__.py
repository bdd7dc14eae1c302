"""Actors that live on an asyncio event loop, built on Pykka; the only importer of Pykka in the project.

Pykka defines what an actor is (an inbox, a reference to send to, ``on_*`` hooks, answers as futures) and has
three hooks for a new kind: how to make an inbox, how to make a future, how to start the loop. This package
implements them for asyncio::

    inbox       Inbox             messages waiting for one actor; takes puts from any thread
    future      AsyncioFuture     the answer to one `ask`; awaited, never blocks the loop
    ref         AsyncioActorRef   what senders hold: `tell`, `ask`, `stop`
    actor       LoopActor         what both kinds share: start, failure, refusal of what is left over
    task_actor  AsyncioActor      a task of its own; handlers may await
    turn_actor  TurnActor         no task; `on_turn` is called with the waiting messages
    dispatcher  Dispatcher        runs the turns of all ready turn actors, in short slices

Three things of Pykka are left out on purpose. Actors are not in its process-wide registry: whoever starts an
actor keeps its reference, which keeps the actor alive. There are no attribute proxies: send messages. Futures
take no get hooks (so no ``map`` or ``join``): they would run blocking code inside the loop.
"""

from __future__ import annotations

from pykka._envelope import Envelope

from .actor import LoopActor
from .dispatcher import Dispatcher
from .errors import ActorDeadError, HandlerCancelledError, WouldBlockError
from .future import AsyncioFuture
from .inbox import Inbox
from .ref import AsyncioActorRef
from .task_actor import AsyncioActor
from .turn_actor import HOLD, Hold, TurnActor

__all__ = [
    "HOLD",
    "ActorDeadError",
    "AsyncioActor",
    "AsyncioActorRef",
    "AsyncioFuture",
    "Dispatcher",
    "Envelope",
    "HandlerCancelledError",
    "Hold",
    "Inbox",
    "LoopActor",
    "TurnActor",
    "WouldBlockError",
]
