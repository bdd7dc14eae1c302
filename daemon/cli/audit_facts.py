"""``midcourse audit facts`` and ``midcourse audit at``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from .moments import parse_moment, show_moment
from .options import RUN_HELP, json_option, run_argument
from .output import note, say, say_document, say_line, width
from .session import Session, find_run, pass_session, wait_for

if TYPE_CHECKING:
    from ...store import Journal
    from ..history import History

MOST = 2**63 - 1
"""The highest version a store can hold."""


@click.command("facts", epilog=RUN_HELP)
@run_argument
@click.option(
    "--after", type=click.IntRange(0, MOST), default=0, metavar="N", help="Only facts after this version."
)
@click.option("--until", type=click.IntRange(1, MOST), metavar="N", help="Only facts up to this version.")
@json_option
@pass_session
def facts(session: Session, /, *, run: str, after: int, until: int | None) -> None:
    """Print the facts of a run: version, time, actor, cause, kind, and what each says.

    With --json a line for each fact; times are in seconds since the epoch, as recorded.
    """
    from .render_facts import fact_line, fact_value

    with session.read() as journal:
        for records in journal.read_batches(find_run(journal, run), after=after, until=until):
            for record in records:
                if session.as_json:
                    say_line(fact_value(record))
                else:
                    say(fact_line(record, width=width()))


@click.command("engine")
@click.option(
    "--after", type=click.IntRange(0, MOST), default=0, metavar="N", help="Only facts after this version."
)
@json_option
@pass_session
def engine(session: Session, /, *, after: int) -> None:
    """Print the facts that are those of no run: signals that were refused, by which sender, and why.

    What a refused signal said is not kept, only its digest.
    """
    from ...store import ENGINE
    from .render_facts import fact_line, fact_value

    none = True
    with session.read() as journal:
        for records in journal.read_batches(ENGINE, after=after):
            for record in records:
                none = False
                if session.as_json:
                    say_line(fact_value(record))
                else:
                    say(fact_line(record, width=width()))
    if none and not session.as_json:
        note("Nothing was refused")


@click.command("at", epilog=RUN_HELP)
@run_argument
@click.argument("moment", metavar="VERSION|TIME")
@json_option
@pass_session
def at(session: Session, /, *, run: str, moment: str) -> None:
    """Show a run as it was after the fact with that VERSION, or at that TIME: state, plan and ledger.

    TIME is an ISO 8601 date or time, local unless it names a zone, or an age such as 15m.
    """
    with session.read() as journal:
        history = _history_at(session, journal, find_run(journal, run), moment)
    if session.as_json:
        say_document(history.document())
        return
    from .render_run import show_run

    note(f"As it was after fact {history.run.version}, {show_moment(history.updated_at, fine=True)}")
    for line in show_run(history, width=width()):
        say(line)


def _history_at(session: Session, journal: Journal, run_id: str, moment: str) -> History:
    from ..history import History

    if moment.isdecimal():
        head = wait_for(journal.head(run_id))
        last = head.version if head is not None else 0
        if not 0 < int(moment) <= last:
            raise click.BadParameter(
                f"run {run_id} has facts 1 to {last}, no fact {moment}", param_hint="VERSION"
            )
        return session.history(journal, run_id, until=int(moment))
    try:
        at_s = parse_moment(moment, time.time())
    except ValueError as error:
        raise click.BadParameter(f"{error}; or a version number", param_hint="VERSION|TIME") from None
    history = History(run_id)
    for records in journal.read_batches(run_id):
        for record in records:
            if record.at > at_s:
                return _started(history, at_s)
            history.take(record)
    return _started(history, at_s)


def _started(history: History, at_s: float) -> History:
    if not history.run.version:
        raise click.BadParameter(
            f"run {history.run.id} did not exist at {show_moment(at_s)}", param_hint="VERSION|TIME"
        )
    return history
