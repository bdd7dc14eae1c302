"""The packs of built-in tools, as the configuration enables them.

::

    [packs.data]                              # builtin__now, builtin__reshape

    [packs.files]                             # builtin__read_file, builtin__write_file
    root = "files"

    [packs.http]                              # builtin__http
    hosts = ["api.example.com"]

    [packs.exec]                              # builtin__exec
    programs = ["git"]

None is enabled by itself. Relative folders begin at the folder of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import msgspec

from ..actors.packs.http_answers import MAX_BYTES
from ..actors.tools import Tool
from ..domain.problems import did_you_mean
from .tables import read_table


class Pack(Protocol):
    """What the configuration says of a pack."""

    def tools(self, folder: Path) -> list[Tool]:
        """Return its tools.

        Args:
            folder: the folder of the configuration.

        Raises:
            ToolDefinitionError: it cannot work; the text says why.
        """
        ...


class DataPack(msgspec.Struct, frozen=True, kw_only=True):
    """Of the pack ``data`` there is nothing to say."""

    def tools(self, folder: Path) -> list[Tool]:  # noqa: ARG002 - it needs none
        """Return its tools."""
        from ..actors.packs.data import data_pack

        return data_pack()


class ExecPack(msgspec.Struct, frozen=True, kw_only=True):
    """The pack ``exec``; the fields are the arguments of `exec_pack`."""

    programs: tuple[str, ...]
    folder: str = "."
    timeout_s: float = 60.0

    def tools(self, folder: Path) -> list[Tool]:
        """Return its tools."""
        from ..actors.packs.exec import exec_pack

        return exec_pack(programs=self.programs, folder=folder / self.folder, timeout_s=self.timeout_s)


class FilesPack(msgspec.Struct, frozen=True, kw_only=True):
    """The pack ``files``; the fields are the arguments of `files_pack`."""

    root: str
    max_bytes: int = 10_000_000

    def tools(self, folder: Path) -> list[Tool]:
        """Return its tools."""
        from ..actors.packs.files import files_pack

        return files_pack(folder / self.root, max_bytes=self.max_bytes)


class HttpPack(msgspec.Struct, frozen=True, kw_only=True):
    """The pack ``http``; the fields are the arguments of `http_pack`."""

    hosts: tuple[str, ...]
    methods: tuple[str, ...] = ("GET", "HEAD")
    timeout_s: float = 60.0
    max_bytes: int = MAX_BYTES

    def tools(self, folder: Path) -> list[Tool]:  # noqa: ARG002 - it needs none
        """Return its tools."""
        from ..actors.packs.http import http_pack

        return http_pack(
            hosts=self.hosts, methods=self.methods, timeout_s=self.timeout_s, max_bytes=self.max_bytes
        )


_KINDS: Mapping[str, type[DataPack | ExecPack | FilesPack | HttpPack]] = {
    "data": DataPack, "exec": ExecPack, "files": FilesPack, "http": HttpPack,
}  # fmt: skip


def read_packs(value: Any, problems: list[str]) -> dict[str, Pack]:
    """Return the packs that a configuration enables, by name.

    Args:
        value: what stands under ``packs``.
        problems: grows by a sentence for each problem.
    """
    if not isinstance(value, dict):
        problems.append("packs: must be tables such as [packs.files], with root = 'files'")
        return {}
    packs: dict[str, Pack] = {}
    for name, table in value.items():
        kind = _KINDS.get(name)
        if kind is None:
            hint = did_you_mean(name, _KINDS, otherwise=f"there are: {', '.join(_KINDS)}")
            problems.append(f"packs.{name}: unknown pack{hint}")
        elif (pack := read_table(f"packs.{name}", table, kind, problems)) is not None:
            packs[name] = pack
    return packs
