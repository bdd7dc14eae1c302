"""``midcourse plan list``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .options import json_option
from .output import note, one_line, say, say_document, width
from .plan_options import folders_of, has_errors
from .session import Session, pass_session

if TYPE_CHECKING:
    from ...domain.tools import Catalog
    from ..plans.files import LoadedPlan
    from ..plans.folders import PlanFolders

_DESCRIPTION = 70


@click.command("list")
@json_option
@pass_session
def list_plans(session: Session, /) -> None:
    """List the plans in the plan folders, with the number of problems each has."""
    from ..parts import load_parts

    folders = folders_of(session)
    with load_parts(session.config) as parts:
        values = [_value(each, folders, parts.catalog) for each in folders.files]
    if session.as_json:
        say_document(values)
        return
    from .render_table import Cell, table

    rows = [
        [
            value["identifier"],
            Cell("ok", "green") if value["valid"] else Cell(f"{value['problems']} wrong", "red"),
            str(value["steps"]),
            value["file"],
            one_line(value["description"], _DESCRIPTION),
        ]
        for value in values
    ]
    headers = ("PLAN", "STATE", "STEPS", "FILE", "DESCRIPTION")
    for line in table(rows, headers=headers, width=width(), optional=(3, 2)) if rows else []:
        say(line)
    if not rows:
        note(f"No plan files in {', '.join(map(str, folders.folders))}; midcourse plan new writes one")


def _value(plan: LoadedPlan, folders: PlanFolders, catalog: Catalog) -> dict[str, Any]:
    problems = plan.checked(folders.around(plan, catalog))
    errors = sum(each.problem.is_error for each in problems)
    document = plan.document if isinstance(plan.document, dict) else {}
    steps = document.get("steps")
    return {
        "identifier": plan.identifier,
        "name": str(document.get("name", "")),
        "description": str(document.get("description", "")),
        "file": str(plan.path),
        "steps": len(steps) if isinstance(steps, list) else 0,
        "valid": not has_errors(problems),
        "problems": errors,
    }
