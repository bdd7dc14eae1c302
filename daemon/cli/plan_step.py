"""``midcourse plan step``: changing the steps of a plan file."""

from __future__ import annotations

from typing import Any

import click

from .lazy import Lazy, LazyGroup
from .options import JsonValue, json_option
from .plan_edit import change
from .plan_options import PLAN_HELP, plan_argument
from .session import Session, pass_session

_COMMANDS = {
    "add": Lazy("plan_step:add", "Add a step."),
    "update": Lazy("plan_step:update", "Set fields of a step."),
    "rename": Lazy("plan_step:rename", "Rename a step, and what refers to it."),
    "rm": Lazy("plan_step:remove", "Remove a step."),
}


@click.group("step", cls=LazyGroup, commands=_COMMANDS)
def step() -> None:
    """Add, change, rename and remove steps of a plan file.

    A change is refused if it introduces problems; problems that were there before do not hold it up. The
    file is written anew, in the order and spelling of the plan language; comments are not kept.
    """


@click.command("add", epilog=PLAN_HELP)
@plan_argument
@click.argument("value", metavar="STEP", type=JsonValue())
@click.option("--before", metavar="ID", default="", help="Put it before this step.")
@click.option("--after", metavar="ID", default="", help="Put it after this step. Default: at the end.")
@json_option
@pass_session
def add(session: Session, /, *, named: str, value: Any, before: str, after: str) -> int:
    """Add a STEP, as JSON, @FILE or -: {"id": …, "tool_name": …, "input": {…}}."""
    from ...domain.plan_file.editing import with_step

    if before and after:
        raise click.UsageError("say --before or --after, not both")
    return change(
        session, named, lambda document: with_step(document, _object(value), before=before, after=after)
    )


@click.command("update", epilog=PLAN_HELP)
@plan_argument
@click.argument("step_id", metavar="ID")
@click.argument("changes", metavar="CHANGES", type=JsonValue())
@json_option
@pass_session
def update(session: Session, /, *, named: str, step_id: str, changes: Any) -> int:
    """Set fields of the step ID, in a body too: CHANGES is JSON, @FILE or -; null leaves a field out."""
    from ...domain.plan_file.editing import with_changed_step

    return change(session, named, lambda document: with_changed_step(document, step_id, _object(changes)))


@click.command("rename", epilog=PLAN_HELP)
@plan_argument
@click.argument("step_id", metavar="ID")
@click.argument("new", metavar="NEW")
@json_option
@pass_session
def rename(session: Session, /, *, named: str, step_id: str, new: str) -> int:
    """Rename the step ID, in a body too, and rewrite needs, templates and expressions that refer to it."""
    from ...domain.plan_file.editing import with_renamed_step

    return change(session, named, lambda document: with_renamed_step(document, step_id, new))


@click.command("rm", epilog=PLAN_HELP)
@plan_argument
@click.argument("step_id", metavar="ID")
@json_option
@pass_session
def remove(session: Session, /, *, named: str, step_id: str) -> int:
    """Remove the step ID, in a body too."""
    from ...domain.plan_file.editing import without_step

    return change(session, named, lambda document: without_step(document, step_id))


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise click.BadParameter(f"must be a JSON object, not {value!r}")
    return value
