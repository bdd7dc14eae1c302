"""Inputs of planned steps: a tool's declared template, its references to other tools turned into step ids.

At the head of a path a template may name, beside ``input``, ``board`` and step ids,

- a tool, by full or bare name: ``{{charge.payment_id}}``. If several tools share a bare name, any of them;
- a condition that some tool sets to true: ``{{shipped.tracking}}``, whichever tool it was that shipped.

Such a head stands for the latest step of these tools before the planned one: earlier in the same tail, else
the latest standing operation of the ledger. A name that is both a tool and a condition is the tool. In a
section a bare key reads the item, so there only a path with a dot can name a tool.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..tools import Catalog, ToolSpec

RESERVED_ROOTS = frozenset({"input", "board", "item", "index", "accumulator"})

_HEAD = re.compile(r"(\{\{\s*([#^/]?)\s*)([\w-]+)(?=\s*([.}]))")


def heads(template: Any) -> Iterator[str]:
    """Yield the head of every path in the strings of a JSON value."""
    found: list[str] = []

    def keep(head: str) -> str:
        found.append(head)
        return head

    _rewritten(template, keep)
    yield from found


def with_step_ids(template: Any, steps: Mapping[str, str]) -> Any:
    """Return the template with the heads that are keys of ``steps`` replaced by the step ids there."""
    return _rewritten(template, lambda head: steps.get(head, head))


def sources(catalog: Catalog) -> dict[str, frozenset[str]]:
    """Return, for every head that means a result of tools, the full names of these tools."""
    by_tool: dict[str, set[str]] = {}
    by_condition: dict[str, set[str]] = {}
    for spec in catalog:
        for name in {spec.name, bare_name(spec.name)}:
            by_tool.setdefault(name, set()).add(spec.name)
        for condition, value in spec.post.items():
            if value:
                by_condition.setdefault(condition, set()).add(spec.name)
    known = by_condition | by_tool
    used = {head for spec in catalog for head in heads(spec.input)} - RESERVED_ROOTS
    return {head: frozenset(known[head]) for head in sorted(used & known.keys())}


def sources_of(spec: ToolSpec, known: Mapping[str, frozenset[str]]) -> list[str]:
    """Return the heads in a tool's input that mean results of tools, sorted."""
    return sorted(set(heads(spec.input)) & known.keys())


def bare_name(tool: str) -> str:
    """Return ``charge`` for ``user__charge``; a name without a prefix is its own bare name."""
    return tool.partition("__")[2] or tool


def _rewritten(value: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return _text(value, rename) if "{{" in value else value
    if isinstance(value, Mapping):
        return {key: _rewritten(child, rename) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rewritten(child, rename) for child in value]
    return value


def _text(text: str, rename: Callable[[str], str]) -> str:
    sections: list[bool] = []

    def replaced(match: re.Match[str]) -> str:
        opening, kind, head, following = match.groups()
        is_path = not sections or following == "."
        if kind == "/":
            is_path = sections.pop() if sections else False
        elif kind:
            sections.append(is_path)
        return opening + (rename(head) if is_path else head)

    return _HEAD.sub(replaced, text)
