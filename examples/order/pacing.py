"""Slow motion, for people who watch."""

from __future__ import annotations

import asyncio
import functools
import time
from typing import Any

from midcourse import Tool


def slowed(tool: Tool, pause_s: float) -> Tool:
    """The same tool, each call of which takes time before and after the world acts.

    The time after is the gap between effect and receipt. A process that is killed in it leaves an effect that
    nobody recorded, so that the call is repeated, and the world answers it from its books.

    Args:
        tool: the tool.
        pause_s: seconds a call takes in all, half of them on each side.
    """
    if not pause_s:
        return tool
    return Tool(_waiting(tool, pause_s), tool.spec, probe=tool.probe)


def _waiting(tool: Tool, pause_s: float) -> Any:
    if tool.is_async:

        @functools.wraps(tool.function)
        async def later(**arguments: Any) -> Any:
            await asyncio.sleep(pause_s / 2)
            result = await tool.function(**arguments)
            await asyncio.sleep(pause_s / 2)
            return result

        return later

    @functools.wraps(tool.function)
    def blocking(**arguments: Any) -> Any:
        time.sleep(pause_s / 2)
        result = tool.function(**arguments)
        time.sleep(pause_s / 2)
        return result

    return blocking
