"""``midcourse plan run``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from .options import json_option
from .output import note, say, say_document, width
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
    from ...actors.engine import Engine
    from ...domain.plan_file import PlanFile
    from ...domain.run import Run
    from ...store import Record
    from ..history import History
    from ..parts import Parts
    from ..resume import Ending

FAILED = 1
INPUTS_WRONG = 3
"""Exit code if inputs are missing or do not fit."""
ERROR_EXIT = 4
"""Exit code if an ``exit`` step with ``status: error`` ended the run."""
ATTENTION = 5
_INTERRUPTED = 130
_EXIT = "exit"
"""Kind of the failure of a run that such a step ended."""


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
@click.option("--interactive", is_flag=True, help="Have people asked where they are to be asked.")
@click.option("--no-input", is_flag=True, help="Ask nothing at the terminal.")
@json_option
@pass_session
def run(session: Session, /, *, named: str, inputs: Any, pairs: tuple[str, ...], **options: Any) -> int:
    """Run a plan until it ends, and print its result.

    Standard output has the result and nothing else: the JSON that `output` describes, or nothing where the
    plan has no `output`. With --json it is one document with run, status, result and failure, however it
    ends. Progress goes to standard error.

    This process becomes the engine of the store, so it takes up other runs that have not ended, too.
    At a terminal the questions of the plan (`ask`) are put to you, one at a time; elsewhere they end as the
    plan says. Interrupted, it lets running steps finish; the run can be resumed, and the command for that is
    printed.

    Exit codes: 0 done, 1 failed, 2 wrong usage, 3 inputs missing or wrong, 4 an exit step with status error,
    5 the run waits for a person, 130 interrupted.
    """
    from ..parts import load_parts

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

    from ..plans.inputs import InputsError, gather
    from ..plans.schemas import input_problems, with_defaults

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


def _carry_out(
    session: Session, plan: PlanFile, inputs: Mapping[str, Any], parts: Parts, options: Mapping[str, Any]
) -> int:
    from ..logging import configure_logging
    from ..signals import TERMINATED, TerminatedError, run_until_stopped

    configure_logging()
    started: list[History] = []
    try:
        ending = run_until_stopped(_run(session, plan, inputs, parts, options, started))
    except (KeyboardInterrupt, TerminatedError) as stopped:
        for history in started:
            note(f"Interrupted; go on with: {session.command_line('runs', 'resume', history.run.id)}")
        if not started:
            note("Interrupted before the run was started")
        return TERMINATED if isinstance(stopped, TerminatedError) else _INTERRUPTED
    return _finish(session, plan, ending, started[0].run)


async def _run(
    session: Session,
    plan: PlanFile,
    inputs: Mapping[str, Any],
    parts: Parts,
    options: Mapping[str, Any],
    started: list[History],
) -> Ending:
    import asyncio

    from ...actors.engine import Engine
    from ...domain.goal import Goal
    from ..history import History

    async with Engine(
        session.store, tools=parts.tools, planners=parts.planners, plans=parts.plans,
        authority=parts.authority, reviewers=parts.reviewers, plan_reviewers=parts.plan_reviewers,
    ) as engine:  # fmt: skip
        handle = await engine.start(
            Goal(plan.name, inputs, plan.requirements),
            plan=plan.plan(),
            mode="interactive" if options["interactive"] or _asks(options) else "autonomous",
            key=options["key"],
            priority=options["priority"],
            tags={"plan": plan.identifier},
            by=session.actor,
        )
        started.append(History(handle.id))
        if not options["events"] and not options["quiet"]:
            note(f"Run {handle.id}: {plan.name}")
        show = _progress(quiet=options["quiet"], events=options["events"])
        try:
            ending = await _carry_on(engine, started, parts, show, asks=_asks(options))
        except asyncio.CancelledError:
            note("Stopping: running steps may finish; interrupt again to exit at once")
            raise
        return ending


def _asks(options: Mapping[str, Any]) -> bool:
    """Whether the questions of the plan are put to the person at the terminal."""
    from .questions import is_terminal

    return not options["no_input"] and is_terminal()


async def _carry_on(
    engine: Engine, started: list[History], parts: Parts, show: Callable[[Record], None], *, asks: bool
) -> Ending:
    """Carry a run to its end, and put its questions to the person at the terminal on the way."""
    import asyncio

    from ..resume import carry_on
    from .questions import ask

    run = started[0].run
    while True:
        endings = await carry_on(engine, started, parts, on_record=show, on_ending=lambda _: None)
        question = next(iter(run.questions.values()), None)
        if not asks or question is None:
            return endings[0]
        answer = await asyncio.to_thread(ask, question)
        handle = engine.run(run.id)
        await handle.answer(question.step, answer, decline=answer is None)
        async for record in handle.facts(after=run.version):
            started[0].take(record)
            show(record)
            if question.step not in run.questions:
                break


def _progress(*, quiet: bool, events: bool) -> Callable[[Record], None]:
    from .render_facts import fact_line, fact_value

    if events:
        import msgspec

        return lambda record: print(
            msgspec.json.encode(fact_value(record)).decode(), file=sys.stderr, flush=True
        )
    return (lambda _: None) if quiet else lambda record: note(fact_line(record, width=width(sys.stderr)))


def _finish(session: Session, plan: PlanFile, ending: Ending, run: Run) -> int:
    code = _exit_code(ending)
    has_output = plan.output is not None or (run.exit is not None and run.exit.output is not None)
    result = ending.result if has_output else None
    if run.exit is not None and run.exit.message and ending.status == "completed":
        note(run.exit.message)
    if session.as_json:
        say_document(
            {
                "run": ending.run, "plan": plan.identifier, "status": ending.status, "result": result,
                "failure": ending.failure, "attention": ending.attention, "exit_code": code,
            }
        )  # fmt: skip
    elif code == 0 and has_output:
        import msgspec

        say(msgspec.json.encode(result).decode() if isinstance(result, str) else _document(result))
    if code:
        _explain(session, ending, run)
    return code


def _document(value: Any) -> str:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _exit_code(ending: Ending) -> int:
    if ending.status == "completed":
        return 0
    if ending.status == "attention":
        return ATTENTION
    return ERROR_EXIT if ending.failure is not None and ending.failure.kind == _EXIT else FAILED


def _explain(session: Session, ending: Ending, run: Run) -> None:
    """Say on standard error why there is no result, what was undone, and what stands."""
    from .render_attention import attention_lines

    failure = ending.failure
    if failure is not None:
        where = f" at step {failure.step} ({failure.tool})" if failure.step else ""
        note(f"Error: plan failed{where}: {failure.message}")
    elif ending.error:
        note(f"Error: the run was let go of: {ending.error}")
    elif ending.status == "attention":
        note(f"The run waits for a person: {session.command_line('runs', 'show', ending.run)}")
    else:
        note(f"Error: the run is {ending.status}")
    for state, text in (("undone", "Undone"), ("committed", "Stands")):
        effects = [
            f"{entry.tool} (step {entry.step})"
            for entry in run.ledger.values()
            if entry.state == state and entry.effect != "read" and not entry.takes_back
        ]
        if effects:
            note(f"{text}: {', '.join(effects)}")
    for line in attention_lines(ending.run, ending.attention):
        note(line)
