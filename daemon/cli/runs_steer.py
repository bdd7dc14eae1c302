"""``midcourse runs signal``, ``cancel``, ``replan``, ``settle``, ``compensate``: what people say to runs.

All of them write to the store, whether or not an engine runs on it: its owner notices and acts, and without
one the next ``runs resume`` does.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from .options import RUN_HELP, JsonValue, json_option, run_argument
from .output import note, say, say_document
from .session import Session, find_run_async, pass_session, wait_for

if TYPE_CHECKING:
    from ...domain.messages import Message, RequestReplan
    from ...domain.tools import Catalog


@click.command("signal", epilog=RUN_HELP)
@run_argument
@click.argument("name")
@click.argument("payload", type=JsonValue(), metavar="[JSON|@FILE|-]", required=False)
@click.option("--id", "id_", metavar="ID", default="", help="A signal with the same id is taken once.")
@click.option("--irrelevant", is_flag=True, help="Plans made without knowing it are not stale.")
@json_option
@pass_session
def signal(session: Session, /, *, run: str, name: str, payload: Any, id_: str, irrelevant: bool) -> None:
    """Tell a run something new, with a JSON value: as given, from a file, or from standard input.

    One that does not fit what [signals] of the configuration says of it is refused, and that is recorded:
    `midcourse audit engine` shows it.
    """
    from ...actors.signals import signal_rules
    from ...domain.messages import ReceiveSignal
    from ...domain.tools import Catalog

    news = {"name": name, "payload": payload, "id": id_, "relevant": not irrelevant}
    declared = Catalog(signals=signal_rules(session.config.signals))
    tell(session, run, ReceiveSignal(**sender(session), **news), declared)


@click.command("cancel", epilog=RUN_HELP)
@run_argument
@click.option("--reason", default="", help="Recorded with it.")
@json_option
@pass_session
def cancel(session: Session, /, *, run: str, reason: str) -> None:
    """Cancel a run: what can be undone is undone, newest first, then the run ends."""
    from ...domain.messages import RequestCancel

    tell(session, run, RequestCancel(**sender(session), reason=reason))


@click.command("replan", epilog=RUN_HELP)
@run_argument
@click.option("--reason", required=True, help="What changed, what is obsolete, what stays.")
@click.option("--token", default="", help="The revision it is about; `midcourse runs show` prints its token.")
@click.option("--id", "id_", metavar="ID", default="", help="A request with the same id is taken once.")
@json_option
@pass_session
def replan(session: Session, /, *, run: str, reason: str, token: str, id_: str) -> int:
    """Ask the planner of a run for another plan.

    The answer is ACCEPTED; STALE, if --token is that of an earlier revision; CONFLICT, if --id was used with
    something else; or PROCESSING, if a plan is owed already and this request was not taken up. Exit code 0 if
    it is ACCEPTED, else 1.
    """
    from ...domain.messages import RequestReplan

    message = RequestReplan(**sender(session), reason=reason, revision_token=token, id=id_)
    run_id, answer = wait_for(_replan(session, run, message))
    if session.as_json:
        say_document({"run": run_id, "answer": answer})
    else:
        say(f"{run_id}: {answer}")
    return 0 if answer == "ACCEPTED" else 1


async def _replan(session: Session, reference: str, message: RequestReplan) -> tuple[str, str]:
    from ...actors.requests import replan_answer
    from ...actors.writer import write
    from ...domain.errors import ReplanNotTaken

    async with session.write() as journal:
        run_id = await find_run_async(journal, reference)
        try:
            facts = (await write(journal, run_id, message)).facts
        except ReplanNotTaken as refusal:
            return run_id, refusal.answer
    return run_id, replan_answer(fact for fact, _ in facts)


@click.command("settle", epilog=RUN_HELP)
@run_argument
@click.argument("operation")
@click.option(
    "--happened", type=JsonValue(), metavar="JSON|@FILE|-", help="It happened; with its result, or null."
)
@click.option("--not-happened", is_flag=True, help="It did not happen: it may be tried again.")
@click.option("--reason", default="", help="How you know; needed with --not-happened.")
@json_option
@click.pass_context
def settle(
    ctx: click.Context, /, *, run: str, operation: str, happened: Any, not_happened: bool, reason: str
) -> None:
    """Say what became of an OPERATION whose outcome is unknown.

    A result is a JSON value; an object {"result": …, "resources": [{"kind": …, "id": …}]} is a whole receipt.
    """
    from ...domain.messages import SettleOutcome

    said = ctx.get_parameter_source("happened") is click.core.ParameterSource.COMMANDLINE
    if said == not_happened:
        raise click.UsageError("say one of --happened JSON and --not-happened")
    if not_happened and not reason:
        raise click.UsageError("--not-happened permits another attempt and needs a --reason")
    receipt = None if not_happened else _receipt(happened)
    session = ctx.ensure_object(Session)
    fields = {"operation": operation, "happened": not not_happened, "receipt": receipt, "reason": reason}
    tell(session, run, SettleOutcome(**sender(session) | fields))


def _receipt(value: Any) -> Any:
    """Return a value as a receipt: as one, where it has a receipt's fields and no others."""
    import msgspec

    from ...domain.receipt import Receipt

    fields = Receipt.__struct_fields__
    if not isinstance(value, dict) or not value or not set(value) <= set(fields):
        return Receipt(value)
    try:
        return msgspec.convert(value, Receipt)
    except msgspec.ValidationError as error:
        raise click.BadParameter(f"not a receipt: {error}", param_hint="--happened") from error


