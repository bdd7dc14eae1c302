"""The row of a run in the index: made anew only when one of its fields changed."""

from __future__ import annotations

import logging

from ..domain.run import Run
from ..domain.summary import attention, is_dormant, needs_attention, status, wake_at
from ..store import RunIndex

_log = logging.getLogger("midcourse.actors")


def row_of(run: Run, before: RunIndex | None, at: float) -> RunIndex:
    """Return the row of a run: ``before`` itself, where nothing in it changed.

    A run that has something in flight has no time to wake up in its row: it is kept in memory, and taken up
    at once by the next engine.

    Args:
        run: the state.
        before: its row as it is; ``None`` for a new run.
        at: the time of the change, in seconds since the epoch.
    """
    now = status(run)
    count = len(attention(run)) if needs_attention(run) else 0
    wake = wake_at(run) if is_dormant(run) else None
    if before is not None and (now, count, wake) == (before.status, before.attention, before.wake_at):
        return before
    return RunIndex(
        run_id=run.id,
        status=now,
        created=before.created if before is not None else at,
        goal=run.goal.text,
        key=run.key,
        planner=run.planner,
        wake_at=wake,
        attention=count,
        attention_since=_since(before, count, at),
        tags=run.tags,
    )


def warn_of_attention(run: Run, before: RunIndex | None, row: RunIndex) -> None:
    """Log that a run comes to wait for a person, or one more thing of it does: nothing else would say so."""
    if row.attention <= (0 if before is None else before.attention):
        return
    items = "; ".join(f"{item.kind} {item.subject}: {item.detail} ({item.remedy})" for item in attention(run))
    _log.warning("run %s waits for a person: %s. `engine.attention()` lists what waits", run.id, items)


def _since(before: RunIndex | None, count: int, at: float) -> float | None:
    if not count:
        return None
    return before.attention_since if before is not None and before.attention_since is not None else at
