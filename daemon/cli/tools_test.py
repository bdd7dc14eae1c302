"""``midcourse tools test``: one call of a tool, outside of any plan."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from .options import json_option
from .output import note, say, say_document
from .plan_options import inputs_options
from .session import Session, pass_session

if TYPE_CHECKING:
    from ...domain.ledger import Committed
    from ...domain.run import Run
    from ...domain.tools import ToolSpec
    from ..parts import Parts
    from ..resume import Ending

FAILED = 1
ARGUMENTS_WRONG = 3
UNKNOWN = 5
_STEP = "call"


@click.command("test")
@click.argument("name", metavar="NAME")
@inputs_options
@click.option("--yes", is_flag=True, help="Call it though it has an effect.")
@click.option("--take-back", is_flag=True, help="Call its undo afterwards, to see that this works, too.")
@json_option
@pass_session
def test(
    session: Session, /, *, name: str, inputs: Any, pairs: tuple[str, ...], yes: bool, take_back: bool
) -> int:
    """Call a tool once, as a step would, and print its result.

    It is really called, with the arguments given, once, without waiting to try again; a tool that is no read
    only with --yes. The store has nothing to do with it and keeps nothing of it, and no rule of authority
    asks for an approval: whoever types this approves.

    Exit codes: 0 done (and taken back), 1 failed, 2 wrong usage, 3 arguments missing or wrong, 5 nobody knows
    whether it had its effect.
    """
    from ...domain.errors import UnknownTool
    from ..parts import load_parts

    with load_parts(session.config) as parts:
        try:
            spec = parts.catalog.resolve(name)
        except UnknownTool as error:
            raise click.BadParameter(str(error), param_hint="NAME") from error
        _check_may(spec, yes=yes, take_back=take_back)
        arguments = _arguments(spec, inputs, pairs)
        if arguments is None:
            return ARGUMENTS_WRONG
        from ..signals import run_until_stopped

        # What an engine warns of, this command says itself.
        logging.getLogger("midcourse").setLevel(logging.ERROR)
        ending, run = run_until_stopped(_call(session, spec, arguments, parts, take_back=take_back))
    return _tell(session, spec, ending, run, take_back=take_back)


def _check_may(spec: ToolSpec, *, yes: bool, take_back: bool) -> None:
    if spec.effect != "read" and not yes:
        raise click.UsageError(
            f"{spec.name} has an effect outside ({spec.effect}), and is really called; say --yes if it may be"
        )
    if take_back and not spec.undo:
        raise click.UsageError(f"{spec.name} has no undo ({spec.effect}); leave --take-back out")


def _arguments(spec: ToolSpec, document: Any, pairs: tuple[str, ...]) -> Mapping[str, Any] | None:
    """Return the arguments, or ``None`` after saying what is wrong with them."""
    import msgspec

    from ...actors.plan_inputs import input_problems
    from ..plans.inputs import InputsError, gather

    try:
        arguments = gather(document, pairs, spec.input_schema)
    except InputsError as error:
        raise click.BadParameter(str(error), param_hint="inputs") from error
    problems = input_problems(spec.input_schema, arguments)
    if not problems:
        return arguments
    note(f"Error: {spec.name} takes other arguments:")
    for problem in problems:
        note(f"  - {problem}")
    note("argument schema:")
    note(msgspec.json.format(msgspec.json.encode(spec.input_schema), indent=2).decode())
    return None


async def _call(
    session: Session, spec: ToolSpec, arguments: Mapping[str, Any], parts: Parts, *, take_back: bool
) -> tuple[Ending, Run]:
    """Have an engine without a file carry out a plan of one step; a failure behind it has it undone."""
    from ...actors.engine import Engine
    from ...domain.plan import Plan, Step
    from ...domain.retry import RetryPolicy
    from ..history import History
    from ..resume import carry_on

    steps = [Step(_STEP, spec.name, arguments, retry=RetryPolicy(max_attempts=1))]
    if take_back:
        steps.append(Step("end", "exit", {"status": "error", "message": "taken back"}))
    plan = Plan(steps, compensate_on_failure=take_back)
    async with Engine("memory:", tools=parts.tools, settings=session.config.settings) as engine:
        run = await engine.start(f"test {spec.name}", plan=plan, by=session.actor)
        history = History(run.id)
        [ending] = await carry_on(
            engine, [history], parts, on_record=lambda _: None, on_ending=lambda _: None
        )
    return ending, history.run


def _tell(session: Session, spec: ToolSpec, ending: Ending, run: Run, *, take_back: bool) -> int:
    """Say what came of the call, and return the exit code."""
    entry: Committed | None = next(iter(run.ledger.values()), None)
    problem = _problem(ending, entry, take_back=take_back)
    code = 0 if not problem else UNKNOWN if run.unknown or run.parked else FAILED
    if session.as_json:
        import msgspec

        receipt = None if entry is None else msgspec.to_builtins(entry.receipt)
        taken_back = entry is not None and entry.state == "undone"
        say_document(
            {
                "tool": spec.name, "receipt": receipt, "taken_back": taken_back, "problem": problem or None,
                "exit_code": code,
            }
        )  # fmt: skip
    elif entry is not None:
        import msgspec

        say(msgspec.json.format(msgspec.json.encode(entry.receipt.result), indent=2).decode())
    if problem:
        note(f"Error: {spec.name}: {problem}")
    elif take_back:
        note(f"taken back by {spec.undo}")
    return code


def _problem(ending: Ending, entry: Committed | None, *, take_back: bool) -> str:
    """Return what did not come out as it was to, in words."""
    if ending.attention:
        return "; ".join(item.detail for item in ending.attention)
    if entry is None:
        return ending.failure.message if ending.failure is not None else f"the call was {ending.status}"
    if take_back and entry.state != "undone":
        return f"it was called, and not taken back: it is {entry.state}"
    return ""
