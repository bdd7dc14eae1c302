"""``midcourse tools``."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, Any

import click

from .lazy import Lazy, LazyGroup
from .options import json_option
from .output import note, one_line, say, say_document, width
from .session import Session, pass_session

if TYPE_CHECKING:
    from ...domain.tools import ToolSpec

_DESCRIPTION = 70


@click.group(
    cls=LazyGroup,
    commands={
        "list": Lazy("tools:list_tools", "List the tools and what they do outside."),
        "show": Lazy("tools_show:show", "Show a tool: its contract, and what its results look like."),
        "test": Lazy("tools_test:test", "Call a tool once, and print its result."),
    },
)
def tools() -> None:
    """Show the tools of the configuration, and try them."""


@click.command("list")
@json_option
@pass_session
def list_tools(session: Session, /) -> None:
    """List the tools of the configuration: their effect, their undo, what makes two calls the same."""
    from ..parts import load_parts

    with load_parts(session.config) as parts:
        specs = sorted(parts.catalog, key=lambda spec: spec.name)
    if session.as_json:
        say_document([tool_value(spec) for spec in specs])
        return
    from .render_table import table

    headers = ("TOOL", "EFFECT", "UNDO", "IDEMPOTENT", "PROBE", "IDENTITY", "DESCRIPTION")
    names = {spec.name for spec in specs}
    rows = [_row(spec, names) for spec in specs]
    for line in table(rows, headers=headers, width=width(), optional=(5, 4, 3)) if specs else []:
        say(line)
    if not specs:
        where = session.config.file or "a file midcourse.toml here"
        note(f'No tools; name the Python modules that have them in {where}: tools = ["package.module"]')


def _row(spec: ToolSpec, names: Set[str]) -> list[str]:
    identity = "all arguments" if spec.identity is None else ", ".join(spec.identity) or "none"
    from .render_facts import bare

    repeatable, probe = ("yes" if is_so else "no" for is_so in (spec.repeatable, spec.has_probe))
    description = one_line(spec.description, _DESCRIPTION)
    name, undo = (each if bare(each) in names else bare(each) for each in (spec.name, spec.undo))
    return [name, spec.effect, undo, repeatable, probe, identity, description]


def tool_value(spec: ToolSpec) -> dict[str, Any]:
    """Return the contract of a tool for machines."""
    return {
        "name": spec.name,
        "description": spec.description,
        "effect": spec.effect,
        "undo": spec.undo,
        "idempotent": spec.idempotent,
        "probe": spec.has_probe,
        "identity": spec.identity,
        "timeout_s": spec.timeout_s,
        "heartbeat_timeout_s": spec.heartbeat_timeout_s,
        "max_attempts": spec.max_attempts,
        "cost": spec.cost,
        "input_schema": spec.input_schema,
        "output_schema": spec.output_schema,
    }
