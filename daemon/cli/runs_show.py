"""``midcourse runs show``."""

from __future__ import annotations

import click

from .options import RUN_HELP, json_option, run_argument
from .output import say, say_document, width
from .session import Session, find_run, pass_session


@click.command("show", epilog=RUN_HELP)
@run_argument
@json_option
@pass_session
def show(session: Session, /, *, run: str) -> None:
    """Show a run: its plan, its revisions with what they changed, its ledger, and what waits for a person.

    The epoch of a run is the version of the last fact that plans have to know; one made from an earlier epoch
    is stale. The stability of a revision is the number of steps that differ from the plan before it: the
    fewer, the more stable.
    """
    with session.read() as journal:
        history = session.history(journal, find_run(journal, run))
    if session.as_json:
        say_document(history.document())
        return
    from .render_run import show_run

    for line in show_run(history, width=width()):
        say(line)
