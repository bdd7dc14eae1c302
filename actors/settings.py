"""What can be set for an engine."""

from __future__ import annotations

import math
from typing import Any, Final

import msgspec

from ..domain.errors import InvalidInputError

_PLACES: Final = (
    "max_attempts_at_once",
    "tool_threads",
    "max_plannings_at_once",
    "max_active_runs",
    "max_starts_queued",
)
_SECONDS: Final = ("drain_s", "close_grace_s", "cancel_timeout_s", "probe_timeout_s")
_SECONDS_OR_NONE: Final = ("planning_timeout_s", "review_timeout_s", "stuck_timeout_s")


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How an engine works. Nothing is read from the environment.

    Args:
        drain_s: seconds that running steps have to finish when the engine closes.
        close_grace_s: seconds that they have after that, to end when they are cancelled.
        max_attempts_at_once: coroutines of tools that run at the same time; further ones wait, and
            get their places by the priority of their runs (see `domain.fairness`), as in the other two.
        tool_threads: plain functions of tools that run at the same time, each in a thread.
        cancel_timeout_s: seconds an attempt that was asked to stop has before its outcome is unknown.
        probe_timeout_s: seconds a probe may take.
        max_plannings_at_once: calls of planners that run at the same time.
        planning_timeout_s: seconds one call of a planner may take; ``None`` for as long as it takes.
        review_timeout_s: seconds a reviewer or judge may take to answer, where it is async; ``None`` for as
            long as it takes. One that takes longer is asked three times, then a person has to choose.
        max_active_runs: runs that are under way at the same time; ``None`` for as many as there are. Further
            ones are recorded and wait for a place, by their priority. A run keeps its place until it ends, or
            only waits for a time, a signal, a person, or child runs, which need places of their own; to be
            undone it needs none. Runs that only wait have to be let go of (``passivate``).
        max_starts_queued: calls of `Engine.start` that wait to become durable; further ones are refused with
            a `TooManyStartsError`. Schedules are not: each starts one run after another.
        stuck_timeout_s: seconds a handler of stuck runs may take to answer, where it is async; ``None`` for
            as long as it takes. One that takes longer is asked three times, then the run is left to a person.
        passivate: let go of the memory of runs that only wait.

    Raises:
        InvalidInputError: a number is none that an engine could work with: without a place, say, no step
            would ever begin.
    """

    drain_s: float = 5.0
    close_grace_s: float = 2.0
    max_attempts_at_once: int = 1_000
    tool_threads: int = 8
    cancel_timeout_s: float = 5.0
    probe_timeout_s: float = 30.0
    max_plannings_at_once: int = 16
    planning_timeout_s: float | None = None
    review_timeout_s: float | None = None
    max_active_runs: int | None = None
    max_starts_queued: int = 10_000
    stuck_timeout_s: float | None = 60.0
    passivate: bool = True

    def __post_init__(self) -> None:
        """Look at every number before an engine relies on it."""
        for name in _PLACES:
            value = getattr(self, name)
            if value is None and name == "max_active_runs":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise _wrong(name, value, "a whole number of 1 or more")
        for name in (*_SECONDS, *_SECONDS_OR_NONE):
            value = getattr(self, name)
            if value is None and name in _SECONDS_OR_NONE:
                continue
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not is_number or not math.isfinite(value) or value < 0:
                allowed = ", or None" if name in _SECONDS_OR_NONE else ""
                raise _wrong(name, value, f"a number of seconds of 0 or more{allowed}")
        if not isinstance(self.passivate, bool):
            raise _wrong("passivate", self.passivate, "True or False")
        if self.max_active_runs is not None and not self.passivate:
            why = "True where max_active_runs is set: a run that only waits gives its place back"
            raise _wrong("passivate", self.passivate, why)


def _wrong(name: str, value: Any, allowed: str) -> InvalidInputError:
    return InvalidInputError(f"settings: {name} is {value!r}; it is {allowed}")
