"""The pack ``exec``: programs of the machine that were named beforehand, with arguments that a plan says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...domain.errors import ToolDefinitionError
from ..context import ToolContext
from ..control import ToolError
from ..tools import Tool
from .builtin import builtin, record
from .processes import run_program

_MOST_SAID = 2_000


def exec_pack(*, programs: Sequence[str], folder: str | Path = ".", timeout_s: float = 60.0) -> list[Tool]:
    """Return the tool ``builtin__exec``. No shell reads what it runs; its effect is irreversible.

    Args:
        programs: the programs that may be run, as plans have to write them; ``["*"]`` means any.
        folder: where they run.
        timeout_s: seconds one may take; then it is killed with all it has started.

    Raises:
        ToolDefinitionError: no program is named.
    """
    if isinstance(programs, str) or not programs or not all(programs):
        raise ToolDefinitionError("programs names the programs that may be run, such as ['git']")

    async def exec(  # noqa: A001 - the name of the tool
        argv: list[str], *, stdin: str = "", ok: list[int] | None = None, context: ToolContext
    ) -> Any:
        """Run a program with arguments, without a shell; return its exit code and what it wrote."""
        program = argv[0] if argv else ""
        if program not in programs and not (program and "*" in programs):
            raise ToolError(
                f"program {program!r} is not enabled; allowed are {', '.join(programs)}",
                retryable=False, no_effect=True,
            )  # fmt: skip
        ended = await run_program(argv, context, folder=Path(folder), stdin=stdin)
        out, err = (each.decode("utf-8", "replace") for each in (ended.out, ended.err))
        if ended.exit_code not in (ok or (0,)):
            said = err.strip()[-_MOST_SAID:] or "it said nothing"
            raise ToolError(f"{program} ended with exit code {ended.exit_code}: {said}")
        return {"exit_code": ended.exit_code, "stdout": out, "stderr": err}

    ended = record(exit_code="integer", stdout="string", stderr="string")
    return [builtin(exec, effect="irreversible", timeout_s=timeout_s, output_schema=ended)]
