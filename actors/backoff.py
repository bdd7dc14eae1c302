"""How long to wait before the next attempt."""

from __future__ import annotations

from collections.abc import Callable

from ..domain.tools import RetryPolicy


def retry_delay_s(policy: RetryPolicy, attempt: int, random: Callable[[], float]) -> float:
    """Return the seconds to wait after a failed attempt: exponential back-off with equal jitter.

    Half of the wait is certain and half is random, so that attempts that failed together come back apart
    (M. Brooker, "Exponential Backoff And Jitter", 2015).

    Args:
        policy: of the tool.
        attempt: number of the attempt that failed, from 1.
        random: returns a number from 0 to 1.
    """
    return policy.wait_s(attempt) * (0.5 + 0.5 * random())
