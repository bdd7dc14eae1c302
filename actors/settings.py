"""What can be set for an engine."""

from __future__ import annotations

from math import isfinite

import msgspec

from ..domain.errors import InvalidInputError

_FROM_1 = (
    "max_attempts_at_once",
    "tool_threads",
    "max_plannings_at_once",
    "max_active_runs",
    "max_starts_queued",
)


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

    def check(self) -> None:
        """Look whether an engine can work like this.

        Raises:
            InvalidInputError: it cannot; all problems are listed.
        """
        problems = [
            f"{name} is {most!r}; it is a whole number from 1 up"
            for name in _FROM_1
            if (most := getattr(self, name)) is not None and not (_is_whole(most) and most >= 1)
        ]
        problems += [
            f"{name} is {seconds!r}; it is a number of seconds from 0 up"
            for name in self.__struct_fields__
            if name.endswith("_s") and (seconds := getattr(self, name)) is not None and not _is_time(seconds)
        ]
        if self.max_active_runs is not None and not self.passivate:
            problems.append("max_active_runs needs passivate: a run that only waits gives its place back")
        if problems:
            raise InvalidInputError(f"settings: {'; '.join(problems)}")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_time(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0 and isfinite(value)
