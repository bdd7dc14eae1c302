"""``midcourse runs release``: a run that is held at a step goes on."""

from __future__ import annotations

from typing import Any

import click

from .options import RUN_HELP, JsonValue, json_option, run_argument
from .runs_steer import sender, tell
from .session import Session, pass_session


@click.command("release", epilog=RUN_HELP)
@run_argument
@click.argument("step")
@click.option(
    "--result", metavar="JSON|@FILE|-", type=JsonValue(),
    help="Its result, in the place of a call or of its failure.",
)  # fmt: skip
@click.option("--reason", default="", help="Why it is given that result.")
@json_option
@pass_session
def release(session: Session, /, *, run: str, step: str, result: Any, reason: str) -> None:
    """Let a STEP begin that a run is held at, or the failure of one stand.

    With --result it has that result instead, JSON null included; the facts say who gave it.
    """
    from ...domain.messages import InjectResult, ReleaseStep

    given = click.get_current_context().get_parameter_source("result")
    if given is click.core.ParameterSource.DEFAULT:
        if reason:
            raise click.UsageError("--reason goes with --result")
        tell(session, run, ReleaseStep(**sender(session), step=step))
    else:
        tell(session, run, InjectResult(**sender(session), step=step, result=result, reason=reason))
