"""``midcourse runs pause``, ``unpause``, ``budget``: what keeps runs from beginning anything more."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .options import RUN_HELP, json_option, run_argument, tags
from .output import note, say, say_document
from .runs_steer import sender, tell
from .session import Session, pass_session, wait_for

if TYPE_CHECKING:
    from ...domain.messages import PauseRun, UnpauseRun

F = TypeVar("F", bound=Callable[..., Any])


def _which(function: F) -> F:
    """The run, or the runs, that are to pause or to go on."""
    options = (
        click.argument("run", metavar="[RUN]", required=False),
        click.option("--all", "every", is_flag=True, help="All runs that have not ended."),
        click.option("--goal", metavar="TEXT", default="", help="All of them whose goal contains this."),
        click.option(
            "--tag", metavar="NAME=VALUE", multiple=True, callback=tags, help="All of them with this tag."
        ),
        click.option("--reason", default="", help="Recorded with it."),
        json_option,
    )
    for option in reversed(options):
        function = option(function)
    return function


@click.command("pause", epilog=RUN_HELP)
@_which
@pass_session
def pause(session: Session, /, **which: Any) -> None:
    """Pause a run, or all that fit: nothing more is begun, what is under way ends and is recorded."""
    from ...domain.messages import PauseRun

    _tell(session, PauseRun, **which)


@click.command("unpause", epilog=RUN_HELP)
@_which
@pass_session
def unpause(session: Session, /, **which: Any) -> None:
    """Let a paused run go on, or all that fit; one that its budget has paused needs another budget."""
    from ...domain.messages import UnpauseRun

    _tell(session, UnpauseRun, **which)


def _tell(
    session: Session,
    kind: type[PauseRun | UnpauseRun],
    *,
    run: str | None,
    every: bool,
    goal: str,
    tag: dict[str, str],
    reason: str,
) -> None:
    if (run is not None) + every + bool(goal or tag) != 1:
        raise click.UsageError("name a RUN, or say --all, or say which with --goal and --tag")
    message = kind(**sender(session), reason=reason)
    if run is not None:
        tell(session, run, message)
        return
    from ...store import RunFilter

    told = wait_for(_tell_each(session, RunFilter(active=True, text=goal, tags=tag), message))
    if session.as_json:
        say_document({"runs": told})
        return
    for run_id in told:
        say(run_id)
    if not told:
        note("No run to tell")


async def _tell_each(session: Session, filters: Any, message: Any) -> list[str]:
    from ...actors.waking import pages
    from ...actors.writer import write
    from ...domain.errors import MessageRefused

    told = []
    async with session.write() as journal:
        async for row in pages(journal, filters):
            try:
                if (await write(journal, row.run_id, message)).facts:
                    told.append(row.run_id)
            except MessageRefused as refusal:
                note(str(refusal))
    return told


@click.command("budget", epilog=RUN_HELP)
@run_argument
@click.option("--steps", type=click.IntRange(0), help="Operations its plans may begin.")
@click.option("--replans", type=click.IntRange(0), help="Requests for another plan that may be served.")
@click.option("--tokens", type=click.IntRange(0), help="Tokens of models.")
@click.option("--cost", type=click.FloatRange(0), help="Cost, in the unit its tools tell it in.")
@click.option("--wall-time", type=click.FloatRange(0), metavar="SECONDS", help="Seconds from its start.")
@click.option("--policy", metavar="NAME", default="", help="A policy of its engine.")
@click.option(
    "--then",
    type=click.Choice(("pause", "fail")),
    default="pause",
    show_default=True,
    help="What becomes of the run when this is spent.",
)
@click.option("--reason", default="", help="Recorded with it.")
@json_option
@pass_session
def budget(session: Session, /, *, run: str, wall_time: float | None, reason: str, **limits: Any) -> None:
    """Say what a run may spend from here on, in all; what is left out stays as it is.

    A run that its budget has paused, or that is stuck for want of replans, goes on.
    """
    from ...domain.budget import Budget
    from ...domain.messages import ChangeBudget

    wanted = Budget(wall_time_s=wall_time, **limits)
    tell(session, run, ChangeBudget(**sender(session), budget=wanted, reason=reason))
