"""What goes where: results on stdout, everything else on stderr, colours only on a terminal."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any, TextIO

import click

from .wrapping import wrap


def say(text: str = "", *, at_once: bool = False) -> None:
    """Print a line of a result, wrapped on a terminal; ``at_once`` where somebody waits for it."""
    print(wrap(text, width()), flush=at_once)


class _Notes:
    """How notes are printed by this process."""

    as_json = False


def notes_as_json() -> None:
    """Print notes as lines of JSON from here on: all that is on stderr can then be read by a program."""
    _Notes.as_json = True


def note(text: str) -> None:
    """Print a line about what is going on, wrapped on a terminal."""
    if _Notes.as_json:
        note_line({"note": text})
    else:
        print(wrap(text, width(sys.stderr)), file=sys.stderr, flush=True)


def note_line(value: Any) -> None:
    """Print a value about what is going on as a line of JSON."""
    import msgspec

    print(msgspec.json.encode(value).decode(), file=sys.stderr, flush=True)


def width(stream: TextIO | None = None) -> int:
    """Return how many columns the terminal has that shows a stream (by default standard output).

    It is 0 where none does: what goes to a file or another program is as wide as it is.
    """
    return shutil.get_terminal_size().columns if (stream or sys.stdout).isatty() else 0


def program() -> str:
    """Return how this program is called from the working folder: by its name, if a shell finds it there."""
    name = "midcourse"
    path = Path(sys.argv[0]).absolute()
    found = shutil.which(name)
    if path.name != name or (found and Path(found).absolute() == path):
        return name
    return shlex.quote(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))


def say_document(value: Any) -> None:
    """Print a value as one JSON document."""
    import msgspec

    print(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def say_line(value: Any, *, at_once: bool = False) -> None:
    """Print a value as a line of JSON; ``at_once`` where somebody waits for it."""
    import msgspec

    print(msgspec.json.encode(value).decode(), flush=at_once)


def is_live() -> bool:
    """Whether results go to a terminal that can redraw."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def paint(text: str, style: str) -> str:
    """Return text in a colour, or in ``bold`` or ``dim``, where somebody sees it."""
    if not style or not text or not is_live() or os.environ.get("NO_COLOR"):
        return text
    if style in ("bold", "dim"):
        return click.style(text, bold=style == "bold", dim=style == "dim")
    return click.style(text, fg=style)


def one_line(text: str, limit: int = 0) -> str:
    """Return text from outside as a line that moves no cursor, cut at ``limit`` characters (0: nowhere)."""
    line = " ".join(text.split())
    if not line.isprintable():
        line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    return line if not limit or len(line) <= limit else line[: limit - 1] + "…"


def short_json(value: Any, limit: int = 60) -> str:
    """Return a JSON value on one line, cut at ``limit`` characters."""
    import msgspec

    return one_line(msgspec.json.encode(value).decode(), limit)
