"""The built-in tools, the packs they come in, and how a pack is enabled."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

BUILTIN_PREFIX: Final = "builtin__"

PACK_OF: Final[Mapping[str, str]] = MappingProxyType(
    {
        "builtin__exec": "exec",
        "builtin__http": "http",
        "builtin__now": "data",
        "builtin__read_file": "files",
        "builtin__reshape": "data",
        "builtin__restore_file": "files",
        "builtin__write_file": "files",
    }
)
"""The pack that each built-in tool is in."""

ENABLING: Final[Mapping[str, str]] = MappingProxyType(
    {
        "data": "[packs.data]",
        "exec": "[packs.exec] with programs = ['git']",
        "files": "[packs.files] with root = 'files'",
        "http": "[packs.http] with hosts = ['api.example.com']",
    }
)
"""What enables a pack in ``midcourse.toml``."""


def how_to_enable(name: str) -> str:
    """Return how to get a built-in tool that is not there, empty for a name that is none of them."""
    pack = PACK_OF.get(name)
    if pack is None:
        return ""
    return (
        f"built-in tool {name!r} is in the pack {pack!r}, which is not enabled; write {ENABLING[pack]} into "
        f"midcourse.toml, or hand the tools of {pack}_pack() to the engine"
    )
