"""Which paths the templates of a value read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .paths import Path
from .sections import Anchored, Part, Section, Text
from .syntax import parse


def paths_in(value: Any, where: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Path]]:
    """Return every path from a root that a value has to have, each with the place of its text.

    Where a section shows only if a path leads somewhere, neither that path nor those through it are among
    them.

    Args:
        value: a JSON value whose templates have no syntax errors.
        where: the place of the value.
    """
    if isinstance(value, str):
        if "{{" in value:
            node = parse(value).node
            paths = [node] if isinstance(node, Path) else _paths(node)
            yield from ((where, path) for path in paths)
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from paths_in(each, (*where, key))
    elif isinstance(value, (list, tuple)):
        for index, each in enumerate(value):
            yield from paths_in(each, (*where, index))


def _paths(text: Text) -> Iterator[Path]:
    pending: list[tuple[tuple[Part, ...], tuple[str, ...]]] = [(text.parts, ())]
    while pending:
        parts, guards = pending.pop()
        for part in parts:
            if isinstance(part, Section):
                is_guard = isinstance(part.subject, Anchored)
                pending.append((part.body, (*guards, part.name) if is_guard else guards))
            elif isinstance(part, Anchored) and not any(
                part.path.text == guard or part.path.text.startswith(f"{guard}.") for guard in guards
            ):
                yield part.path
