"""Writing many rows at once."""

from __future__ import annotations

import sqlite3
from typing import Any

_SIZES = (256, 128, 64)
"""Numbers of rows that go in at once; fewer than the smallest go in as they are."""


class Insert:
    """A statement for many rows at once.

    ``executemany`` gives the interpreter up once a row, and beside a busy thread waits for it as often. So
    rows go in by 256, 128 and 64, and what is left all at once: few statements, which stay prepared.
    """

    def __init__(self, template: str, columns: int) -> None:
        self._template = template
        self._columns = columns
        self._row = f"({', '.join('?' * columns)})"
        self._by_size: dict[int, str] = {}

    def run(self, connection: sqlite3.Connection, values: list[Any]) -> int:
        """Insert rows given one after the other; return the rowid of the last."""
        rows, done, last = len(values) // self._columns, 0, 0
        while done < rows:
            left = rows - done
            size = next((size for size in _SIZES if size <= left), left)
            part = values[done * self._columns : (done + size) * self._columns]
            last = connection.execute(self._of_size(size), part).lastrowid or 0
            done += size
        return last

    def _of_size(self, rows: int) -> str:
        query = self._by_size.get(rows)
        if query is None:
            query = self._by_size[rows] = self._template.format(", ".join([self._row] * rows))
        return query
