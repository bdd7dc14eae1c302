"""``midcourse audit verify``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .options import RUN_HELP, json_option
from .output import note, paint, say, say_document
from .session import Session, find_run_async, pass_session, wait_for

if TYPE_CHECKING:
    from ...store import Journal

_PAGE = 1000


@click.command("verify", epilog=RUN_HELP)
@click.argument("run", metavar="[RUN]", required=False)
@json_option
@pass_session
def verify(session: Session, /, *, run: str | None) -> int:
    """Recompute the hash chain of a run, or of all runs, and compare it with the heads.

    Names the first record of each run that does not fit. Exit code 1 if there is one.
    """
    with session.read() as journal:
        run_id = wait_for(find_run_async(journal, run)) if run else None
        problems = list(journal.verify(run_id))
        runs, facts = wait_for(_count(journal, run_id))
    if session.as_json:
        checked = {"runs": runs, "facts": facts}
        say_document({"store": journal.url, "fits": not problems, "checked": checked, "problems": problems})
        return 1 if problems else 0
    for problem in problems:
        record = f"record {problem.version} " if problem.version else ""
        say(paint(f"run {problem.run_id}: {record}{problem.what}", "red"))
    checked_text = (
        f"{runs} {'run' if runs == 1 else 'runs'}, {facts} {'fact' if facts == 1 else 'facts'} checked"
    )
    if problems:
        wrong = len(problems)
        note(f"{checked_text}: {wrong} {'run does' if wrong == 1 else 'runs do'} not fit")
        return 1
    say(f"{paint('✓', 'green')} {checked_text}: every record fits the one before it, and none is missing")
    return 0


async def _count(journal: Journal, run_id: str | None) -> tuple[int, int]:
    """Return how many runs and facts the heads account for."""
    from ...store import RunFilter

    if run_id is not None:
        head = await journal.head(run_id)
        return 1, head.version if head else 0
    runs = facts = 0
    cursor = ""
    while True:
        page = await journal.list(RunFilter(), limit=_PAGE, cursor=cursor)
        runs += len(page.runs)
        facts += sum(run.version for run in page.runs)
        cursor = page.cursor
        if not cursor:
            return runs, facts
