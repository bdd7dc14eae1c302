"""Where the configuration says that parts come from: modules, and names in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*(:[^\W\d]\w*(\.[^\W\d]\w*)*)?\Z")
_ONE_OF = {"planners": "planner", "reviewers": "reviewer", "policies": "policy", "on_stuck": "handler"}
"""What a table of names is about, for examples."""


class Source(msgspec.Struct, frozen=True):
    """Where a part comes from.

    Args:
        key: the key it stands under, for messages.
        target: ``package.module`` or ``package.module:name``.
        call: whether it is a function to call for the parts.
        arguments: what the function is called with, beside the folder of the file.
    """

    key: str
    target: str
    call: bool = False
    arguments: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])


def read_named(content: Mapping[str, Any], key: str, problems: list[str]) -> dict[str, Source]:
    """Return a table of names and where they come from."""
    table = content.get(key, {})
    if not isinstance(table, dict):
        problems.append(f"{key}: must be a table such as name = 'package.module:{_ONE_OF.get(key, key)}'")
        return {}
    sources = {name: read_source(f"{key}.{name}", value, problems) for name, value in table.items()}
    return {name: source for name, source in sources.items() if source}


def read_names(content: Mapping[str, Any], key: str, problems: list[str]) -> tuple[str, ...]:
    """Return a list of names of parts that are named elsewhere."""
    names = content.get(key, [])
    if not isinstance(names, list) or not all(isinstance(each, str) and each for each in names):
        problems.append(f"{key}: must be a list such as ['quality']")
        return ()
    return tuple(names)


def read_source(key: str, value: Any, problems: list[str]) -> Source | None:
    """Return where one part, or one pack of them, comes from; ``None`` after saying what is wrong with it."""
    call = isinstance(value, dict)
    table = value if isinstance(value, dict) else {"call": value}
    target, arguments = table.get("call"), table.get("with", {})
    unknown = [name for name in table if name not in ("call", "with")]
    if unknown:
        problems.append(f"{key}: unknown {', '.join(unknown)}; allowed are call and with")
    elif not isinstance(target, str) or not _TARGET.match(target) or (call and ":" not in target):
        form = "'package.module:function'" if call else "'package.module' or 'package.module:name'"
        problems.append(f"{key}: must name {form}, not {target!r}")
    elif not isinstance(arguments, dict):
        problems.append(f"{key}.with: must be a table of arguments")
    else:
        return Source(key, target, call, arguments)
    return None
