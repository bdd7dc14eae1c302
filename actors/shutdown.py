"""How an engine ends: in order, and with nothing recorded that did not happen.

1. Nothing new is admitted, and from now on what happens is recorded, but nothing is begun because of it: no
   fact says that a step was started which then nobody runs.
2. Orders that follow from facts on their way to the journal are still carried out.
3. Planners are stopped; attempts have a while to come to their end, and their reports are recorded.
4. Long runs have snapshots made, so that the next engine opens them quickly.
5. The rest is cancelled without a report: the next engine finds it in flight.

Closing the directory and the journal is left to the engine, which does it whatever happens here.
"""

from __future__ import annotations

from .directory import Directory
from .errors import EngineClosedError
from .loading import LONG


async def shut_down(directory: Directory) -> None:
    """Bring the work of an engine to its end."""
    directory.drain(EngineClosedError("the engine is closing, or closed; start a new one"))
    try:
        await directory.quiet()
        await directory.couriers.finish()
        await directory.quiet()
        long = [run_id for run_id, each in directory.active.items() if each.version >= LONG]
        await directory.snapshots.finish(long)
    finally:
        await directory.couriers.stop()
