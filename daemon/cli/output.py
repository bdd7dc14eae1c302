"""What goes where: results on stdout, everything else on stderr, colours only on a terminal."""

from __future__ import annotations

import os
import sys
from typing import Any

import click


def say(text: str = "", *, at_once: bool = False) -> None:
    """Print a line of a result; ``at_once`` where somebody waits for it."""
    print(text, flush=at_once)


def note(text: str) -> None:
    """Print a line about what is going on."""
    print(text, file=sys.stderr, flush=True)


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
