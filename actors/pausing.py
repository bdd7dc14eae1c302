"""The same request to many runs."""

from __future__ import annotations

from ..domain.errors import MessageRefused
from ..domain.messages import PauseRun, UnpauseRun
from ..store import RunFilter
from .directory import Directory
from .waking import pages


async def tell_each(
    directory: Directory,
    filters: RunFilter,
    kind: type[PauseRun | UnpauseRun],
    *,
    reason: str,
    actor: str,
) -> int:
    """Ask every run that fits to pause or to go on, and return how many took it up.

    One that has ended meanwhile, or cannot do it, is passed over.

    Args:
        directory: the runs.
        filters: which of them.
        kind: the message.
        reason: why.
        actor: who asks.
    """
    count = 0
    async for row in pages(directory.journal, filters):
        try:
            facts = await directory.ask(row.run_id, kind(at=directory.clock(), actor=actor, reason=reason))
        except MessageRefused:
            continue
        count += bool(facts)
    return count
