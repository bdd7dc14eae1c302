"""Every rule of a schedule's behaviour; nothing here changes the state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec

from ..errors import InvalidInputError, MessageRefused
from . import facts as f
from . import messages as m
from .schedule import Schedule
from .timing import Calendar, Every, key_of

LATE_S = 60.0
"""A due time that is noticed within this many seconds is on time; later, it was missed."""

ScheduleFacts: TypeAlias = Sequence[f.ScheduleFact]


class StartRunOf(NamedTuple):
    """Start the run of a due time, under its key."""

    due: float
    key: str


class CancelRunOf(NamedTuple):
    """Ask the run before to stop."""

    run: str
    due: float


Order: TypeAlias = StartRunOf | CancelRunOf


def decide(schedule: Schedule, message: m.ScheduleMessage, calendar: Calendar) -> ScheduleFacts:
    """Answer a message.

    Args:
        schedule: the state.
        message: what it is told; its terms were checked.
        calendar: reads the timing.

    Raises:
        MessageRefused: there is no such schedule.
        InvalidInputError: the name is taken by one with other terms.
    """
    return _RULES[message.__class__](schedule, message, calendar)


def orders(schedule: Schedule) -> list[Order]:
    """Return what a state calls for; every order may be carried out twice."""
    if schedule.terms is None:
        return []
    given: list[Order] = [StartRunOf(due, key_of(schedule.name, due)) for due in sorted(schedule.pending)]
    if schedule.terms.overlap == "cancel_previous" and schedule.waiting is not None and schedule.run:
        given.append(CancelRunOf(schedule.run, schedule.waiting))
    return given


def next_due(schedule: Schedule, calendar: Calendar) -> float | None:
    """Return the first due time that nothing was decided about; it may have passed."""
    if schedule.terms is None or schedule.is_paused:
        return None
    return calendar.after(schedule.terms.timing, schedule.handled_until)


# -------------------------------------------------------------------------------------------------- people


def _add(schedule: Schedule, message: m.AddSchedule, _calendar: Calendar) -> ScheduleFacts:
    terms, known = message.terms, schedule.terms
    timing = terms.timing
    if isinstance(timing, Every) and timing.anchor is None:
        anchor = int(message.at)
        if known is not None and isinstance(known.timing, Every) and known.timing.anchor is not None:
            anchor = known.timing.anchor  # whoever does not say where to count from means the same again
        timing = msgspec.structs.replace(timing, anchor=anchor)
        terms = msgspec.structs.replace(terms, timing=timing)
    if known is None:
        return (f.ScheduleAdded(message.name, terms, message.at),)
    differing = [name for name in _named(terms) if _named(terms)[name] != _named(known)[name]]
    if differing:
        raise InvalidInputError(
            f"schedule {schedule.name!r} is there already, with another {', '.join(differing)}: nothing was "
            "recorded. Remove it first, or use another name"
        )
    return ()


def _named(terms: f.Terms) -> dict[str, Any]:
    values: dict[str, Any] = msgspec.to_builtins(
        {name: getattr(terms, name) for name in terms.__struct_fields__ if name != "start"}
        | {name: getattr(terms.start, name) for name in terms.start.__struct_fields__}
    )
    return values


def _remove(schedule: Schedule, message: m.RemoveSchedule, _calendar: Calendar) -> ScheduleFacts:
    _require(schedule)
    return (f.ScheduleRemoved(message.reason),)


def _pause(schedule: Schedule, message: m.PauseSchedule, _calendar: Calendar) -> ScheduleFacts:
    _require(schedule)
    return () if schedule.is_paused else (f.SchedulePaused(message.reason),)


def _unpause(schedule: Schedule, message: m.UnpauseSchedule, _calendar: Calendar) -> ScheduleFacts:
    _require(schedule)
    return (f.ScheduleUnpaused(message.at),) if schedule.is_paused else ()


def _require(schedule: Schedule) -> None:
    if schedule.terms is None:
        raise MessageRefused(f"there is no schedule {schedule.name!r}")


# ---------------------------------------------------------------------------------------------------- time


def _tick(schedule: Schedule, message: m.Tick, calendar: Calendar) -> ScheduleFacts:
    terms = schedule.terms
    if terms is None or schedule.is_paused:
        return ()
    admission = _Admission(schedule, terms, is_running=message.is_running)
    admission.release()
    chosen = _choose(schedule, terms, message.at, calendar)
    admission.facts += _missed(schedule, terms, chosen, message.at, calendar)
    for due in chosen:
        admission.admit(due)
    return admission.facts


def _choose(schedule: Schedule, terms: f.Terms, at: float, calendar: Calendar) -> list[float]:
    """Return the due times to start for, oldest first, of those since the last decision."""
    due = calendar.latest(terms.timing, schedule.handled_until, at)
    if due is None:
        return []
    if terms.catch_up == "skip":
        return [due] if at - due < LATE_S else []
    chosen = [due]
    while terms.catch_up == "all" and len(chosen) < terms.catch_up_limit:
        due = calendar.latest(terms.timing, schedule.handled_until, due - 1)
        if due is None:
            break
        chosen.append(due)
    return chosen[::-1]


def _missed(
    schedule: Schedule, terms: f.Terms, chosen: Sequence[float], at: float, calendar: Calendar
) -> list[f.ScheduleFact]:
    """Return the fact about the due times before those that were chosen, if there are any."""
    first = calendar.after(terms.timing, schedule.handled_until)
    until = at if not chosen else chosen[0] - 1
    last = calendar.latest(terms.timing, schedule.handled_until, until)
    return [] if first is None or last is None else [f.ScheduleSkipped(first, last, "missed")]


class _Admission:
    """What becomes of due times, one after the other, while others run or wait."""

    def __init__(self, schedule: Schedule, terms: f.Terms, *, is_running: bool) -> None:
        self.facts: list[f.ScheduleFact] = []
        self._name, self._run, self._overlap = schedule.name, schedule.run, terms.overlap
        self._waiting = schedule.waiting
        self._is_busy = is_running or bool(schedule.pending)

    def release(self) -> None:
        """Start what waits, if nothing is in its way any more."""
        if self._waiting is not None and not self._is_busy:
            self._fire(self._waiting)
            self._waiting = None

    def admit(self, due: float) -> None:
        """Start a due time, or let it wait, or skip it."""
        if self._overlap == "allow" or not self._is_busy:
            self._fire(due)
        elif self._overlap == "skip":
            self._skip(due, "overlap")
        elif self._waiting is None:
            self._wait(due)
        elif self._overlap == "queue":
            self._skip(due, "queue_full")
        else:
            self._skip(self._waiting, "superseded")
            self._wait(due)

    def _fire(self, due: float) -> None:
        self.facts.append(f.ScheduleFired(due, key_of(self._name, due)))
        self._is_busy = True

    def _wait(self, due: float) -> None:
        self.facts.append(f.ScheduleQueued(due))
        self._waiting = due

    def _skip(self, due: float, reason: f.SkipReason) -> None:
        self.facts.append(f.ScheduleSkipped(due, due, reason, self._run))


# ------------------------------------------------------------------------------------------------- reports


def _run_started(schedule: Schedule, message: m.ReportRunStarted, _calendar: Calendar) -> ScheduleFacts:
    return (f.ScheduledRunStarted(message.due, message.run),) if message.due in schedule.pending else ()


def _start_refused(schedule: Schedule, message: m.ReportStartRefused, _calendar: Calendar) -> ScheduleFacts:
    if message.due not in schedule.pending:
        return ()
    return (f.ScheduledStartRefused(message.due, message.problem),)


_RULES: dict[type[m.ScheduleMessage], Callable[[Schedule, Any, Calendar], ScheduleFacts]] = {
    m.AddSchedule: _add,
    m.RemoveSchedule: _remove,
    m.PauseSchedule: _pause,
    m.UnpauseSchedule: _unpause,
    m.Tick: _tick,
    m.ReportRunStarted: _run_started,
    m.ReportStartRefused: _start_refused,
}
