"""The row of a run in the index: made anew only when one of its fields changed."""

from __future__ import annotations

from ..domain.run import Run
from ..domain.summary import attention, is_dormant, needs_attention, status, wake_at
from ..store import RunIndex


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


def _since(before: RunIndex | None, count: int, at: float) -> float | None:
    if not count:
        return None
    return before.attention_since if before is not None and before.attention_since is not None else at
