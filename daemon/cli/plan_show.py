"""``midcourse plan show``."""

from __future__ import annotations

import click

from .options import json_option
from .output import note, say, say_document
from .plan_options import PLAN_HELP, find_plan, folders_of, note_problems, plan_argument
from .session import Session, pass_session


@click.command("show", epilog=PLAN_HELP)
@plan_argument
@click.option("--mermaid", is_flag=True, help="Print a Mermaid flowchart.")
@json_option
@pass_session
def show(session: Session, /, *, named: str, mermaid: bool) -> int:
    """Show a plan: as a tree, with --mermaid as a flowchart, with --json as the document of its file.

    The document has its fields in order and in the written spelling. Exit code 1 if the plan has problems of
    form, which `midcourse plan validate` explains too.
    """
    from ...domain.plan_file import written
    from .render_plan import mermaid_lines, tree_lines

    loaded = find_plan(folders_of(session), named)
    if loaded.plan is None:
        note_problems(loaded.problems)
        note(f"Error: {loaded.path} holds no plan that can be shown")
        return 1
    if session.as_json:
        say_document(written(loaded.plan))
        return 0
    for line in mermaid_lines(loaded.plan) if mermaid else tree_lines(loaded.plan):
        say(line)
    return 0
