"""The facts of an engine, about what is no fact of any run: public, and kept for ever, like those of runs."""

from __future__ import annotations

from .errors import SignalInvalid
from .facts.base import Fact


class EngineFact(Fact):
    """The base of the facts of engines."""


class SignalRefused(EngineFact):
    """A signal did not fit what is declared of it: its run was told nothing, its sender was.

    Args:
        run: the run it was for.
        name: the signal.
        id: its id, if it had one.
        digest: digest of its payload, which is not kept: it may be anything.
        problems: what did not fit.
    """

    run: str
    name: str
    id: str
    digest: str
    problems: tuple[str, ...]


def refused(refusal: SignalInvalid) -> SignalRefused:
    """Return the fact that a signal was refused."""
    return SignalRefused(refusal.run, refusal.name, refusal.id, refusal.digest, refusal.problems)


FACTS: tuple[type[EngineFact], ...] = tuple(EngineFact.__subclasses__())
"""Every fact of engines there is."""

BY_TOPIC: dict[str, type[Fact]] = {fact.topic: fact for fact in FACTS}
