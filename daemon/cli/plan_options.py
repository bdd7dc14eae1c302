"""What the commands about plan files share: the plan they name, its folders, the problems they print."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .options import JsonValue
from .output import note
from .session import Session

if TYPE_CHECKING:
    from ..plans.files import LoadedPlan
    from ..plans.folders import PlanFolders
    from ..plans.marks import Located

F = TypeVar("F", bound=Callable[..., Any])

PLAN_HELP = "PLAN is the identifier of a plan in the plan folders, or a file."


def plan_argument(function: F) -> F:
    """The plan a command is about."""
    return click.argument("named", metavar="PLAN")(function)


def inputs_options(function: F) -> F:
    """The inputs of a plan, in all their forms."""
    pairs = click.option(
        "--input", "-i", "pairs", metavar="NAME=VALUE", multiple=True,
        help="One input, over those of the document. A VALUE that is JSON is read as JSON.",
    )  # fmt: skip
    return click.argument("inputs", metavar="[JSON|@FILE|-]", type=JsonValue(), required=False)(
        pairs(function)
    )


def folders_of(session: Session) -> PlanFolders:
    """Return the plan folders of the configuration."""
    from ..plans.folders import PlanFolders

    return PlanFolders([Path(folder) for folder in session.config.plan_folders])


def find_plan(folders: PlanFolders, named: str) -> LoadedPlan:
    """Return the plan of an argument."""
    from ..errors import PlanFileError

    try:
        return folders.find(named)
    except PlanFileError as error:
        raise click.BadParameter(str(error), param_hint="PLAN") from error


def note_problems(problems: Iterable[Located]) -> None:
    """Print problems, a line each, where messages go."""
    for each in problems:
        note(str(each))


def has_errors(problems: Iterable[Located]) -> bool:
    """Whether one of the problems keeps a plan from being used."""
    return any(each.problem.is_error for each in problems)
