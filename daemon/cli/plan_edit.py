"""``midcourse plan new`` and ``midcourse plan set``; and how a change of a plan file is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import JsonValue, json_option
from .output import note, say, say_document
from .plan_options import PLAN_HELP, find_plan, folders_of, note_problems, plan_argument
from .session import Session, pass_session

if TYPE_CHECKING:
    from ...domain.tools import Catalog
    from ..plans.files import LoadedPlan
    from ..plans.folders import PlanFolders
    from ..plans.marks import Located

_TEXT_FIELDS = ("identifier", "name", "description")


@click.command("new")
@click.argument("identifier")
@click.option("--name", help="Its name for people. Default: the identifier.")
@click.option("--description", required=True, help="What it does, and when to use it.")
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Where to write it. Default: the first plan folder."
)
@click.option(
    "--step",
    "steps",
    metavar="JSON|@FILE|-",
    type=JsonValue(),
    multiple=True,
    help="A step; may be repeated.",
)
@click.option("--output", metavar="JSON|@FILE|-", type=JsonValue(), help="A map of templates: the result.")
@json_option
@pass_session
def new(session: Session, /, *, identifier: str, name: str | None, folder: Path | None, **fields: Any) -> int:
    """Write a new plan file, IDENTIFIER.yaml, in a plan folder.

    A plan needs a step before it can run: give one or more here, or add them with midcourse plan step add.
    Problems of the steps are printed; the file is written all the same, to be worked on. A file or a plan
    that exists is never replaced.
    """
    from ..parts import load_parts
    from ..plans.files import LoadedPlan
    from ..plans.writing import as_text, create

    folders = folders_of(session)
    if not folders.folders and folder is None:
        raise click.UsageError("the configuration names no plan folders; say --folder")
    path = (folder or folders.folders[0]) / f"{identifier}.yaml"
    document: dict[str, Any] = {
        "identifier": identifier, "name": name or identifier, "description": fields["description"],
        "steps": list(fields["steps"]),
    }  # fmt: skip
    if fields["output"] is not None:
        document["output"] = fields["output"]
    made = LoadedPlan(path, as_text(document, path).encode())
    if any(each.problem.path == ("identifier",) for each in made.problems):
        note_problems(each for each in made.problems if each.problem.path == ("identifier",))
        return 1
    _check_free(folders, identifier, None)
    create(path, document)
    with load_parts(session.config) as parts:
        note_problems(made.checked(folders.around(made, parts.catalog)))
    _report(session, path, identifier)
    return 0


@click.command("set", epilog=PLAN_HELP)
@plan_argument
@click.argument("field")
@click.argument("value", required=False)
@click.option("--unset", is_flag=True, help="Leave the field out.")
@json_option
@pass_session
def set_field(session: Session, /, *, named: str, field: str, value: str | None, unset: bool) -> int:
    """Set a FIELD of a plan, such as description, input_schema or output.

    VALUE is JSON, @FILE or -; for identifier, name and description it is the text itself.
    """
    from ...domain.plan_file.editing import with_field

    if unset == (value is not None):
        raise click.UsageError("give a VALUE, or --unset")
    read: Any = value
    if value is not None and field not in _TEXT_FIELDS:
        read = JsonValue().convert(value, None, None)
    return change(session, named, lambda document: with_field(document, field, read))


def change(session: Session, named: str, edit: Callable[[Any], dict[str, Any]]) -> int:
    """Change a plan file, unless the change introduces problems that were not there before.

    Args:
        session: the call.
        named: the plan.
        edit: returns the changed document of the file.
    """
    from ..parts import load_parts
    from ..plans.files import LoadedPlan
    from ..plans.writing import as_text, replace

    folders = folders_of(session)
    before = find_plan(folders, named)
    if not isinstance(before.document, dict):
        note_problems(before.problems)
        note(f"Error: {before.path} cannot be read as a plan, so it cannot be changed")
        return 1
    document = edit(before.document)
    after = LoadedPlan(before.path, as_text(document, before.path).encode())
    with load_parts(session.config) as parts:
        introduced = _introduced(before, after, folders, parts.catalog)
    if introduced:
        note_problems(introduced)
        note(f"Error: the change would introduce {_count(introduced)}; {before.path} is as it was")
        return 1
    if after.identifier != before.identifier:
        _check_free(folders, after.identifier, before.path)
    replace(before.path, document, read=before.content)
    if before.has_comments:
        note(f"The comments of {before.path} are not kept")
    _report(session, before.path, after.identifier)
    return 0


def _introduced(
    before: LoadedPlan, after: LoadedPlan, folders: PlanFolders, catalog: Catalog
) -> list[Located]:
    """Return the errors of a changed plan that were not there before, under whatever id of their step."""
    known = Counter(each.problem.text for each in before.checked(folders.around(before, catalog)))
    introduced = []
    for each in after.checked(folders.around(after, catalog)):
        text = each.problem.text
        if each.problem.is_error and not known[text]:
            introduced.append(each)
        known[text] -= 1
    if before.plan is None and after.plan is not None:
        return []  # its form is right now, so what is missing around it shows for the first time
    return introduced


def _check_free(folders: PlanFolders, identifier: str, own: Path | None) -> None:
    from ..errors import PlanFileError

    for each in folders.files:
        if each.identifier == identifier and each.path != own:
            raise PlanFileError(f"{each.path} has the identifier {identifier!r} already; nothing was written")


def _count(problems: list[Located]) -> str:
    return "a problem" if len(problems) == 1 else f"{len(problems)} problems"


def _report(session: Session, path: Path, identifier: str) -> None:
    if session.as_json:
        say_document({"file": str(path), "identifier": identifier})
    else:
        say(f"{path}: written")
