"""``midcourse runs approve``, ``deny``, ``answer``, ``review``: what people say to what waits for them."""

from __future__ import annotations

from typing import Any

import click

from .options import RUN_HELP, JsonValue, json_option, run_argument
from .runs_steer import sender, tell
from .session import Session, pass_session


@click.command("approve", epilog=RUN_HELP)
@run_argument
@click.argument("subject")
@json_option
@pass_session
def approve(session: Session, /, *, run: str, subject: str) -> None:
    """Approve of what waits for it in a run: a step with its arguments, or a plan.

    SUBJECT is what `midcourse runs show` and `midcourse runs list --attention` call it. It means what they
    show and nothing else: if that has changed meanwhile, it is asked for again under another name.
    """
    from ...domain.messages import ApproveSubject

    tell(session, run, ApproveSubject(**sender(session), subject=subject))


@click.command("deny", epilog=RUN_HELP)
@run_argument
@click.argument("subject")
@click.option("--reason", default="", help="Why; a planner is told.")
@json_option
@pass_session
def deny(session: Session, /, *, run: str, subject: str, reason: str) -> None:
    """Deny a step or a plan the approval it waits for.

    A step then ends as its plan says (when_unapproved), and fails if that says nothing. A plan goes back to
    its planner with the reason.
    """
    from ...domain.messages import DenySubject

    tell(session, run, DenySubject(**sender(session), subject=subject, reason=reason))


@click.command("answer", epilog=RUN_HELP)
@run_argument
@click.argument("step")
@click.argument("value", type=JsonValue(), metavar="[JSON|@FILE|-]", required=False)
@click.option("--decline", is_flag=True, help="There is no answer: the step ends as its plan says.")
@json_option
@pass_session
def answer(session: Session, /, *, run: str, step: str, value: Any, decline: bool) -> None:
    """Answer what a STEP asks, with a JSON object: as given, from a file, or from standard input."""
    from ...domain.messages import AnswerQuestion

    if decline is (value is not None):
        raise click.UsageError("give an answer, or say --decline")
    tell(session, run, AnswerQuestion(**sender(session), step=step, value=value, decline=decline))


@click.command("review", epilog=RUN_HELP)
@run_argument
@click.argument("step")
@click.argument("verdict", type=click.Choice(("ok", "step", "plan", "continue", "reset", "stop")))
@click.option("--reason", default="", help="Why; a planner is told.")
@json_option
@pass_session
def review(session: Session, /, *, run: str, step: str, verdict: str, reason: str) -> None:
    """Say what you find of a STEP that waits for a person's review: ok, step (do it again) or plan.

    Where its review does not come to an end by itself: continue with it, reset it to begin its review anew
    (it is done again, or its reviewer, who could not be asked, is asked again), or stop the run.
    """
    from ...domain.messages import DecideReview

    tell(session, run, DecideReview(**sender(session), step=step, verdict=verdict, reason=reason))
