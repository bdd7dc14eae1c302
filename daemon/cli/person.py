"""The person at the terminal, who is asked what runs ask and decides where runs are held."""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ...actors.handle import RunHandle
    from ...domain.run import Run
    from .debugger import Debugger
    from .lines import Lines
    from .session import Session


def is_at_terminal() -> bool:
    """Whether somebody can be asked: questions go to standard error, answers come from standard input."""
    return sys.stdin.isatty() and sys.stderr.isatty()


class Person:
    """Whoever sits there. Runs are looked at one at a time.

    Args:
        lines: where answers come from; ``None`` if nobody can be asked.
        debugger: where commands come from; ``None`` if nobody looks into runs.
        by: their name as an actor.
    """

    def __init__(self, lines: Lines | None, debugger: Debugger | None, *, by: str) -> None:
        self._lines = lines
        self._debugger = debugger
        self._by = by
        self._one_at_a_time = asyncio.Lock()

    async def look(self, handle: RunHandle, run: Run) -> None:
        """Ask what the run asks and decide where it is held, if that is so still.

        Args:
            handle: the run.
            run: its state, as far as its facts were read.
        """
        if not (run.questions or run.stops):
            return
        async with self._one_at_a_time:
            if (await handle.state()).version != run.version:
                return  # what came since is looked at next
            if self._debugger is not None and run.stops:
                if not await self._debugger.stop(handle, run, next(iter(run.stops))):
                    self._debugger = None
            elif self._lines is not None and run.questions:
                from .prompting import put

                await put(handle, next(iter(run.questions.values())), self._lines, by=self._by)


def person_of(session: Session, *, asks: bool, debugs: bool, commands: str | None = None) -> Person:
    """Return who is there.

    Args:
        session: the call.
        asks: questions are put to them.
        debugs: they look into the run.
        commands: a file of commands for the debugger, ``-`` for standard input, instead of the terminal.

    Raises:
        click.UsageError: the debugger has nobody to ask.
    """
    from .debugger import Debugger
    from .lines import ScriptLines, TypedLines

    typed: Lines | None = TypedLines(sys.stdin.fileno()) if is_at_terminal() else None
    debugger = None
    if debugs:
        source = typed
        if commands == "-":
            source = TypedLines(sys.stdin.fileno())
        elif commands is not None:
            source = ScriptLines(_text(commands))
        if source is None:
            raise click.UsageError(
                "breakpoints need a terminal; give the commands in a file: --debug-commands FILE"
            )
        debugger = Debugger(source, by=session.actor, echo=source is not typed)
    if typed or debugger:
        logging.getLogger("midcourse.actors").addFilter(_is_not_said_here)
    return Person(typed if asks else None, debugger, by=session.actor)


def _is_not_said_here(record: logging.LogRecord) -> bool:
    """Leave out of the log that a run waits for the person who is being asked."""
    return not str(record.msg).startswith("run %s waits for a person: ")


def _text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{path} cannot be read: {error}", param_hint="--debug-commands") from error
