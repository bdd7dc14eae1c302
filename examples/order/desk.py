"""The shop's service desk, where customers call: another program, which writes to the same store."""

from __future__ import annotations

import time

from midcourse.actors.writer import write
from midcourse.domain.messages import ReceiveSignal
from midcourse.examples.order.planners import ADDRESS_CHANGED
from midcourse.examples.order.scenario import ADDRESS_CHANGE
from midcourse.store import open_journal


class ServiceDesk:
    """Tells runs what customers say, as `midcourse runs signal` does.

    Args:
        store: URL of the store, which an engine may have open.
    """

    def __init__(self, store: str) -> None:
        self._store = store

    async def change_address(self, run_id: str) -> None:
        """Record that the customer wants the order elsewhere; said twice, it is one call."""
        signal = ReceiveSignal(
            at=time.time(),
            actor="service desk",
            name=ADDRESS_CHANGED,
            payload={"destination": ADDRESS_CHANGE.new_destination},
            id="call-1",
        )
        async with open_journal(self._store) as journal:
            await write(journal, run_id, signal)
