"""What an engine takes up when it opens: every run that has something in flight, or owes something."""

from __future__ import annotations

import asyncio

from ..store import RunFilter
from .directory import Directory

_AT_ONCE = ("planning", "running", "compensating", "waiting")
_LAST = ("attention",)
"""They wait for a person, unless a tool or planner that was missing is there again."""


async def recover(directory: Directory) -> None:
    """Take up the runs an earlier engine left, a few at a time, while new ones are served.

    A run that only waits for a time is left where it is: its wake-up time is in the index.
    """
    for statuses in (_AT_ONCE, _LAST):
        async for run in directory.pages(RunFilter(statuses=statuses)):
            if run.wake_at is None or run.status != "waiting":
                await _take_up(directory, run.run_id)


async def _take_up(directory: Directory, run_id: str) -> None:
    if run_id in directory.active or run_id in directory.parked:
        return
    directory.activate(run_id)
    await asyncio.sleep(0)
    async with directory.slots:
        """Wait for a place behind those being read, so that no more queue up."""
