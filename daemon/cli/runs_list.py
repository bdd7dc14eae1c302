"""``midcourse runs list``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from .moments import Moment, show_age, show_moment
from .options import json_option, tags
from .output import note, one_line, say, say_document, width
from .session import Session, pass_session, wait_for

if TYPE_CHECKING:
    from ...actors.attention import RunAttention
    from ...store import IndexedRun, Journal

STATUSES = (
    "planning", "running", "waiting", "attention", "compensating", "completed", "failed", "cancelled",
)  # fmt: skip
_MOST = 1000
_GOAL = 60


@click.command("list")
@click.option(
    "--status",
    type=click.Choice(STATUSES),
    multiple=True,
    help="Only runs with this status; may be repeated.",
)
@click.option("--goal", metavar="TEXT", default="", help="Only runs whose goal contains this.")
@click.option("--key", metavar="KEY", default="", help="Only the run started with this key.")
@click.option(
    "--tag",
    metavar="NAME=VALUE",
    multiple=True,
    callback=tags,
    help="Only runs with this tag; may be repeated.",
)
@click.option("--parent", metavar="RUN", default="", help="Only the child runs of this run, by its id.")
@click.option("--lineage", metavar="RUN", default="", help="Only runs below this one, however deep.")
@click.option("--since", type=Moment(), help="Only runs started at or after: a time, or an age such as 2h.")
@click.option("--until", type=Moment(), help="Only runs started before.")
@click.option("--attention", is_flag=True, help="Only runs that wait for a person, with what settles it.")
@click.option(
    "--limit", type=click.IntRange(1, _MOST), default=50, show_default=True, help="How many at most."
)
@click.option("--cursor", metavar="CURSOR", default="", help="Where the page before ended.")
@json_option
@pass_session
def list_runs(session: Session, /, *, limit: int, cursor: str, **filters: Any) -> None:
    """List runs, newest first."""
    import msgspec

    from ...store import RunFilter

    wanted = RunFilter(
        statuses=filters["status"],
        attention=filters["attention"],
        key=filters["key"],
        tags={**filters["tag"], **_family(filters["parent"], filters["lineage"])},
        text=filters["goal"],
        created_from=filters["since"],
        created_until=filters["until"],
    )
    with session.read() as journal:
        page = wait_for(journal.list(wanted, limit=limit, cursor=cursor))
        waiting = wait_for(_waiting(journal, page.runs)) if filters["attention"] else []
    if session.as_json:
        items = {"attention": {each.run.run_id: each.items for each in waiting}}
        say_document(msgspec.to_builtins(page) | items if filters["attention"] else page)
        return
    for line in _lines(page.runs):
        say(line)
    if filters["attention"]:
        _say_what_waits(waiting)
    if not page.runs:
        note("No runs")
    if page.cursor:
        note(f"More with --cursor {page.cursor}")


def _family(parent: str, lineage: str) -> dict[str, str]:
    """Return the tags by which child runs are found."""
    from ...domain.children import LINEAGE_TAG, PARENT_TAG

    said = {PARENT_TAG: parent, LINEAGE_TAG: lineage}
    return {name: value for name, value in said.items() if value}


async def _waiting(journal: Journal, runs: Sequence[IndexedRun]) -> list[RunAttention]:
    from ...actors.attention import attention_of

    return [await attention_of(journal, run) for run in runs]


def _say_what_waits(waiting: Sequence[RunAttention]) -> None:
    from .render_attention import attention_lines

    now = time.time()
    for each in waiting:
        for line in attention_lines(each.run.run_id, each.items, now=now):
            say(line)


def _lines(runs: Any) -> list[str]:
    from .render_run import status_cell
    from .render_table import table

    now = time.time()
    rows = [
        [
            run.run_id,
            status_cell(run.status),
            show_moment(run.created),
            run.key,
            str(run.version),
            _waits(run, now),
            one_line(run.goal, _GOAL),
        ]
        for run in runs
    ]
    headers = ("RUN", "STATUS", "STARTED", "KEY", "FACTS", "WAITS", "GOAL")
    return table(rows, headers=headers, width=width(), optional=(4, 2, 3)) if rows else []


def _waits(run: IndexedRun, now: float) -> str:
    """Return how many things of a run wait for a person, and for how long."""
    if not run.attention:
        return ""
    since = "" if run.attention_since is None else f" {show_age(now - run.attention_since)}"
    return f"{run.attention}{since}"
