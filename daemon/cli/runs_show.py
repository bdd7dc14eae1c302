"""``midcourse runs show``."""

from __future__ import annotations

import click

from .options import RUN_HELP, json_option, run_argument
from .output import say, say_document
from .session import Session, find_run, pass_session


@click.command("show", epilog=RUN_HELP)
@run_argument
@json_option
@pass_session
def show(session: Session, /, *, run: str) -> None:
    """Show a run: its plan, its revisions with what they changed, its ledger, and what waits for a person."""
    with session.read() as journal:
        history = session.history(journal, find_run(journal, run))
    if session.as_json:
        say_document(history.document())
        return
    from .render_run import show_run

    for line in show_run(history):
        say(line)
