"""Operations that wait for another attempt."""

from __future__ import annotations

from ..run import Run


def give_up_backoff(run: Run) -> None:
    """Close what waits for another attempt, but not effects that may have happened: they must be known."""
    for key, operation in list(run.backoff.items()):
        if not operation.in_doubt:
            run.closed[key] = run.backoff.pop(key)
            run.orphans.discard(key)
