"""How often and how patiently an operation is tried again."""

from __future__ import annotations

import msgspec


class RetryPolicy(msgspec.Struct, frozen=True, omit_defaults=True):
    """How often and how patiently an operation is tried again.

    Args:
        max_attempts: tries in all; ``None`` means 5 for read or idempotent tools and 1 otherwise.
        initial_s: seconds before the second try.
        factor: what each wait is multiplied by.
        max_s: the longest wait in seconds.
        max_lost: attempts that may be lost to a dying process before the operation is given up.
    """

    max_attempts: int | None = None
    initial_s: float = 1.0
    factor: float = 2.0
    max_s: float = 100.0
    max_lost: int = 10

    def wait_s(self, tries: int) -> float:
        """Return the seconds to wait after that many tries, without jitter."""
        try:
            return min(self.initial_s * self.factor ** (tries - 1), self.max_s)
        except OverflowError:
            return self.max_s
