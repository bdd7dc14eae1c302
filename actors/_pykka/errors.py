"""What can go wrong between a sender and an actor.

::

    MidcourseError
    ├── ActorDeadError          (also pykka.ActorDeadError) the actor takes no messages any more
    ├── HandlerCancelledError   what an actor awaited was cancelled, the actor itself was not
    └── WouldBlockError         a blocking call where it would block an event loop, or never end
"""

from __future__ import annotations

import pykka

from ...domain.errors import MidcourseError


class ActorDeadError(MidcourseError, pykka.ActorDeadError):
    """The actor has stopped or failed and takes no messages; its failure, if any, is the ``__cause__``."""


class HandlerCancelledError(MidcourseError):
    """A handler ended with `asyncio.CancelledError` though nobody had cancelled its actor.

    Something it awaited was cancelled elsewhere. Passed on as it is, the error would look to the caller like
    a cancellation of the caller.
    """


class WouldBlockError(MidcourseError):
    """A blocking call was made where it would stop an event loop; await the future instead."""
