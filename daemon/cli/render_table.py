"""Rows in columns, the same on a terminal and in a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .output import paint


class Cell(NamedTuple):
    """A text and its style.

    Args:
        text: what it says.
        style: see :func:`paint`.
    """

    text: str
    style: str = ""


def table(
    rows: Sequence[Sequence[str | Cell]], *, headers: Sequence[str] = (), indent: str = ""
) -> list[str]:
    """Return lines in which the cells of a column begin at the same place.

    Args:
        rows: the cells, as many in each row.
        headers: names of the columns, if they have any.
        indent: what each line begins with.
    """
    head = [[Cell(name, "bold") for name in headers]] if headers else []
    cells = head + [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    widths = [max(len(row[column].text) for row in cells) for column in range(len(cells[0]))] if cells else []
    return [indent + _line(row, widths) for row in cells]


def _line(row: Sequence[Cell], widths: Sequence[int]) -> str:
    last = max((column for column, cell in enumerate(row) if cell.text), default=0)
    parts = [
        paint(cell.text, cell.style) + " " * (width - len(cell.text))
        for cell, width in zip(row, widths, strict=True)
    ]
    return "  ".join([*parts[:last], paint(*row[last])])
