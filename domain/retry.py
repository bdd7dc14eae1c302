"""How often and how patiently something is tried again."""

from __future__ import annotations

import math

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

    def problem(self) -> str:
        """Return what is wrong with the policy, for a message that names its owner; empty if nothing is."""
        if self.max_attempts is not None and self.max_attempts < 1:
            return f"retry.max_attempts is {self.max_attempts}; the first one counts"
        for name in ("initial_s", "factor", "max_s"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                unit = "a factor" if name == "factor" else "a number of seconds"
                return f"retry.{name} is {value}; it is {unit} of 0 or above"
        return f"retry.max_lost is {self.max_lost}; it cannot be negative" if self.max_lost < 0 else ""

    def wait_s(self, tries: int) -> float:
        """Return the seconds to wait after that many tries, without jitter."""
        try:
            return min(self.initial_s * self.factor ** (tries - 1), self.max_s)
        except OverflowError:
            return self.max_s
