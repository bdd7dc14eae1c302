"""Operations that wait for another attempt."""

from __future__ import annotations

import math

from ..run import Run


def give_up_backoff(run: Run) -> None:
    """Close what waits for another attempt, but not effects that may have happened: they must be known.

    What waits for a time or a signal of its own is not waited for any longer; what waits for child runs is
    told once they have ended, for they are stopped on their own.
    """
    for key, operation in list(run.backoff.items()):
        if operation.children:
            operation.retry_at, operation.awaits = math.inf, ""
        elif not operation.in_doubt:
            run.closed[key] = run.backoff.pop(key)
            run.orphans.discard(key)
        elif operation.is_suspended:
            operation.retry_at, operation.awaits, operation.is_suspended = 0.0, "", False
