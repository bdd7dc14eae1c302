"""Lines that people type, read in the event loop: nothing is held up while somebody thinks."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Protocol

_MOST_AT_ONCE = 4096


class Lines(Protocol):
    """Where lines come from."""

    async def read(self) -> str | None:
        """Return the next line without its end; ``None`` where there is none any more."""


class ScriptLines:
    """Lines of a text.

    Args:
        text: the text; lines that are empty, or begin with ``#``, are left out.
    """

    def __init__(self, text: str) -> None:
        self._lines: Iterator[str] = (
            line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")
        )

    async def read(self) -> str | None:
        """Return the next line."""
        return next(self._lines, None)


class TypedLines:
    """Lines from a terminal or a pipe. End of file ends one line, and further ones may follow it.

    Args:
        fd: the file.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._rest = b""

    async def read(self) -> str | None:
        """Return the next line."""
        while b"\n" not in self._rest:
            got = await self._more()
            if not got:
                line, self._rest = self._rest, b""
                return line.decode("utf-8", "replace") or None
            self._rest += got
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r")

    async def _more(self) -> bytes:
        loop = asyncio.get_running_loop()
        is_there = asyncio.Event()
        try:
            loop.add_reader(self._fd, is_there.set)
        except PermissionError:  # an ordinary file, which is always there
            return os.read(self._fd, _MOST_AT_ONCE)
        try:
            await is_there.wait()
        finally:
            loop.remove_reader(self._fd)
        return os.read(self._fd, _MOST_AT_ONCE)
