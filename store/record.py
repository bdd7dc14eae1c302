"""A fact as it is recorded: who, when, why, and which record came before."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from ..domain.facts import Fact
from .chain import link


class Entry(NamedTuple):
    """One fact on its way into the journal.

    Args:
        at: seconds since the epoch.
        actor: who caused it, such as ``engine`` or a person's name.
        cause: version of the fact of the same run that led to it; 0 if it came from outside.
        fact: what happened.
    """

    at: float
    actor: str
    cause: int
    fact: Fact


class Record(msgspec.Struct, frozen=True, gc=False):
    """One fact as it stands in the journal.

    Args:
        run_id: the run it belongs to.
        version: its place in the run, from 1, without gaps.
        at: seconds since the epoch.
        actor: who caused it.
        cause: version of the fact of the same run that led to it; 0 if it came from outside.
        fact: what happened, in its present shape whatever shape it was stored in.
        prev: hash of the record before it, in hex.
        topic: the stable name of the kind of fact.
        state: the bytes as stored.
        position: its place among the records of all runs.
    """

    run_id: str
    version: int
    at: float
    actor: str
    cause: int
    fact: Fact
    prev: str
    topic: str
    state: bytes
    position: int

    @property
    def hash(self) -> str:
        """The hash of this record, which the next one holds as ``prev``."""
        return link(self.run_id, self.version, self.topic, self.state)
