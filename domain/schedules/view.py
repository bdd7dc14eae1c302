"""A schedule as people see it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ..facts.base import Mode
from ..goal import Goal
from ..plan import Plan
from .facts import CatchUp, Overlap
from .schedule import Schedule
from .timing import Calendar, Timing


class ScheduleState(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule at a moment.

    Args:
        name: its name.
        timing: when it falls due.
        goal: what its runs are for.
        plan: their plan.
        planner: who makes their plans.
        mode: ``autonomous`` or ``interactive``.
        tags: theirs, beside ``schedule`` and ``due``.
        overlap: what becomes of a due time while the run before has not ended.
        catch_up: which due times are made up for that passed while nothing could start.
        catch_up_limit: how many ``all`` are at most.
        is_paused: due times come to nothing.
        next: the next due times, in seconds since the epoch; none while it is paused.
        overdue_since: the first due time that has passed and that no engine has decided about.
        last_due: the due time of the last run it started.
        last_run: the id of that run.
        waiting: the due time that waits for that run to end.
        problem: why the last start was refused; empty if it was not.
    """

    name: str
    timing: Timing
    goal: Goal
    plan: Plan | None
    planner: str
    mode: Mode
    tags: Mapping[str, str]
    overlap: Overlap
    catch_up: CatchUp
    catch_up_limit: int
    is_paused: bool = False
    next: tuple[float, ...] = ()
    overdue_since: float | None = None
    last_due: float | None = None
    last_run: str = ""
    waiting: float | None = None
    problem: str = ""


def view(schedule: Schedule, calendar: Calendar, at: float, *, count: int = 1) -> ScheduleState | None:
    """Return a schedule as it is at a time, with the next ``count`` due times; ``None`` if it is no more."""
    terms = schedule.terms
    if terms is None:
        return None
    first = None if schedule.is_paused else calendar.after(terms.timing, schedule.handled_until)
    coming = (
        () if schedule.is_paused else upcoming(terms.timing, calendar, max(at, schedule.handled_until), count)
    )
    return ScheduleState(
        name=schedule.name,
        timing=terms.timing,
        goal=terms.start.goal,
        plan=terms.start.plan,
        planner=terms.start.planner,
        mode=terms.start.mode,
        tags=terms.start.tags,
        overlap=terms.overlap,
        catch_up=terms.catch_up,
        catch_up_limit=terms.catch_up_limit,
        is_paused=schedule.is_paused,
        next=coming,
        overdue_since=first if first is not None and first <= at else None,
        last_due=schedule.last_due,
        last_run=schedule.run,
        waiting=schedule.waiting,
        problem=schedule.problem,
    )


def upcoming(timing: Timing, calendar: Calendar, at: float, count: int) -> tuple[float, ...]:
    """Return the next due times after a time, at most ``count``."""
    times: list[float] = []
    while len(times) < count and (due := calendar.after(timing, times[-1] if times else at)) is not None:
        times.append(due)
    return tuple(times)
