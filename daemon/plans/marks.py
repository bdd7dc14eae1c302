"""Where in a file a value of its document stands."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...domain.control.fields import CAMEL_CASE
from ...domain.problems import JsonPath, Problem

MAX_LEVELS = 128
"""Levels of objects and lists a document may have, so that no stack overflows."""
TOO_DEEP = f"is nested more than {MAX_LEVELS} levels deep; flatten it"


class Mark:
    """The place of a value: of its key where it has one, else of itself.

    Args:
        line: line, from 1.
        column: column, from 1.
        inner: the places of what it holds, by key or index.
    """

    __slots__ = ("column", "inner", "line")

    def __init__(self, line: int, column: int, inner: dict[str | int, Mark] | None = None) -> None:
        self.line, self.column, self.inner = line, column, inner

    def at(self, path: JsonPath) -> Mark:
        """Return the place a path leads to, as far as it can be followed."""
        mark = self
        for key in path:
            inner = mark.inner or {}
            following = inner.get(key) or next(
                (each for name, each in inner.items() if CAMEL_CASE.get(str(name)) == key), None
            )
            if following is None:
                break
            mark = following
        return mark


class Document(NamedTuple):
    """A file as it was read.

    Args:
        value: JSON values; ``None`` also where it could not be read.
        mark: the place of the document and of everything in it.
        problems: what keeps it from being read as JSON values, each with its place.
    """

    value: Any
    mark: Mark
    problems: list[Located]


class Located(NamedTuple):
    """A problem with its place in a file.

    Args:
        problem: the problem.
        file: the file, as the user named it.
        line: line, from 1.
        column: column, from 1.
    """

    problem: Problem
    file: str
    line: int
    column: int

    def __str__(self) -> str:
        severity = "" if self.problem.is_error else f"{self.problem.severity}: "
        return f"{self.file}:{self.line}:{self.column}: {severity}{self.problem}"

    def value(self) -> dict[str, Any]:
        """Return the problem as JSON."""
        problem = self.problem
        return {
            "file": self.file, "line": self.line, "column": self.column, "path": list(problem.path),
            "step": problem.step, "severity": problem.severity, "message": problem.text,
        }  # fmt: skip


def locate(problems: list[Problem], mark: Mark, file: str) -> list[Located]:
    """Return problems with their places in a file, in the order of the file."""
    located = []
    for problem in problems:
        place = mark.at(problem.path)
        located.append(Located(problem, file, place.line, place.column))
    return sorted(located, key=lambda each: (each.line, each.column))
