"""The debugger: what a person does at a step that the run is held at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from ...domain.errors import MessageRefused
from ...domain.scopes import render_in, scope_of
from ...domain.templates import TemplateError, compile_value, render
from .output import note

if TYPE_CHECKING:
    from ...actors.handle import RunHandle
    from ...domain.run import Run
    from .lines import Lines

COMMANDS: Mapping[str, str] = {
    "proceed": "let the step begin; after a failure: let the failure stand",
    "skip": "skip JSON: do not call it, and give it this result",
    "replace": "replace JSON: put this result in the place of its failure",
    "input": "show its arguments",
    "scope": "scope [PATH]: show what its templates see: input, board, results",
    "break": "break STEP: hold the run before another step, too",
    "continue": "proceed, and hold the run nowhere any more",
    "abort": "abort [REASON]: cancel the run; what can be undone is undone",
    "quit": "leave the run held as it is",
    "help": "this list",
}


class Debugger:
    """Reads commands until the run goes on.

    Args:
        lines: where they come from.
        by: who gives them.
        echo: show commands as they are read, which no terminal has done.
    """

    def __init__(self, lines: Lines, *, by: str, echo: bool) -> None:
        self._lines = lines
        self._by = by
        self._echo = echo
        self._is_new = True

    async def stop(self, handle: RunHandle, run: Run, step: str) -> bool:
        """Do what the person says at a step that the run is held at; return whether it may go on."""
        _show(run, step)
        if self._is_new:
            note("(help lists the commands)")
            self._is_new = False
        while True:
            note("debug>")
            line = await self._lines.read()
            if line is None:
                return False
            if self._echo:
                note(f"  {line.strip()}")
            word, _, rest = line.strip().partition(" ")
            command = _command(word)
            if command == "quit":
                return False
            if command and await self._do(command, rest.strip(), handle, run, step):
                return True

    async def _do(self, command: str, rest: str, handle: RunHandle, run: Run, step: str) -> bool:
        """Carry a command out, and return whether the run goes on."""
        try:
            if command in ("skip", "replace"):
                return await self._inject(command, rest, handle, run, step)
            if command in ("proceed", "continue"):
                if command == "continue":
                    await handle.break_at(by=self._by)
                await handle.release(step, by=self._by)
                return True
            if command == "abort":
                await handle.cancel(rest or "aborted in the debugger", by=self._by)
                return True
            if command == "break":
                await self._break(rest, handle, run)
        except MessageRefused as refused:
            note(f"Not taken: {refused}")
            return True
        if command == "input":
            _show_value(lambda: render_in(run, step, run.steps[step].input))
        elif command == "scope":
            _show_scope(run, step, rest)
        elif command == "help":
            for name, about in COMMANDS.items():
                note(f"  {name:<10}{about}")
        return False

    async def _inject(self, command: str, rest: str, handle: RunHandle, run: Run, step: str) -> bool:
        other = "replace" if command == "skip" else "skip"
        if (run.stops[step] is None) is not (command == "skip"):
            why = "was not begun" if command == "replace" else "has failed already"
            note(f"Step {step} {why}; say {other} JSON")
            return False
        try:
            result = msgspec.json.decode(rest) if rest else None
        except msgspec.DecodeError as error:
            note(f"{rest!r} is not JSON: {error}; a text needs its quotes")
            return False
        await handle.inject(step, result, by=self._by)
        return True

    async def _break(self, step: str, handle: RunHandle, run: Run) -> None:
        if not step:
            note("break needs a step: an id, a path, or a glob of them")
            return
        now = run.breakpoints
        await handle.break_at(
            *(now.steps if now else ()), step, on_error=bool(now and now.on_error), by=self._by
        )
        note(f"Held before {step}, too")


def _command(word: str) -> str:
    """Return the command that a word means: its name, or the beginning of just one."""
    if not word:
        return ""
    found = [name for name in COMMANDS if name.startswith(word)]
    if word in found or len(found) == 1:
        return word if word in found else found[0]
    note(
        f"{word!r} is {'one of several commands' if found else 'no command'}: {', '.join(found or COMMANDS)}"
    )
    return ""


def _show(run: Run, step: str) -> None:
    failure = run.stops[step]
    tool = run.steps[step].tool_name
    note("")
    if failure is None:
        note(f"Held before step {step}: {tool}")
        _show_value(lambda: render_in(run, step, run.steps[step].input))
    else:
        note(f"Held after step {step} failed: {tool}")
        note(f"  {failure.message}")


def _show_scope(run: Run, step: str, path: str) -> None:
    if path:
        _show_value(lambda: render(compile_value("{{" + path + "}}"), scope_of(run, step)))
        return
    scope = scope_of(run, step)
    for root in dict.fromkeys(("input", "board", *scope)):
        note(f"  {root} = {_json(scope[root])}")


def _show_value(value: Any) -> None:
    try:
        note(f"  {_json(value())}")
    except TemplateError as error:
        note(f"  {error}")


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
