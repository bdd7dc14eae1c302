"""Copies of JSON values, for those outside who may do with them what they like."""

from __future__ import annotations

from typing import Any


def copied(value: Any) -> Any:
    """Return a JSON value that shares no object and no array with the given one.

    It does not recurse, so a value may be as deep as it was let in.
    """
    root = [value]
    todo: list[Any] = [root]
    while todo:
        container = todo.pop()
        for place, inner in container.items() if type(container) is dict else enumerate(container):
            if isinstance(inner, dict):
                container[place] = dict(inner)
            elif isinstance(inner, (list, tuple)):
                container[place] = list(inner)
            else:
                continue
            todo.append(container[place])
    return root[0]
