"""Schedules as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from ...domain.schedules.timing import Cron
from .moments import show_moment
from .output import one_line, width
from .render_table import Cell, table

if TYPE_CHECKING:
    from ...domain.schedules.timing import Timing
    from ...domain.schedules.view import ScheduleState

_GOAL = 60


def schedule_lines(states: Sequence[ScheduleState]) -> list[str]:
    """Return a table of schedules; further next times have lines of their own."""
    rows = [row for state in states for row in _rows(state)]
    headers = ("SCHEDULE", "WHEN", "NEXT", "OVERLAP", "CATCH UP", "LAST RUN", "GOAL")
    return table(rows, headers=headers, width=width(), optional=(4, 3, 5)) if rows else []


def schedule_problems(states: Sequence[ScheduleState]) -> Iterator[str]:
    """Yield what somebody should know of schedules."""
    for state in states:
        if state.problem:
            yield f"{state.name}: the last start was refused: {one_line(state.problem)}"
        if state.overdue_since is not None:
            yield (
                f"{state.name}: due since {show_moment(state.overdue_since)}, and no engine has started it: "
                "open one that has its planner and tools"
            )
        if state.waiting is not None:
            yield f"{state.name}: {show_moment(state.waiting)} waits for run {state.last_run} to end"


def next_text(state: ScheduleState) -> str:
    """Return the next due time of a schedule, in its zone."""
    return show_due(state.next[0], state.timing) if state.next else "no time"


def show_due(at: float, timing: Timing) -> str:
    """Return a due time: of a cron expression in its zone, with the offset; of an interval in local time."""
    if not isinstance(timing, Cron):
        return show_moment(at)
    return datetime.fromtimestamp(at, ZoneInfo(timing.zone)).isoformat(" ", "seconds")


def _rows(state: ScheduleState) -> Iterator[list[str | Cell]]:
    timing = state.timing
    when = f"{timing.expression} {timing.zone}" if isinstance(timing, Cron) else f"every {timing.seconds} s"
    coming: Cell | str = Cell("paused", "yellow") if state.is_paused else next_text(state)
    most = f", {state.catch_up_limit} at most" if state.catch_up == "all" else ""
    goal = one_line(state.goal.text, _GOAL)
    yield [
        state.name,
        when,
        coming,
        state.overlap,
        f"{state.catch_up}{most}",
        state.last_run,
        goal,
    ]
    for due in state.next[1:]:
        yield ["", "", show_due(due, timing), "", "", "", ""]