@click.group("compensate")
def compensate() -> None:
    """Have an operation undone, or decide about an undo that gave up."""


@compensate.command("undo", epilog=RUN_HELP)
@run_argument
@click.argument("operation")
@click.option("--reason", required=True, help="Why the effect is not wanted any more.")
@json_option
@pass_session
def undo(session: Session, /, *, run: str, operation: str, reason: str) -> None:
    """Take a committed OPERATION back, whatever the plan says of it. Its run may have ended."""
    from ...domain.messages import RequestCompensation

    tell(session, run, RequestCompensation(**sender(session), operation=operation, reason=reason))


@compensate.command("retry", epilog=RUN_HELP)
@run_argument
@click.argument("operation")
@click.option("--reason", default="", help="Recorded with it.")
@json_option
@pass_session
def retry(session: Session, /, *, run: str, operation: str, reason: str) -> None:
    """Try the undo of an OPERATION again."""
    from ...domain.messages import RetryCompensation

    tell(session, run, RetryCompensation(**sender(session), operation=operation, reason=reason))


@compensate.command("waive", epilog=RUN_HELP)
@run_argument
@click.argument("operation")
@click.option("--reason", required=True, help="Why the effect may stay.")
@json_option
@pass_session
def waive(session: Session, /, *, run: str, operation: str, reason: str) -> None:
    """Let the effect of an OPERATION stay that was to be undone."""
    from ...domain.messages import WaiveCompensation

    tell(session, run, WaiveCompensation(**sender(session), operation=operation, reason=reason))


def sender(session: Session) -> dict[str, Any]:
    """Return what every message says of its sender and time."""
    return {"at": time.time(), "actor": session.actor}


def tell(session: Session, reference: str, message: Message, catalog: Catalog | None = None) -> None:
    """Record what a message amounts to, and print that.

    Args:
        session: the command.
        reference: the run.
        message: what it is told.
        catalog: what the message is checked against, where it is.
    """
    run_id, topics, is_open = wait_for(_record(session, reference, message, catalog))
    if session.as_json:
        say_document({"run": run_id, "recorded": topics})
    elif topics:
        say(f"{run_id}: {', '.join(topics)}")
    else:
        note(f"{run_id}: nothing to record, the run knows it already")
    if topics and is_open and not session.has_engine():
        note(f"no engine owns this store: {session.command_line('runs', 'resume', run_id)} carries it on")


async def _record(
    session: Session, reference: str, message: Message, catalog: Catalog | None
) -> tuple[str, list[str], bool]:
    from ...actors.writer import NO_TOOLS, write
    from ...domain.summary import FINAL

    async with session.write() as journal:
        run_id = await find_run_async(journal, reference)
        reaction = await write(journal, run_id, message, NO_TOOLS if catalog is None else catalog)
        index = await journal.get_index(run_id)
    is_open = index is not None and index.status not in FINAL
    return run_id, [fact.topic for fact, _ in reaction.facts], is_open
