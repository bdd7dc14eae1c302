"""Appends of a run that were refused because others have written to it."""

from __future__ import annotations

from ..store import VersionConflictError

MOST_CONFLICTS = 20
"""Appends of a run that may be refused in a row, while nothing new is found in it, before it is parked."""


class Conflicts:
    """Counts the refusals in which a run did not move on: others who write faster are no error."""

    __slots__ = ("_in_a_row", "_refused_at")

    def __init__(self) -> None:
        self._in_a_row = self._refused_at = 0

    def may_decide_again(self, conflict: VersionConflictError) -> bool:
        """Return whether to decide again: the run has moved on, or it may have, next time."""
        self._in_a_row = 1 if conflict.actual > self._refused_at else self._in_a_row + 1
        self._refused_at = conflict.actual
        return self._in_a_row <= MOST_CONFLICTS
