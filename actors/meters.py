"""What limits on tools count: calls that go on, and calls that began lately."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from math import inf
from typing import TYPE_CHECKING

from ..domain.authority import Rate
from .clock import Timer

if TYPE_CHECKING:
    from .throttle import Queue


class Meter(ABC):
    """One limit, and how much of it is used.

    Attributes:
        blocked: queues whose head waits for it, in the order they came.
        timer: looks again when the passing of time frees it.
    """

    def __init__(self) -> None:
        self.blocked: OrderedDict[Queue, None] = OrderedDict()
        self.timer: Timer | None = None

    @abstractmethod
    def free_in(self, now: float) -> float:
        """Return the seconds until the next may begin: 0 for now, ``inf`` for when another has ended."""

    @abstractmethod
    def take(self, now: float) -> None:
        """Count one that begins."""

    @abstractmethod
    def give_back(self) -> None:
        """Count one that has ended."""


class Concurrency(Meter):
    """So many at once.

    Args:
        most: how many.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._left = most

    def free_in(self, now: float) -> float:  # noqa: ARG002 - the time does not matter here
        """Return 0 while there is a place."""
        return 0.0 if self._left else inf

    def take(self, now: float) -> None:  # noqa: ARG002 - as above
        """Take a place."""
        self._left -= 1

    def give_back(self) -> None:
        """Give a place back."""
        self._left += 1


class Pace(Meter):
    """So many in any stretch of time of a given length.

    Args:
        rate: how many, and how long.
    """

    def __init__(self, rate: Rate) -> None:
        super().__init__()
        self._rate = rate
        self._begun: deque[float] = deque(maxlen=rate.calls)

    def free_in(self, now: float) -> float:
        """Return the seconds until the oldest of those that count does not count any more."""
        if len(self._begun) < self._rate.calls:
            return 0.0
        return max(self._begun[0] + self._rate.per_s - now, 0.0)

    def take(self, now: float) -> None:
        """Remember when it began."""
        self._begun.append(now)

    def give_back(self) -> None:
        """Do nothing: an end makes no room."""

    def is_unused(self, now: float) -> bool:
        """Whether none that began counts any more."""
        return not self._begun or self._begun[-1] + self._rate.per_s <= now
