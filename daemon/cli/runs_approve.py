"""``midcourse runs approve`` and ``deny``: what people say to steps and plans that wait for approval."""

from __future__ import annotations

import click

from .options import RUN_HELP, json_option, run_argument
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
