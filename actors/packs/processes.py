"""Programs of the machine, run without a shell and ended with all that they have started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..context import ToolContext
from ..control import ToolError

_PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR")
"""The variables of this process that programs see."""
_MOST_BYTES = 10_000_000


class Ended(NamedTuple):
    """A program that has ended.

    Attributes:
        exit_code: its exit code; below 0 the number of the signal that ended it.
        out: what it wrote to standard output.
        err: what it wrote to standard error.
    """

    exit_code: int
    out: bytes
    err: bytes


async def run_program(
    argv: Sequence[str],
    context: ToolContext,
    *,
    folder: Path,
    stdin: str = "",
    env: Mapping[str, str] | None = None,
) -> Ended:
    """Run a program to its end; it finds the operation key in ``MIDCOURSE_OPERATION``.

    Args:
        argv: the program and its arguments.
        context: of the attempt.
        folder: where it runs.
        stdin: what it reads.
        env: variables it sees besides the usual few.

    Raises:
        ToolError: it cannot be run, which has no effect; or it wrote too much.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *argv, cwd=folder, env=_environment(env or {}, context), start_new_session=True,
            stdin=asyncio.subprocess.PIPE if stdin else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
    except (OSError, ValueError) as error:  # a value error: an argument holds a null byte
        why = error.strerror if isinstance(error, OSError) else error
        problem = f"{argv[0]!r} cannot be run in {folder}: {why}"
        raise ToolError(problem, retryable=False, no_effect=True) from error
    try:
        out, err = await process.communicate(stdin.encode() if stdin else None)
    except BaseException:
        await _kill(process)
        raise
    if len(out) > _MOST_BYTES:
        raise ToolError(f"{argv[0]} wrote {len(out)} bytes; {_MOST_BYTES} are the most", retryable=False)
    return Ended(process.returncode or 0, out, err)


def _environment(env: Mapping[str, str], context: ToolContext) -> dict[str, str]:
    ours = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {
        **ours, **env, "MIDCOURSE_OPERATION": context.operation, "MIDCOURSE_ATTEMPT": str(context.attempt)
    }  # fmt: skip


async def _kill(process: asyncio.subprocess.Process) -> None:
    """End a program and all that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
