"""Groups whose commands are imported when they are run: listing them costs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple, cast

import click


class Lazy(NamedTuple):
    """A command to import when it is asked for.

    Args:
        target: ``module:attribute``, the module inside this package.
        summary: what the group's help says of it.
    """

    target: str
    summary: str


class LazyGroup(click.Group):
    """A group that knows its commands by name.

    Args:
        commands: the commands, in the order the help lists them.
        options: what a group takes.
    """

    def __init__(self, *, commands: Mapping[str, Lazy], **options: Any) -> None:
        super().__init__(**options)
        self._lazy = commands

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        """Return the names of the commands."""
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's
        """Import a command."""
        lazy = self._lazy.get(cmd_name)
        if lazy is None:
            return None
        module, _, attribute = lazy.target.partition(":")
        return cast(click.Command, getattr(import_module(f".{module}", __package__), attribute))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy.summary) for name, lazy in self._lazy.items()])
