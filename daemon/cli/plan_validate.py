"""``midcourse plan validate`` and ``midcourse plan schema``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .options import json_option
from .output import note, paint, say, say_document
from .plan_options import PLAN_HELP, find_plan, folders_of, has_errors
from .session import Session, pass_session

if TYPE_CHECKING:
    from ..plans.files import LoadedPlan
    from ..plans.marks import Located


@click.command("validate", epilog=PLAN_HELP)
@click.argument("named", metavar="[PLAN]...", nargs=-1)
@json_option
@pass_session
def validate(session: Session, /, *, named: tuple[str, ...]) -> int:
    """Check plans: those named, or all in the plan folders.

    First the form of each: fields, ids, templates, expressions, what refers to what. If that is right,
    whether the tools, plans and servers it calls are there, and whether it gives tools the arguments they
    take. All problems of a stage are printed, with file, line and column. Where the store holds results of
    the tools, templates that fit none of them are warned of.

    Exit code 0 if all can be used, 1 if not. Warnings and notes do not count.
    """
    from ..parts import load_parts
    from .shapes import shapes_in

    folders = folders_of(session)
    plans = [find_plan(folders, each) for each in named] if named else folders.files
    with load_parts(session.config) as parts:
        shapes = shapes_in(session)
        checked = [(plan, plan.checked(folders.around(plan, parts.catalog, shapes))) for plan in plans]
    if session.as_json:
        say_document({"plans": [_value(plan, problems) for plan, problems in checked]})
    else:
        for plan, problems in checked:
            _show(plan, problems)
    if not checked:
        note(f"No plan files in {', '.join(map(str, folders.folders))}")
    return 1 if any(has_errors(problems) for _, problems in checked) else 0


def _value(plan: LoadedPlan, problems: list[Located]) -> dict[str, Any]:
    return {
        "file": str(plan.path),
        "identifier": plan.identifier,
        "valid": not has_errors(problems),
        "problems": [each.value() for each in problems],
    }


def _show(plan: LoadedPlan, problems: list[Located]) -> None:
    for each in problems:
        say(str(each))
    errors = sum(each.problem.is_error for each in problems)
    if errors:
        say(f"{plan.path}: {paint('1 problem' if errors == 1 else f'{errors} problems', 'red')}")
    else:
        say(f"{plan.path}: {paint('valid', 'green')}")
    if plan.plan is not None and (missing := plan.plan.unsupported()):
        note(f"{plan.path}: it cannot run yet; this version does not carry out {', '.join(missing)}")


@click.command("schema")
def schema() -> None:
    """Print the JSON Schema of plan files, for editors.

    It knows the fields and their types. What it cannot know, such as what templates refer to, is found by
    midcourse plan validate.
    """
    from ...domain.plan_file import plan_file_schema

    say_document(plan_file_schema())
