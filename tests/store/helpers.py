"""Short ways to say what the store's tests append."""

from __future__ import annotations

from typing import Any

from midcourse.domain.facts import BoardUpdated, Fact, RunStarted
from midcourse.domain.goal import Goal
from midcourse.store import GENESIS, Append, Appended, Entry, Journal, RunIndex

STARTED = RunStarted(goal=Goal("deliver order 42"))


def note(**values: Any) -> BoardUpdated:
    """Return a small fact."""
    return BoardUpdated(values=values)


def index(run_id: str, **fields: Any) -> RunIndex:
    """Return a row of the index."""
    defaults: dict[str, Any] = {"status": "running", "created": 1000.0, "goal": "deliver order 42"}
    return RunIndex(run_id=run_id, **(defaults | fields))


def starting(run_id: str, *facts: Fact, **fields: Any) -> Append:
    """Return the append that starts a run."""
    entries = [Entry(1000.0 + n, "engine", n, fact) for n, fact in enumerate(facts or (STARTED,))]
    return Append(run_id, 0, GENESIS, entries, index(run_id, **fields))


def after(run_id: str, head: Appended, *facts: Fact, row: RunIndex | None = None) -> Append:
    """Return the append that continues a run."""
    entries = [Entry(2000.0 + n, "engine", head.head_version, fact) for n, fact in enumerate(facts)]
    return Append(run_id, head.head_version, head.head_hash, entries, row)


async def grow(journal: Journal, run_id: str, length: int) -> Appended:
    """Start a run and append one fact at a time until it has that many."""
    head = await journal.append(starting(run_id))
    for n in range(2, length + 1):
        head = await journal.append(after(run_id, head, note(n=n)))
    return head
