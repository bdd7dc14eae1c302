"""``midcourse runs schedule``: what starts runs at set times.

It writes to the store, whether or not an engine runs on it; only an engine starts runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .moments import Moment
from .options import JsonValue, json_option
from .output import note, say, say_document
from .plan_options import folders_of
from .session import Session, pass_session, wait_for

if TYPE_CHECKING:
    from ...domain.goal import Goal
    from ...domain.plan_file import PlanFile
    from ...domain.schedules.messages import AddSchedule, ScheduleMessage
    from ...domain.schedules.view import ScheduleState
    from ...store import Journal
    from ..parts import Parts
    from ..plans.given import GivenPlan

F = TypeVar("F", bound=Callable[..., Any])

_MOST = 100
_TERMS = (
    click.option("--cron", metavar="EXPRESSION", help="Minute, hour, day of month, month, day of week."),
    click.option("--zone", metavar="ZONE", help="IANA time zone of --cron; UTC if it is left out."),
    click.option("--every", "every_s", type=int, metavar="SECONDS", help="An interval, instead of --cron."),
    click.option(
        "--from", "anchor", type=Moment(), help="What intervals are counted from; now, if left out."
    ),
    click.option("--goal", metavar="TEXT", help="What the runs are for; by default the name of their plan."),
    click.option("--inputs", type=JsonValue(), metavar="JSON|@FILE|-", help="Inputs of the goal, an object."),
    click.option("--plan", "named", metavar="PLAN", help="Their plan: a plan file, or its identifier."),
    click.option("--planner", metavar="NAME", default="", help="Who makes their plans, instead of --plan."),
    click.option("--mode", metavar="MODE", default="autonomous", help="autonomous (default) or interactive."),
    click.option("--tag", "tags", metavar="NAME=VALUE", multiple=True, help="A tag of the runs; repeatable."),
    click.option(
        "--overlap",
        metavar="POLICY",
        default="skip",
        help="While the run before goes on: skip (default), queue (one waits), allow, cancel_previous.",
    ),
    click.option(
        "--catch-up",
        metavar="POLICY",
        default="last",
        help="What passed while no engine was there: skip it, start the last (default), or all.",
    ),
    click.option(
        "--catch-up-limit", type=int, default=100, show_default=True, help="How many at most with all."
    ),
)


def _terms(function: F) -> F:
    for option in reversed(_TERMS):
        function = option(function)
    return function


@click.group("schedule")
def schedule() -> None:
    """Start runs at set times: list, add, remove, pause schedules.

    An engine starts the runs: that of a program that embeds one, or of a command while it carries runs on.
    """


@schedule.command("list")
@click.option(
    "--next",
    "count",
    type=click.IntRange(1, _MOST),
    default=1,
    show_default=True,
    help="How many next times.",
)
@json_option
@pass_session
def list_schedules(session: Session, /, *, count: int) -> None:
    """List schedules with their next times."""
    with session.read() as journal:
        states = wait_for(_read(journal, count))
    if session.as_json:
        say_document(states)
        return
    from .render_schedules import schedule_lines, schedule_problems

    for line in schedule_lines(states):
        say(line)
    for problem in schedule_problems(states):
        note(problem)
    if not states:
        note("No schedules")


@schedule.command("add")
@click.argument("name")
@_terms
@json_option
@pass_session
def add(session: Session, /, *, name: str, **terms: Any) -> None:
    """Add a schedule NAME; the same one once more changes nothing.

    Where the configuration has tools and planners, the plan or planner is checked against them.
    """
    from ..parts import load_parts

    with load_parts(session.config) as parts:
        message = _message(session, name, terms, parts)
        _check_parts(message, parts)
    recorded, state = wait_for(_add(session, message))
    if session.as_json:
        say_document({"recorded": recorded, "schedule": state})
    else:
        from .render_schedules import next_text

        say(f"{name}: {'added' if recorded else 'there already'}, next at {next_text(state)}")
    _note_engine(session)


@schedule.command("remove")
@click.argument("name")
@click.option("--reason", default="", help="Recorded with it.")
@json_option
@pass_session
def remove(session: Session, /, *, name: str, reason: str) -> None:
    """Remove a schedule; the runs it has started go on."""
    from ...domain.schedules.messages import RemoveSchedule

    _write(session, name, RemoveSchedule(at=time.time(), actor=session.actor, reason=reason))


@schedule.command("pause")
@click.argument("name")
@click.option("--reason", default="", help="Recorded with it.")
@json_option
@pass_session
def pause(session: Session, /, *, name: str, reason: str) -> None:
    """Let due times of a schedule come to nothing until it is unpaused."""
    from ...domain.schedules.messages import PauseSchedule

    _write(session, name, PauseSchedule(at=time.time(), actor=session.actor, reason=reason))


@schedule.command("unpause")
@click.argument("name")
@json_option
@pass_session
def unpause(session: Session, /, *, name: str) -> None:
    """Let due times of a schedule count again, those from now on."""
    from ...domain.schedules.messages import UnpauseSchedule

    _write(session, name, UnpauseSchedule(at=time.time(), actor=session.actor))


def _message(session: Session, name: str, terms: dict[str, Any], parts: Parts) -> AddSchedule:
    from ...actors.calendar import CALENDAR
    from ...domain.goal import Goal
    from ...domain.schedules.terms import add_schedule

    named, inputs, anchor = terms.pop("named"), terms.pop("inputs"), terms.pop("anchor")
    text = terms.pop("goal")
    if unnamed := [tag for tag in terms["tags"] if "=" not in tag]:
        raise click.BadParameter(f"{unnamed[0]!r} is not name=value", param_hint="--tag")
    if named is not None and terms["planner"]:
        raise click.UsageError("say one of --plan PLAN and --planner NAME")
    given = None if named is None else _given(session, named, parts)
    file = None if given is None else given.file
    if text is None and file is None:
        raise click.UsageError("say --goal TEXT: what the runs are for")
    goal = Goal(text or "", {} if inputs is None else inputs)
    return add_schedule(
        name,
        goal if file is None else _goal_of(file, goal),
        calendar=CALENDAR,
        at=time.time(),
        actor=session.actor,
        plan=None if given is None else given.plan,
        anchor=None if anchor is None else int(anchor),
        limits=session.config.limits,
        **terms | {"tags": dict(tag.split("=", 1) for tag in terms["tags"])},
    )


def _given(session: Session, named: str, parts: Parts) -> GivenPlan:
    from ..errors import PlanFileError
    from ..plans.given import given_plan

    try:
        return given_plan(named, folders_of(session), parts.catalog)
    except PlanFileError as error:
        raise click.BadParameter(str(error), param_hint="--plan") from error


def _goal_of(file: PlanFile, goal: Goal) -> Goal:
    """Return the goal of runs by a plan file, with the inputs that it takes."""
    import msgspec

    from ...actors.plan_inputs import input_problems, with_defaults

    inputs = with_defaults(file.input_schema, goal.inputs)
    if problems := input_problems(file.input_schema, inputs):
        needs = f"plan {file.identifier} needs other inputs: {'; '.join(problems)}"
        raise click.BadParameter(needs, param_hint="--inputs")
    return msgspec.structs.replace(
        goal, text=goal.text or file.name, inputs=inputs, requirements=file.requirements
    )


def _check_parts(message: AddSchedule, parts: Parts) -> None:
    """Refuse what the configuration shows to be wrong; one without parts shows nothing."""
    from ...domain.decide import record
    from ...domain.run import Run
    from ...domain.schedules.spelling import did_you_mean
    from ...domain.schedules.terms import start_message

    start, planners = message.terms.start, sorted(parts.planners)
    if start.planner and planners and start.planner not in planners:
        raise click.BadParameter(
            f"the configuration has no planner {start.planner!r}; it has {', '.join(planners)}."
            f"{did_you_mean(start.planner, planners)}",
            param_hint="--planner",
        )
    if start.plan is not None and parts.tools:
        record(Run("trial"), start_message(message.name, start, 0.0, message.at), parts.catalog)


async def _read(journal: Journal, count: int) -> list[ScheduleState]:
    from ...actors.schedule_stream import read_schedules

    return await read_schedules(journal, time.time(), count=count)


async def _add(session: Session, message: AddSchedule) -> tuple[list[str], ScheduleState]:
    from ...actors.schedule_stream import write_schedule
    from ...store import open_journal

    async with open_journal(session.store) as journal:  # a schedule may be the first thing in a store
        facts = await write_schedule(journal, message.name, message)
        states = await _read(journal, 1)
    return [fact.topic for fact in facts], next(state for state in states if state.name == message.name)


def _write(session: Session, name: str, message: ScheduleMessage) -> None:
    recorded = wait_for(_record(session, name, message))
    if session.as_json:
        say_document({"name": name, "recorded": recorded})
    elif recorded:
        say(f"{name}: {', '.join(recorded)}")
    else:
        note(f"{name}: nothing to record, it is so already")


async def _record(session: Session, name: str, message: ScheduleMessage) -> list[str]:
    from ...actors.schedule_stream import write_schedule
    from ...domain.schedules.terms import checked_name

    async with session.write() as journal:
        return [fact.topic for fact in await write_schedule(journal, checked_name(name), message)]


def _note_engine(session: Session) -> None:
    if not session.has_engine():
        note("no engine owns this store: runs start while one does")
