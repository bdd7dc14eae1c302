"""How many runs of an engine are under way at the same time."""

from __future__ import annotations

from collections.abc import Callable

from ..domain.fairness import FairQueue
from ..domain.run import Run


class RunPlaces:
    """Places for runs; those that have none are recorded, begin nothing, and wait for one by their priority.

    A run has its place until it ends, or only waits: for a time, a signal, a person, or its child runs, which
    need places of their own. A run that is being undone needs none.

    Args:
        most: how many places there are; ``None`` for as many as there are runs.
        begin: goes on with a run that has waited for its place.
    """

    def __init__(self, most: int | None, begin: Callable[[str], None]) -> None:
        self._most = most
        self._begin = begin
        self._held: set[str] = set()
        self._waiting = FairQueue[str]()

    def is_waiting(self, run_id: str) -> bool:
        """Return whether a run waits for its place."""
        return run_id in self._waiting

    def take_now(self, run_id: str) -> bool:
        """Return whether a run has a place, or has got one that nobody waits for."""
        if self._most is None or run_id in self._held:
            return True
        if self._waiting or len(self._held) >= self._most:
            return False
        self._held.add(run_id)
        return True

    def admit(self, run: Run) -> bool:
        """Return whether a run may go on: it has a place, or needs none. If not, it waits for one."""
        if run.unwinding is not None or self.take_now(run.id):
            return True
        if run.id not in self._waiting:
            self._waiting.push(run.id, run.id, priority=run.priority)
        return False

    def give_back(self, run_id: str) -> None:
        """Let the next run have the place of one that needs it no more; one that waits goes on waiting."""
        if run_id in self._held:
            self._held.remove(run_id)
            self._fill()

    def leave(self, run_id: str) -> None:
        """Let a run have no place, and wait for none."""
        self._waiting.remove(run_id)
        self.give_back(run_id)

    def _fill(self) -> None:
        while self._waiting and self._most is not None and len(self._held) < self._most:
            run_id = self._waiting.pop()
            self._held.add(run_id)
            self._begin(run_id)
