"""Operations that wait for another attempt."""

from __future__ import annotations

from ..run import Run


def give_up_backoff(run: Run) -> None:
    """Close what waits for another attempt, but for effects that may have happened: those must be known first."""
    for key, operation in list(run.backoff.items()):
        if operation.effect == "read" or not operation.doubt:
            run.closed[key] = run.backoff.pop(key)
