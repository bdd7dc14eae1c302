"""Slow motion, for people who watch."""

from __future__ import annotations

import asyncio
import functools
import time
from typing import Any

from midcourse import Tool


def slowed(tool: Tool, pause_s: float) -> Tool:
    """The same tool, each call of which waits first; its contract is unchanged."""
    if not pause_s:
        return tool
    return Tool(_waiting(tool, pause_s), tool.spec, probe=tool.probe)


def _waiting(tool: Tool, pause_s: float) -> Any:
    if tool.is_async:

        @functools.wraps(tool.function)
        async def later(**arguments: Any) -> Any:
            await asyncio.sleep(pause_s)
            return await tool.function(**arguments)

        return later

    @functools.wraps(tool.function)
    def blocking(**arguments: Any) -> Any:
        time.sleep(pause_s)
        return tool.function(**arguments)

    return blocking
