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

import asyncio
import contextlib
import inspect
import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from ..actors.context import ToolContext
from ..actors.control import ToolError
from ..actors.tools import Tool, tool
from ..domain.errors import ToolDefinitionError
from ..domain.templates import compile_value, references, render, syntax_errors
from ..domain.tools import Effect, RetryPolicy

_TYPES: Mapping[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list[Any],
    "object": dict[str, Any],
}
_PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR")
"""The variables of this process that commands see; ``env`` adds others."""
_MOST_BYTES = 10_000_000
_MOST_SAID = 2_000


class Argument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An argument of a command.

    Args:
        type: its JSON type.
        default: its value where it is left out; without one it is required.
    """

    type: Literal["string", "integer", "number", "boolean", "array", "object"]
    default: Any = msgspec.UNSET


class Command(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A command as the configuration has it.

    Args:
        argv: the program and its arguments, each a template over ``args``.
        args: its arguments by name: a type, or a type and a default.
        stdin: what it reads; a template.
        cwd: where it runs; a relative path begins at the folder of the configuration.
        env: variables it sees besides the usual few; those of this process have no value here (``""``).
        output: what its standard output is: ``text``, ``lines`` or ``json``.
        ok: exit codes that mean success.
        description: what it does, for planners and people.
        effect: ``read``, ``reversible`` (with ``undo``) or ``irreversible``.
        undo: the tool that takes it back.
        identity: names of the arguments that make two calls the same operation.
        idempotent: a repeat with the same operation key has no second effect.
        retry: how often and how patiently it is tried again.
        timeout_s: seconds one attempt may take.
    """

    argv: tuple[str, ...]
    args: Mapping[str, str | Argument] = msgspec.field(default_factory=dict)
    stdin: str = ""
    cwd: str = "."
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    output: Literal["text", "lines", "json"] = "text"
    ok: tuple[int, ...] = (0,)
    description: str = ""
    effect: Effect = "irreversible"
    undo: str = ""
    identity: tuple[str, ...] | None = None
    idempotent: bool = False
    retry: RetryPolicy = RetryPolicy()
    timeout_s: float | None = 60.0


def command_tool(name: str, command: Command, folder: Path) -> Tool:
    """Return the tool that a command is.

    Args:
        name: its name, without prefix.
        command: the command.
        folder: the folder of the configuration.

    Raises:
        ToolDefinitionError: it cannot work; the text says why.
    """
    arguments = {key: _argument(name, key, each) for key, each in command.args.items()}
    _check(name, command, arguments)
    defaults = {key: each.default for key, each in arguments.items() if each.default is not msgspec.UNSET}

    async def call(**values: Any) -> Any:
        context: ToolContext = values.pop("context")
        return await _run(command, folder, {**defaults, **values}, context)

    call.__signature__ = _signature(arguments)  # type: ignore[attr-defined]  # what the tool's schema is made of
    call.__annotations__ = {each.name: each.annotation for each in _signature(arguments).parameters.values()}
    make = tool(
        effect=command.effect, undo=command.undo, identity=command.identity, idempotent=command.idempotent,
        retry=command.retry, timeout_s=command.timeout_s, name=name,
        description=command.description or f"Runs {command.argv[0]}.",
    )  # fmt: skip
    return make(call)


def _argument(tool_name: str, name: str, declared: str | Argument) -> Argument:
    if isinstance(declared, Argument):
        return declared
    if declared not in _TYPES:
        raise ToolDefinitionError(
            f"tool {tool_name!r}: args.{name} is {declared!r}; it is one of {', '.join(_TYPES)}"
        )
    return Argument(declared)  # type: ignore[arg-type]  # it is one of them


def _check(name: str, command: Command, arguments: Mapping[str, Argument]) -> None:
    if not command.argv or not command.argv[0]:
        raise ToolDefinitionError(f"tool {name!r}: argv needs a program, such as ['git', 'log']")
    for text in (*command.argv, command.stdin):
        errors = syntax_errors(text)
        if errors:
            raise ToolDefinitionError(f"tool {name!r}: {text!r}: {errors[0]}")
        for root in references(compile_value(text)) - arguments.keys():
            known = ", ".join(arguments) or "none"
            problem = f"{text!r} reads {root!r}, which is not in args ({known})"
            raise ToolDefinitionError(f"tool {name!r}: {problem}")


def _signature(arguments: Mapping[str, Argument]) -> inspect.Signature:
    kind = inspect.Parameter.KEYWORD_ONLY
    named = [
        inspect.Parameter(
            name, kind, annotation=_TYPES[each.type],
            default=inspect.Parameter.empty if each.default is msgspec.UNSET else each.default,
        )
        for name, each in arguments.items()
    ]  # fmt: skip
    return inspect.Signature([*named, inspect.Parameter("context", kind, annotation=ToolContext)])


async def _run(command: Command, folder: Path, values: Mapping[str, Any], context: ToolContext) -> Any:
    argv = [_text(each, values) for each in command.argv]
    try:
        process = await asyncio.create_subprocess_exec(
            *argv, cwd=folder / command.cwd, env=_environment(command, context), start_new_session=True,
            stdin=asyncio.subprocess.PIPE if command.stdin else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
    except OSError as error:
        problem = f"{argv[0]!r} cannot be run in {folder / command.cwd}: {error.strerror}"
        raise ToolError(problem, retryable=False, no_effect=True) from error
    try:
        out, err = await process.communicate(_text(command.stdin, values).encode() if command.stdin else None)
    except BaseException:
        await _kill(process)
        raise
    if process.returncode not in command.ok:
        said = err.decode("utf-8", "replace").strip()[-_MOST_SAID:] or "it said nothing"
        raise ToolError(f"{argv[0]} ended with exit code {process.returncode}: {said}")
    return _read(command, argv[0], out)


def _text(template: str, values: Mapping[str, Any]) -> str:
    compiled = compile_value(template)
    value = template if compiled is template else render(compiled, values)
    return value if isinstance(value, str) else json.dumps(value)


def _environment(command: Command, context: ToolContext) -> dict[str, str]:
    ours = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    for name, value in command.env.items():
        ours[name] = value or os.environ.get(name, "")
    return {**ours, "MIDCOURSE_OPERATION": context.operation, "MIDCOURSE_ATTEMPT": str(context.attempt)}


async def _kill(process: asyncio.subprocess.Process) -> None:
    """End a command and all that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _read(command: Command, program: str, out: bytes) -> Any:
    if len(out) > _MOST_BYTES:
        raise ToolError(f"{program} wrote {len(out)} bytes; {_MOST_BYTES} are the most", retryable=False)
    if command.output == "json":
        try:
            return json.loads(out)
        except ValueError as error:
            raise ToolError(f"{program} was to write JSON: {error}", retryable=False) from error
    text = out.decode("utf-8", "replace")
    return text.splitlines() if command.output == "lines" else text
