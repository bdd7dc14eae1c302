"""Whose turn it is when places are scarce: by priority, with a share for everyone, and in turn between runs.

The priorities share the places by stride scheduling (Waldspurger and Weihl, "Stride Scheduling: Deterministic
Proportional-Share Resource Management", MIT/LCS/TM-528, 1995): each has a number of tickets, and the one that
has had least for its tickets comes next. So out of 21 places ``high`` gets 16, ``normal`` 4 and ``low`` 1
while all three wait, and none waits for ever. Within a priority the runs take turns, and within a run it is
first come, first served: a run with very many jobs keeps out no other.

What is urgent (undoing, finding out what happened) comes before all that.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, Generic, Literal, TypeAlias, TypeVar

J = TypeVar("J")

Priority: TypeAlias = Literal["high", "normal", "low"]
"""How much a run gets of what is scarce."""

TICKETS: Final[dict[Priority, int]] = {"high": 16, "normal": 4, "low": 1}
"""The shares of the priorities while all of them wait."""

_STRIDES: Final = {priority: max(TICKETS.values()) // tickets for priority, tickets in TICKETS.items()}


class _Lanes(Generic[J]):
    """The jobs of one priority, by run; the run whose turn it is comes first."""

    __slots__ = ("had", "runs")

    def __init__(self) -> None:
        self.had = 0
        self.runs: OrderedDict[str, OrderedDict[J, None]] = OrderedDict()

    def push(self, run_id: str, job: J) -> None:
        self.runs.setdefault(run_id, OrderedDict())[job] = None

    def pop(self) -> J:
        run_id, jobs = next(iter(self.runs.items()))
        job, _ = jobs.popitem(last=False)
        if jobs:
            self.runs.move_to_end(run_id)
        else:
            del self.runs[run_id]
        return job

    def remove(self, run_id: str, job: J) -> None:
        jobs = self.runs[run_id]
        del jobs[job]
        if not jobs:
            del self.runs[run_id]


class FairQueue(Generic[J]):
    """Jobs that wait for a place. All it does takes the same time, however many wait."""

    __slots__ = ("_lanes", "_now", "_urgent", "_where")

    def __init__(self) -> None:
        self._urgent = _Lanes[J]()
        self._lanes: dict[Priority, _Lanes[J]] = {priority: _Lanes() for priority in TICKETS}
        self._where: dict[J, tuple[_Lanes[J], str]] = {}
        self._now = 0

    def __len__(self) -> int:
        return len(self._where)

    def __contains__(self, job: J) -> bool:
        return job in self._where

    def push(self, job: J, run_id: str, *, priority: Priority = "normal", is_urgent: bool = False) -> None:
        """Let a job wait.

        Args:
            job: the job, which is not waiting.
            run_id: the run it is for.
            priority: that of the run.
            is_urgent: it comes before all that is not.
        """
        lanes = self._urgent if is_urgent else self._lanes[priority]
        if not lanes.runs:
            # A priority that nobody used meanwhile has not saved up a share.
            lanes.had = max(lanes.had, self._now)
        lanes.push(run_id, job)
        self._where[job] = lanes, run_id

    def pop(self) -> J:
        """Return the job that comes next, which waits no longer.

        Raises:
            LookupError: none waits.
        """
        if not self._where:
            raise LookupError("no job waits")
        if self._urgent.runs:
            job = self._urgent.pop()
        else:
            # Of those that have had as little, the first in the order of priorities.
            waiting = [(each.had, priority) for priority, each in self._lanes.items() if each.runs]
            self._now, priority = min(waiting, key=lambda each: each[0])
            lanes = self._lanes[priority]
            lanes.had += _STRIDES[priority]
            job = lanes.pop()
        del self._where[job]
        return job

    def remove(self, job: J) -> bool:
        """Let a job wait no longer; return whether it was waiting."""
        where = self._where.pop(job, None)
        if where is None:
            return False
        lanes, run_id = where
        lanes.remove(run_id, job)
        return True
