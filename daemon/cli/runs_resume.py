"""``midcourse runs resume``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from .options import RUN_HELP, json_option
from .output import note, one_line, paint, say, say_line, short_json, width
from .session import Session, find_run_async, pass_session

if TYPE_CHECKING:
    from ...store import Journal, Record
    from ..history import History
    from ..parts import Parts
    from ..resume import Ending

ATTENTION = 5
"""Exit code when nothing failed and a run waits for a person."""

_INTERRUPTED = 130
_PAGE = 1000


@click.command("resume", epilog=RUN_HELP)
@click.argument("runs", metavar="[RUN]...", nargs=-1)
@click.option("--quiet", "-q", is_flag=True, help="Do not show facts as they land.")
@click.option("--no-input", is_flag=True, help="Ask nobody, not even on a terminal.")
@json_option
@pass_session
def resume(session: Session, /, *, runs: tuple[str, ...], quiet: bool, no_input: bool) -> int:
    """Carry runs on until they end or need a person: those named, or all that have not ended.

    The tools and planners are those of the configuration. This process becomes the engine of the store, and
    an engine takes up every run that has not ended; those named are the ones it waits for. Facts are shown on
    standard error as they land, what became of each run on standard output, with --json as a line for each.

    On a terminal, the questions of steps are asked, and steps that a run is held at take commands.
    Interrupted, it lets running steps finish, and the runs can be resumed.

    Exit code 0 if all completed, 5 if one needs a person, 1 if one failed or was cancelled.
    """
    from ..logging import configure_logging
    from ..parts import load_parts
    from ..signals import TERMINATED, TerminatedError, run_until_stopped

    configure_logging()
    try:
        with load_parts(session.config) as parts:
            endings = run_until_stopped(_resume(session, runs, parts, quiet=quiet, no_input=no_input))
    except (KeyboardInterrupt, TerminatedError) as stopped:
        note(f"Interrupted; go on with: {session.command_line('runs', 'resume', *runs)}")
        return TERMINATED if isinstance(stopped, TerminatedError) else _INTERRUPTED
    return _exit_code(endings)


async def _resume(
    session: Session, references: Sequence[str], parts: Parts, *, quiet: bool, no_input: bool
) -> Sequence[Ending]:
    import asyncio

    from ..engines import engine_of
    from ..resume import carry_on
    from .person import is_at_terminal, person_of

    with session.read() as journal:
        histories = [session.history(journal, run) for run in await _chosen(journal, references)]
    _check_parts(session, histories, parts)
    if not histories:
        note("No runs to resume")
        return []
    async with engine_of(session.store, session.config, parts) as engine:
        try:
            return await carry_on(
                engine,
                histories,
                parts,
                on_record=_progress(quiet=quiet, name_runs=len(histories) > 1),
                on_ending=lambda ending: _show(session, ending),
                person=person_of(session, asks=not no_input, debugs=is_at_terminal() and not no_input).look,
            )
        except asyncio.CancelledError:
            note("Stopping: running steps may finish; interrupt again to exit at once")
            raise


async def _chosen(journal: Journal, references: Sequence[str]) -> list[str]:
    """Return the runs named, else all that have not ended, oldest first."""
    from ...store import RunFilter

    if references:
        return list(dict.fromkeys([await find_run_async(journal, each) for each in references]))
    runs, cursor = list[str](), ""
    while True:
        page = await journal.list(RunFilter(active=True), limit=_PAGE, cursor=cursor)
        runs += (run.run_id for run in page.runs)
        cursor = page.cursor
        if not cursor:
            return runs[::-1]


def _check_parts(session: Session, histories: Sequence[History], parts: Parts) -> None:
    from ..errors import PartsMissingError
    from ..resume import missing_parts

    missing = {history.run.id: lacks for history in histories if (lacks := missing_parts(history.run, parts))}
    if missing:
        raise PartsMissingError(missing, session.config.file)


def _progress(*, quiet: bool, name_runs: bool) -> Callable[[Record], None]:
    from .render_facts import fact_line

    def show(record: Record) -> None:
        prefix = f"{record.run_id} " if name_runs else ""
        note(fact_line(record, width=width(sys.stderr), prefix=prefix))

    return (lambda _: None) if quiet else show


def _show(session: Session, ending: Ending) -> None:
    from .render_attention import attention_lines
    from .render_run import status_cell

    if session.as_json:
        say_line(ending, at_once=True)
        return
    status, style = status_cell(ending.status)
    text = f"{paint(ending.run, 'bold')}  {paint(status, style)}"
    if ending.status == "completed":
        text += f"  {short_json(ending.result, 200)}"
    elif ending.failure is not None:
        text += f"  {one_line(ending.failure.message)}"
    say(text + (f"  {one_line(ending.error)}" if ending.error else ""), at_once=True)
    for line in attention_lines(ending.run, ending.attention):
        note(line)


def _exit_code(endings: Sequence[Ending]) -> int:
    statuses = {ending.status for ending in endings}
    if statuses <= {"completed"}:
        return 0
    return ATTENTION if statuses <= {"completed", "attention"} else 1
