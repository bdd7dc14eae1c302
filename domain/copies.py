"""Copies of JSON values, for those outside who may do with them what they like."""

from __future__ import annotations

from typing import Any, Final

SCALARS: Final = frozenset((str, int, float, bool, type(None)))
"""The types of JSON values that cannot be changed."""


def copied(value: Any) -> Any:
    """Return a JSON value that shares no object and no array with the given one.

    It does not recurse, so a value may be as deep as it was let in.
    """
    root = _shell(value)
    if root is value:
        return value
    todo: list[Any] = [root]
    while todo:
        container = todo.pop()
        for place, inner in container.items() if type(container) is dict else enumerate(container):
            if inner.__class__ in SCALARS:
                continue
            shell = _shell(inner)
            if shell is not inner:
                container[place] = shell
                todo.append(shell)
    return root


def _shell(value: Any) -> Any:
    """Return a new container with the same items, or the value itself, if it is none."""
    if isinstance(value, dict):
        return dict(value)
    return list(value) if isinstance(value, (list, tuple)) else value
