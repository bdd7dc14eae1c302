"""Long lines on a narrow terminal: broken between words, and indented where they go on."""

from __future__ import annotations

import re

_PARTS = re.compile(r"\x1b\[[0-9;]*m|[ ]+|[^ \x1b,]+,*|,+")
"""Colours, blanks, and words; compact JSON is broken behind its commas."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

_HANG = 4
_NARROWEST = 16
_COMMANDS = "midcourse "


def wrap(text: str, width: int, *, hang: int | None = None) -> str:
    """Return text whose lines fit a width; commands to copy stay whole.

    Args:
        text: lines, with or without colours.
        width: columns; 0 for any number.
        hang: columns a line goes on at; by default 4 more than it begins at.
    """
    if not width:
        return text
    return "\n".join(_wrap(line, width, hang) for line in text.split("\n"))


def _wrap(line: str, width: int, hang: int | None) -> str:
    indent = len(line) - len(line.lstrip(" "))
    if len(_COLOUR.sub("", line)) <= width or line.startswith(_COMMANDS, indent):
        return line
    margin = indent + _HANG if hang is None else hang
    margin = margin if width - margin >= _NARROWEST else indent + _HANG
    out, column, gap = [], 0, ""
    for part in _PARTS.findall(line):
        if part.startswith("\x1b"):
            out.append(gap + part)
            column, gap = column + len(gap), ""
        elif part.isspace():
            gap += part
        else:
            for piece in _pieces(part, width - margin):
                if column + len(gap) + len(piece) > width and column > margin:
                    out.append("\n" + " " * margin)
                    column, gap = margin, ""
                out.append(gap + piece)
                column, gap = column + len(gap) + len(piece), ""
    return "".join(out)


def _pieces(word: str, width: int) -> list[str]:
    """Return a word, in pieces if it is wider than a line."""
    return [word[start : start + width] for start in range(0, len(word), max(1, width))]
