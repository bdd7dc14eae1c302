"""Opening the store of an engine without holding the host's loop."""

from __future__ import annotations

import asyncio
import threading
from contextvars import Context

from ..store import Journal, open_journal


async def open_owned(store: str | Journal) -> Journal:
    """Return the journal of a store, owned by this engine; an open journal is returned as it is.

    Files are opened and databases connected to in a thread of its own, which ends with it.

    Raises:
        StoreError: the store cannot be used.
    """
    if not isinstance(store, str):
        return store
    if store.startswith("memory:"):
        return open_journal(store, owner=True)
    loop = asyncio.get_running_loop()
    opened: asyncio.Future[Journal] = loop.create_future()

    def settle(journal: Journal | None, error: BaseException | None) -> None:
        if opened.done():  # nobody waits any more
            if journal is not None:
                journal.close()
        elif journal is not None:
            opened.set_result(journal)
        elif error is not None:
            opened.set_exception(error)

    def work() -> None:
        journal, error = None, None
        try:
            journal = open_journal(store, owner=True)
        except Exception as raised:  # noqa: BLE001 - a boundary: it is raised to whoever waits
            error = raised
        try:
            loop.call_soon_threadsafe(settle, journal, error, context=Context())
        except RuntimeError:  # the loop is closed
            if journal is not None:
                journal.close()

    thread = threading.Thread(target=work, name="midcourse-open", daemon=True)
    thread.start()
    try:
        return await opened
    finally:
        if not opened.cancelled():
            thread.join()  # it has nothing left to do
