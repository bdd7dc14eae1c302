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
    opened: asyncio.Future[Journal] = asyncio.get_running_loop().create_future()
    thread = threading.Thread(target=_open, args=(store, opened), name="midcourse-open", daemon=True)
    thread.start()
    try:
        return await opened
    finally:
        if not opened.cancelled():
            thread.join()  # it has nothing left to do


def _open(store: str, opened: asyncio.Future[Journal]) -> None:
    result: Journal | Exception
    try:
        result = open_journal(store, owner=True)
    except Exception as error:  # noqa: BLE001 - a boundary: it is raised to whoever waits
        result = error
    try:
        opened.get_loop().call_soon_threadsafe(_settle, opened, result, context=Context())
    except RuntimeError:  # the loop is closed
        _discard(result)


def _settle(opened: asyncio.Future[Journal], result: Journal | Exception) -> None:
    if opened.done():  # nobody waits any more
        _discard(result)
    elif isinstance(result, Exception):
        opened.set_exception(result)
    else:
        opened.set_result(result)


def _discard(result: Journal | Exception) -> None:
    if not isinstance(result, Exception):
        result.close()
