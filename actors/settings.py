"""What can be set for an engine."""

from __future__ import annotations

import msgspec


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
    max_starts_queued: int = 10_000
    stuck_timeout_s: float | None = 60.0
    passivate: bool = True
