"""Reading JSON with the place of each value, duplicate keys refused."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import Any, Final

from ...domain.finite import not_finite
from ...domain.problems import Problem
from .marks import Document, Located, Mark

_TOKEN: Final = re.compile(r'[{}\[\]]|"(?:[^"\\]|\\.)*"|[^\s,:{}\[\]"]+')


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
    if found := not_finite(value):
        return refuse(f"is not JSON: {found}", 1, 1)
    mark, twice = _marks(text)
    problems = [
        Located(Problem(f"the key {key!r} is there twice; write it once"), file, place.line, place.column)
        for key, place in twice
    ]
    return Document(None if problems else value, mark, problems)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number that JSON can carry")


def _marks(text: str) -> tuple[Mark, list[tuple[str, Mark]]]:
    """Return the places of a text that is known to be JSON, and the keys that are there twice."""
    lines = [0, *(match.end() for match in re.finditer(r"\n", text))]
    twice: list[tuple[str, Mark]] = []
    top = Mark(1, 1)
    stack: list[tuple[Mark, bool]] = []
    key: tuple[str, Mark] | None = None
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "}]":
            stack.pop()
            continue
        line = bisect_right(lines, match.start())
        mark = Mark(line, match.start() - lines[line - 1] + 1, {} if token in "{[" else None)
        if stack:
            owner, is_map = stack[-1]
            inner = owner.inner
            assert inner is not None  # noqa: S101 - what is open has it
            if is_map and key is None:
                key = (json.loads(token), mark)
                if key[0] in inner:
                    twice.append(key)
                continue
            if key is not None:
                mark = Mark(key[1].line, key[1].column, mark.inner)
                inner[key[0]] = mark
                key = None
            else:
                inner[len(inner)] = mark
        else:
            top = mark
        if token in "{[":
            stack.append((mark, token == "{"))
    return top, twice
