"""``midcourse plan``: plans as files."""

from __future__ import annotations

import click

from .lazy import Lazy, LazyGroup

_COMMANDS = {
    "list": Lazy("plan_list:list_plans", "List the plans in the plan folders."),
    "show": Lazy("plan_show:show", "Show a plan: as a tree, as Mermaid, as JSON."),
    "validate": Lazy("plan_validate:validate", "Check plans, and say everything that is wrong."),
    "dry-run": Lazy("plan_dry_run:dry_run", "Show what a plan would do, without doing it."),
    "run": Lazy("plan_run:run", "Run a plan, and print its result."),
    "new": Lazy("plan_edit:new", "Write a new plan file."),
    "set": Lazy("plan_edit:set_field", "Set a field of a plan."),
    "step": Lazy("plan_step:step", "Add, change, rename and remove steps."),
    "schema": Lazy("plan_validate:schema", "Print the JSON Schema of plan files."),
}


@click.group(cls=LazyGroup, commands=_COMMANDS)
def plan() -> None:
    """Write, check and run plans as files.

    Plan files are looked for in the folders that `folders` under [plans] in the configuration names, by
    default in plans/.
    """
