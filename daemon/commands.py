"""Tools that are commands: programs of the machine, declared in the configuration.

::

    [commands.log]
    argv = ["git", "log", "--format=%s", "-n", "{{limit}}", "{{ref}}"]
    args = { ref = "string", limit = { type = "integer", default = 20 } }
    effect = "read"
    output = "lines"

Each element of ``argv`` is a template over the arguments and becomes one argument of the program: no shell
reads it. The operation key is in the variable ``MIDCOURSE_OPERATION``. A command that is stopped, by a
timeout or a cancel, is killed with all it has started; of one that is not a read nobody knows then what it
did.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from ..actors.context import ToolContext
from ..actors.control import ToolError
from ..actors.packs.processes import run_program
from ..actors.tools import Tool
from .declared import (
    Declared,
    argument_problems,
    declared_tool,
    refuse,
    rendered_text,
    template_problems,
)

_MOST_SAID = 2_000


class Command(Declared, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A command as the configuration has it; its other fields are those of `Declared`.

    Args:
        argv: the program and its arguments, each a template over ``args``.
        stdin: what it reads; a template.
        cwd: where it runs; a relative path begins at the folder of the configuration.
        env: variables it sees besides the usual few; those of this process have no value here (``""``).
        output: what its standard output is: ``text``, ``lines`` or ``json``.
        ok: exit codes that mean success.
    """

    argv: tuple[str, ...]
    stdin: str = ""
    cwd: str = "."
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    output: Literal["text", "lines", "json"] = "text"
    ok: tuple[int, ...] = (0,)


def command_tool(name: str, command: Command, folder: Path) -> Tool:
    """Return the tool that a command is.

    Args:
        name: its name, without prefix.
        command: the command.
        folder: the folder of the configuration.

    Raises:
        ToolDefinitionError: it cannot work; the text says why.
    """
    refuse(name, _problems(command))

    async def run(values: Mapping[str, Any], context: ToolContext) -> Any:
        return await _run(command, folder, values, context)

    return declared_tool(name, command, run, summary=f"Runs {command.argv[0]}.")


def _problems(command: Command) -> Iterator[str]:
    if not command.argv or not command.argv[0]:
        yield "argv needs a program, such as ['git', 'log']"
    yield from argument_problems(command.args)
    yield from template_problems((*command.argv, command.stdin), command.args)


async def _run(command: Command, folder: Path, values: Mapping[str, Any], context: ToolContext) -> Any:
    argv = [rendered_text(each, values) for each in command.argv]
    env = {name: value or os.environ.get(name, "") for name, value in command.env.items()}
    stdin = rendered_text(command.stdin, values)
    ended = await run_program(argv, context, folder=folder / command.cwd, stdin=stdin, env=env)
    if ended.exit_code not in command.ok:
        said = ended.err.decode("utf-8", "replace").strip()[-_MOST_SAID:] or "it said nothing"
        raise ToolError(f"{argv[0]} ended with exit code {ended.exit_code}: {said}")
    return _read(command, argv[0], ended.out)


def _read(command: Command, program: str, out: bytes) -> Any:
    if command.output == "json":
        try:
            return json.loads(out)
        except ValueError as error:
            raise ToolError(f"{program} was to write JSON: {error}", retryable=False) from error
    text = out.decode("utf-8", "replace")
    return text.splitlines() if command.output == "lines" else text
