"""Streams of facts beside the runs: they share the journal and its chains, and are in no index."""

from __future__ import annotations

SCHEDULES = "schedule/"
"""What the id of a schedule's stream begins with; its name follows."""

ENGINE = "engine/refused"
"""The stream of the engines of a store: what they have refused, which is no fact of any run."""


def is_run(stream_id: str) -> bool:
    """Return whether an id is a run's: only other streams have a slash in theirs."""
    return "/" not in stream_id
