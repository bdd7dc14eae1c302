"""``midcourse runs watch``."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, aclosing, nullcontext
from typing import TYPE_CHECKING

import click

from .options import RUN_HELP, json_option, run_argument
from .output import is_live, note, say, say_line, width
from .session import Session, find_run_async, pass_session, wait_for

if TYPE_CHECKING:
    from ...store import Journal, Record
    from ..history import History

_INTERRUPTED = 130


@click.command("watch", epilog=RUN_HELP)
@run_argument
@json_option
@pass_session
def watch(session: Session, /, *, run: str) -> int:
    """Watch a run until it ends: a live view on a terminal, else a line for each fact.

    It reads the store and needs no engine here. Interrupting it leaves the run alone. Exit code 0 if the run
    completed, 1 if it failed or was cancelled.
    """
    try:
        return wait_for(_watch(session, run))
    except KeyboardInterrupt:
        note("Stopped watching; the run is left alone")
        return _INTERRUPTED


async def _watch(session: Session, reference: str) -> int:
    from ...domain.summary import FINAL, status

    with session.read() as journal:
        run_id = await find_run_async(journal, reference)
        with _display(session, run_id) as show:
            async with aclosing(follow_run(journal, run_id)) as moves:
                async for history, record in moves:
                    show(history, record)
                    head = await journal.head(run_id) if status(history.run) in FINAL else None
                    if head is not None and head.version == record.version:
                        return 0 if history.run.final == "completed" else 1
    raise AssertionError("a journal is followed without end")  # pragma: no cover - until it is closed


async def follow_run(journal: Journal, run_id: str) -> AsyncGenerator[tuple[History, Record]]:
    """Yield a run's records with the state after each: those there are, then those that come, without end."""
    from ..history import History

    history, position = History(run_id), 0
    for records in journal.read_batches(run_id):
        for record in records:
            history.take(record)
            position = record.position
            yield history, record
    async for record in journal.follow(position):
        if record.run_id == run_id:
            history.take(record)
            yield history, record


_Show = Callable[["History", "Record"], None]


def _display(session: Session, run_id: str) -> AbstractContextManager[_Show]:
    if session.as_json:
        from .render_facts import fact_value

        return nullcontext(lambda _, record: say_line(fact_value(record), at_once=True))
    if is_live():
        from .live import LiveRun

        return LiveRun(run_id)
    from .render_facts import fact_line

    return nullcontext(lambda _, record: say(fact_line(record, width=width()), at_once=True))
