"""Reading JSON with the place of each value, duplicate keys refused."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import Any, Final

from ...domain.finite import not_finite
from ...domain.problems import Problem
from .marks import MAX_LEVELS, TOO_DEEP, Document, Located, Mark

_TOKEN: Final = re.compile(r'[{}\[\]]|"(?:[^"\\]|\\.)*"|[^\s,:{}\[\]"]+')
_OPENING: Final = ("{", "[")
_CLOSING: Final = ("}", "]")


def read_json(text: str, file: str) -> Document:
    """Return the JSON values in a text, with everything that keeps them from being any."""

    def refuse(problem: str, line: int, column: int) -> Document:
        return Document(None, Mark(1, 1), [Located(Problem(problem), file, line, column)])

    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        return refuse(f"is not JSON: {error.msg}", error.lineno, error.colno)
    except (ValueError, RecursionError) as error:
        return refuse(f"is not JSON: {error}", 1, 1)
    marker = _marks(text)
    if marker.deepest > MAX_LEVELS:
        return refuse(TOO_DEEP, 1, 1)
    if found := not_finite(value):
        return refuse(f"is not JSON: {found}", 1, 1)
    problems = [
        Located(Problem(f"the key {key!r} is there twice; write it once"), file, place.line, place.column)
        for key, place in marker.twice
    ]
    return Document(None if problems else value, marker.top, problems)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number that JSON can carry")


class _Marker:
    """Walks through the tokens of a text that is known to be JSON.

    Attributes:
        top: the place of the document.
        twice: keys that are there twice.
        deepest: how many levels it has.
    """

    def __init__(self, text: str) -> None:
        self.top = Mark(1, 1)
        self.twice: list[tuple[str, Mark]] = []
        self.deepest = 0
        self._lines = [0, *(match.end() for match in re.finditer(r"\n", text))]
        self._open: list[tuple[Mark, dict[str | int, Mark], bool]] = []
        self._key: tuple[str, Mark] | None = None

    def take(self, word: str, offset: int) -> None:
        """Take the next token up: a bracket, a text, or another value."""
        if word in _CLOSING:
            self._open.pop()
            return
        line = bisect_right(self._lines, offset)
        column = offset - self._lines[line - 1] + 1
        inner: dict[str | int, Mark] | None = {} if word in _OPENING else None
        if self._open and self._open[-1][2] and self._key is None:
            self._take_key(json.loads(word), Mark(line, column))
            return
        mark = self._put(Mark(line, column, inner))
        if inner is not None:
            self._open.append((mark, inner, word == "{"))
            self.deepest = max(self.deepest, len(self._open))

    def _take_key(self, key: str, mark: Mark) -> None:
        self._key = key, mark
        if key in self._open[-1][1]:
            self.twice.append(self._key)

    def _put(self, mark: Mark) -> Mark:
        if not self._open:
            self.top = mark
        elif self._key is None:
            inner = self._open[-1][1]
            inner[len(inner)] = mark
        else:
            name, place = self._key
            mark = self._open[-1][1][name] = Mark(place.line, place.column, mark.inner)
            self._key = None
        return mark


def _marks(text: str) -> _Marker:
    marker = _Marker(text)
    for match in _TOKEN.finditer(text):
        marker.take(match[0], match.start())
    return marker
