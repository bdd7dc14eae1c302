"""``midcourse plan run``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from .options import json_option
from .output import note, note_line, notes_as_json, width
from .plan_ending import FAILED, finish
from .plan_options import (
    PLAN_HELP,
    find_plan,
    folders_of,
    has_errors,
    inputs_options,
    note_problems,
    plan_argument,
)
from .session import Session, pass_session

if TYPE_CHECKING:
    from ...domain.breakpoints import Breakpoints
    from ...domain.facts import ExitReached, Limits
    from ...domain.plan_file import PlanFile
    from ...store import Record
    from ..history import History
    from ..parts import Parts
    from ..resume import Ending
    from .person import Person

INPUTS_WRONG = 3
"""Exit code if inputs are missing or do not fit."""
_INTERRUPTED = 130


@click.command("run", epilog=PLAN_HELP)
@plan_argument
@inputs_options
@click.option("--key", metavar="NAME", help="Idempotency key: a second start with it is the same run.")
@click.option(
    "--priority", type=click.Choice(["high", "normal", "low"]), default="normal", show_default=True,
    help="Its share of what is scarce.",
)  # fmt: skip
@click.option("--quiet", "-q", is_flag=True, help="Do not show facts as they land.")
@click.option("--events", is_flag=True, help="Show facts on standard error as lines of JSON.")
@click.option(
    "--interactive", is_flag=True, help="Have `ask` steps wait for answers, also without a terminal."
)
@click.option("--no-input", is_flag=True, help="Ask nobody, not even on a terminal.")
@click.option("--concurrency", metavar="N", type=click.IntRange(1), help="Tools that run at a time, at most.")
@click.option("--step", is_flag=True, help="Hold the run before every step, and take commands.")
@click.option(
    "--break", "breaks", metavar="STEP", multiple=True, help="Hold it before a step: an id, path or glob."
)
@click.option("--break-on-error", is_flag=True, help="Hold it after a step failed.")
@click.option("--debug-commands", metavar="FILE", help="Commands for where it is held; - for standard input.")
@json_option
@pass_session
def run(session: Session, /, *, named: str, inputs: Any, pairs: tuple[str, ...], **options: Any) -> int:
    """Run a plan until it ends, and print its result.

    Standard output has the result and nothing else: the JSON that `output` describes, or nothing where the
    plan has no `output`. With --json it is one document with run, status, result and failure, however it
    ends. Progress goes to standard error.

    On a terminal `ask` steps ask; elsewhere, and with --no-input, they end as the plan says for want of an
    answer. With --step, --break or --break-on-error the run is held and takes commands: help lists them.

    This process becomes the engine of the store, so it takes up other runs that have not ended, too.
    Interrupted, it lets running steps finish; the run can be resumed, and the command for that is printed.

    Exit codes: 0 done, 1 failed, 2 wrong usage, 3 inputs missing or wrong, 4 an exit step with status error,
    5 the run waits for a person, 130 interrupted.
    """
    from ..parts import load_parts

    if options["events"]:
        notes_as_json()
    folders = folders_of(session)
    loaded = find_plan(folders, named)
    with load_parts(session.config) as parts:
        problems = loaded.checked(folders.around(loaded, parts.catalog), to_run=True)
        if loaded.plan is None or has_errors(problems):
            note_problems(problems)
            note(f"Error: plan {loaded.identifier} cannot run; nothing was started")
            return FAILED
        given = read_inputs(loaded.plan, inputs, pairs)
        if given is None:
            return INPUTS_WRONG
        if not _check_supported(loaded.plan):
            return FAILED
        return _carry_out(session, loaded.plan, given, parts, options)


def read_inputs(plan: PlanFile, document: Any, pairs: tuple[str, ...]) -> Mapping[str, Any] | None:
    """Return the inputs, or ``None`` after saying what is wrong with them."""
    import msgspec

    from ...actors.plan_inputs import input_problems, with_defaults
    from ..plans.inputs import InputsError, gather

    try:
        inputs = with_defaults(plan.input_schema, gather(document, pairs, plan.input_schema))
    except InputsError as error:
        raise click.BadParameter(str(error), param_hint="inputs") from error
    problems = input_problems(plan.input_schema, inputs)
    if not problems:
        return inputs
    note(f"Error: plan {plan.identifier} needs other inputs:")
    for problem in problems:
        note(f"  - {problem}")
    note("input schema:")
    note(msgspec.json.format(msgspec.json.encode(plan.input_schema), indent=2).decode())
    return None


def _check_supported(plan: PlanFile) -> bool:
    if plan.solver is not None:
        note(
            f"Error: plan {plan.identifier} has a solver, and no model is configured to write its answer; "
            "give it an `output` instead"
        )
        return False
    if unsupported := plan.unsupported():
        note(
            f"Error: plan {plan.identifier} asks for what this version does not carry out: "
            f"{', '.join(unsupported)}"
        )
        return False
    return True


class _Course:
    """A run on its way.

    Args:
        options: of the command.
        person: who is asked, and decides where it is held.
        breakpoints: where it is held.

    Attributes:
        history: the run, once it is started.
        reached: the exit that has ended its plan.
    """

    def __init__(self, options: Mapping[str, Any], person: Person, breakpoints: Breakpoints | None) -> None:
        self.options = options
        self.person = person
        self.breakpoints = breakpoints
        self.history: History | None = None
        self.reached: ExitReached | None = None


def _carry_out(
    session: Session, plan: PlanFile, inputs: Mapping[str, Any], parts: Parts, options: Mapping[str, Any]
) -> int:
    from ..logging import configure_logging
    from ..signals import TERMINATED, TerminatedError, run_until_stopped

    configure_logging()
    course = _Course(options, *_person(session, options))
    try:
        ending = run_until_stopped(_run(session, plan, inputs, parts, course))
    except (KeyboardInterrupt, TerminatedError) as stopped:
        if course.history is not None:
            run_id = course.history.run.id
            note(f"Interrupted; go on with: {session.command_line('runs', 'resume', run_id)}")
        else:
            note("Interrupted before the run was started")
        return TERMINATED if isinstance(stopped, TerminatedError) else _INTERRUPTED
    assert course.history is not None  # noqa: S101 - a run that ended was started
    return finish(session, plan, ending, course.history.run, course.reached)


def _person(session: Session, options: Mapping[str, Any]) -> tuple[Person, Breakpoints | None]:
    """Return who is there, and where they want the run held."""
    from ...domain.breakpoints import Breakpoints
    from .person import person_of

    steps = (*options["breaks"], *(("*",) if options["step"] else ()))
    debugs = bool(steps or options["break_on_error"])
    if options["debug_commands"] is not None and not debugs:
        raise click.UsageError("--debug-commands goes with --step, --break or --break-on-error")
    commands = options["debug_commands"]
    person = person_of(session, asks=not options["no_input"], debugs=debugs, commands=commands)
    return person, Breakpoints(steps, options["break_on_error"]) if debugs else None


async def _run(
    session: Session, plan: PlanFile, inputs: Mapping[str, Any], parts: Parts, course: _Course
) -> Ending:
    import asyncio

    from ...domain.goal import Goal
    from ..engines import engine_of
    from ..history import History
    from ..resume import carry_on

    options = course.options
    async with engine_of(session.store, session.config, parts) as engine:
        handle = await engine.start(
            Goal(plan.name, inputs, plan.requirements),
            plan=plan.plan(),
            mode="interactive" if _is_interactive(options) else "autonomous",
            key=options["key"],
            priority=options["priority"],
            tags={"plan": plan.identifier},
            limits=_limits(session.config.limits, options["concurrency"]),
            breakpoints=course.breakpoints,
            by=session.actor,
        )
        history = course.history = History(handle.id)
        if not options["events"] and not options["quiet"]:
            note(f"Run {handle.id}: {plan.name}")
        tell = _progress(quiet=options["quiet"], events=options["events"])

        def show(record: Record) -> None:
            course.reached = course.reached or history.run.exit
            tell(record)

        try:
            [ending] = await carry_on(
                engine, [history], parts, on_record=show, on_ending=lambda _: None, person=course.person.look
            )
        except asyncio.CancelledError:
            note("Stopping: running steps may finish; interrupt again to exit at once")
            raise
        return ending


def _limits(limits: Limits, concurrency: int | None) -> Limits:
    """Return the limits of the configuration, with those of the command line over them."""
    import msgspec

    return limits if concurrency is None else msgspec.structs.replace(limits, steps_at_once=concurrency)


def _is_interactive(options: Mapping[str, Any]) -> bool:
    from .person import is_at_terminal

    return options["interactive"] or (is_at_terminal() and not options["no_input"])


def _progress(*, quiet: bool, events: bool) -> Callable[[Record], None]:
    from .render_facts import fact_line, fact_value

    if events:
        return lambda record: note_line(fact_value(record))
    return (lambda _: None) if quiet else lambda record: note(fact_line(record, width=width(sys.stderr)))
