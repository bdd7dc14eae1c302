"""What the reconcilers of an engine share, and what they keep of a turn."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..domain.decide import Reaction
from ..domain.messages import CatchUp, Message
from ..domain.orders import Order
from ..domain.run import Run
from ..domain.tools import Catalog
from ..store import Journal
from ._pykka import Envelope
from .clock import Clock
from .errors import RunParkedError
from .loading import Loaded
from .places import RunPlaces
from .snapshots import Snapshots
from .timers import WakeUps
from .watchers import Watchers

if TYPE_CHECKING:
    from .reconciler import Reconciler

_log = logging.getLogger("midcourse.actors")


class Look(NamedTuple):
    """Asks for something seen of the state, as it is once everything before is durable."""

    picture: Callable[[Run], Any]


class Call:
    """A function in the place of a turn."""

    __slots__ = ("run_turn",)

    def __init__(self, call: Callable[[], None]) -> None:
        self.run_turn = call


class Home(Protocol):
    """What a reconciler needs of its engine.

    Attributes:
        journal: the store.
        catalog: the tools.
        clock: the time in seconds since the epoch.
        watchers: who waits for a run.
        snapshots: makes those of long runs.
        wake_ups: when runs have to act by themselves.
        places: how many runs are under way at the same time.
        passivate: let go of the memory of runs that only wait.
        decide: `react`, or `record` while the engine closes: then nothing is begun.
        busy: what waits for an append, or for a run to be read.
    """

    journal: Journal
    catalog: Catalog
    clock: Clock
    watchers: Watchers
    snapshots: Snapshots
    wake_ups: WakeUps
    places: RunPlaces
    passivate: bool
    decide: Callable[[Run, Message, Catalog], Reaction]
    busy: set[object]

    def register(self, reconciler: Reconciler) -> None:
        """Take a reconciler up among the active ones."""

    def release(self, reconciler: Reconciler, *, ended: Run | None = None) -> None:
        """Let go of a run that only waits, or has ended."""

    def park(self, reconciler: Reconciler, error: RunParkedError) -> None:
        """Let go of a run after an error."""

    def send(self, run_id: str, orders: Sequence[Order]) -> None:
        """Hand orders to those who carry them out."""

    def tell_parent(self, run: Run) -> None:
        """Tell the parent of a child run how it ended, if it has; told again, it changes nothing."""

    def load(
        self, run_id: str, then: Callable[[Loaded | Exception | None], None], known: Loaded | None = None
    ) -> None:
        """Fold a run, or what is new of it, and hand it over in a turn of the dispatcher."""

    def rest(self, who: object) -> None:
        """Note that somebody is busy no more."""


class Turn(NamedTuple):
    """What was decided and waits for its append.

    Attributes:
        envelopes: the messages, to be decided again after a conflict.
        answers: what each asker among them is told.
        orders: what is to be done.
        at: the latest time among the messages.
    """

    envelopes: list[Envelope[Any]]
    answers: list[tuple[Envelope[Any], Any]]
    orders: list[Order]
    at: float


def answer_to(envelope: Envelope[Any], answer: Any) -> None:
    """Answer whoever waits for it, if anybody does; an error is raised there."""
    if envelope.reply_to is None:
        return
    if isinstance(answer, Exception):
        envelope.reply_to.set_exception((type(answer), answer, None))
    else:
        envelope.reply_to.set(answer)


def refuse_all(envelopes: Iterable[Envelope[Any]], error: Exception, who: object) -> None:
    """Answer those who wait with an error, and log the messages that nobody waits for."""
    told = []
    for envelope in envelopes:
        if envelope.reply_to is not None:
            answer_to(envelope, error)
        elif not isinstance(envelope.message, CatchUp):
            told.append(type(envelope.message).__name__)
    if told:
        _log.warning("%s left %s unrecorded: %s", who, ", ".join(told), error)
