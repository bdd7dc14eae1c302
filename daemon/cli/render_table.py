"""Rows in columns: as wide as they are in a file, fitted to a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .output import paint
from .wrapping import wrap

_GAP = "  "
_NARROWEST = 16
"""Columns the last cells need for words."""


class Cell(NamedTuple):
    """A text and its style.

    Args:
        text: what it says.
        style: see :func:`paint`.
    """

    text: str
    style: str = ""


def table(
    rows: Sequence[Sequence[str | Cell]],
    *,
    headers: Sequence[str] = (),
    indent: str = "",
    width: int = 0,
    optional: Sequence[int] = (),
) -> list[str]:
    """Return lines in which the cells of a column begin at the same place.

    Args:
        rows: the cells, as many in each row.
        headers: names of the columns, if they have any.
        indent: what each line begins with.
        width: columns there are; 0 for any number. The last cell of a row is wrapped below itself.
        optional: columns to leave out where there is no room, the least needed first.
    """
    head = [[Cell(name, "bold") for name in headers]] if headers else []
    cells = head + [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    if not cells:
        return []
    widths = [max(len(row[column].text) for row in cells) for column in range(len(cells[0]))]
    shown = _shown(widths, len(indent), width, optional)
    margin = _last_at(shown, widths, len(indent))
    lines = (_line([row[column] for column in shown], [widths[column] for column in shown]) for row in cells)
    return [wrap(indent + line, width, hang=margin) for line in lines]


def _shown(widths: Sequence[int], indent: int, width: int, optional: Sequence[int]) -> list[int]:
    shown = list(range(len(widths)))
    for column in optional:
        if not width or width - _last_at(shown, widths, indent) >= min(_NARROWEST, widths[-1]):
            break
        shown.remove(column)
    return shown


def _last_at(shown: Sequence[int], widths: Sequence[int], indent: int) -> int:
    """Return where the last column begins."""
    return indent + sum(widths[column] + len(_GAP) for column in shown[:-1])


def _line(row: Sequence[Cell], widths: Sequence[int]) -> str:
    last = max((column for column, cell in enumerate(row) if cell.text), default=0)
    parts = [
        paint(cell.text, cell.style) + " " * (width - len(cell.text))
        for cell, width in zip(row, widths, strict=True)
    ]
    return _GAP.join([*parts[:last], paint(*row[last])])
