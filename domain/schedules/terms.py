"""The terms of a schedule as they come from outside, checked before anything is recorded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args

import msgspec

from ..errors import InvalidInputError
from ..facts.base import Limits, Mode
from ..goal import Goal
from ..incoming import checked
from ..messages import StartRun
from ..plan import Plan
from .facts import CatchUp, Overlap, Start, Terms
from .messages import AddSchedule
from .spelling import did_you_mean
from .timing import Calendar, Cron, Every, Timing, key_of, moment

MOST_CAUGHT_UP = 1000
"""What ``catch_up_limit`` may be at most."""

_OURS = ("schedule", "due")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")
_SHORTEST_S, _LONGEST_S = 1, 10 * 366 * 86400


def checked_name(name: Any) -> str:
    """Return the name of a schedule, or raise an `InvalidInputError`."""
    if not isinstance(name, str) or not _NAME.match(name):
        raise InvalidInputError(
            f"name is {name!r}; write up to 100 letters, digits, dots, hyphens and underscores, beginning "
            "with a letter or digit, such as 'nightly-report'"
        )
    return name


def add_schedule(  # noqa: PLR0913 - a schedule has as many terms
    name: str,
    goal: Goal | str,
    *,
    calendar: Calendar,
    at: float,
    actor: str,
    cron: str | None = None,
    zone: str | None = None,
    every_s: int | None = None,
    anchor: int | None = None,
    plan: Plan | None = None,
    planner: str = "",
    mode: Mode = "autonomous",
    tags: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    overlap: Overlap = "skip",
    catch_up: CatchUp = "last",
    catch_up_limit: int = 100,
) -> AddSchedule:
    """Return the message that adds a schedule.

    Raises:
        InvalidInputError: a term is not what it has to be; the text says which, and what is allowed.
    """
    timing = _timing(cron, zone, every_s, anchor)
    calendar.check(timing)
    _check_choice("mode", mode, Mode)
    _check_choice("overlap", overlap, Overlap)
    _check_choice("catch_up", catch_up, CatchUp)
    _check_number("catch_up_limit", catch_up_limit, 1, MOST_CAUGHT_UP)
    if plan is None and not planner:
        raise InvalidInputError(f"schedule {name!r} starts nothing: give it a plan or name a planner")
    start = Start(Goal(goal) if isinstance(goal, str) else goal, plan, planner, mode, {}, limits or Limits())
    message = start_message(checked_name(name), start, 0.0, at)
    run = checked(msgspec.structs.replace(message, tags={} if tags is None else tags))
    if taken := [each for each in _OURS if each in run.tags]:
        raise InvalidInputError(f"tag {taken[0]!r} is set by the schedule itself; use another name")
    start = Start(run.goal, run.plan, run.planner, run.mode, run.tags, run.limits)
    terms = Terms(timing, start, overlap, catch_up, catch_up_limit)
    return AddSchedule(at=at, actor=actor, name=name, terms=terms)


def start_message(name: str, start: Start, due: float, at: float) -> StartRun:
    """Return the message that starts the run of a due time, tagged with the schedule and the time."""
    return StartRun(
        at=at,
        actor=f"schedule:{name}",
        goal=start.goal,
        lineage="",
        plan=start.plan,
        planner=start.planner,
        mode=start.mode,
        key=key_of(name, due),
        tags={**start.tags, "schedule": name, "due": moment(due)},
        limits=start.limits,
    )


def _timing(cron: Any, zone: Any, every_s: Any, anchor: Any) -> Timing:
    if (cron is None) is (every_s is None):
        raise InvalidInputError(
            "a schedule takes one of a cron expression (cron='30 2 * * *') and an interval (every_s=900), "
            "not " + ("both" if cron is not None else "neither")
        )
    if cron is not None:
        if anchor is not None:
            raise InvalidInputError("anchor is for intervals; a cron expression has no use for it")
        return Cron(cron, "UTC" if zone is None else zone)
    if zone is not None:
        raise InvalidInputError("zone is for cron expressions; an interval is the same in all time zones")
    _check_number("every_s", every_s, _SHORTEST_S, _LONGEST_S, what="a whole number of seconds")
    if anchor is not None:
        _check_number("anchor", anchor, 0, 1 << 40, what="a whole number of seconds since the epoch")
    return Every(every_s, anchor)


def _check_choice(name: str, found: Any, choices: Any) -> None:
    allowed = get_args(choices)
    if found not in allowed:
        raise InvalidInputError(
            f"{name} is {found!r}; write one of {', '.join(allowed)}.{did_you_mean(found, allowed)}"
        )


def _check_number(name: str, found: Any, least: int, most: int, *, what: str = "a whole number") -> None:
    if not isinstance(found, int) or isinstance(found, bool) or not least <= found <= most:
        raise InvalidInputError(f"{name} is {found!r}; write {what} from {least} to {most}")
