"""Opening the store of an engine without holding the host's loop."""

from __future__ import annotations

import asyncio
import threading
from contextvars import Context

from ..store import Journal, open_journal


async def open_owned(store: str | Journal) -> Journal:
    """Return the journal of a store, owned by this engine; an open journal is returned as it is.

    Files are opened and databases connected to in a thread of its own, which ends with it. One who is
    cancelled meanwhile is let go once the store is given up again.

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
    cancelled = await _until_done(opened)
    thread.join()  # it has nothing left to do
    if cancelled is None:
        return opened.result()
    if opened.exception() is None:
        opened.result().close()
    raise cancelled


async def _until_done(opened: asyncio.Future[Journal]) -> asyncio.CancelledError | None:
    """Wait, and return how the wait was cancelled: the next to open the store finds it free only then."""
    cancelled = None
    while not opened.done():
        try:
            await asyncio.wait((opened,))
        except asyncio.CancelledError as error:
            cancelled = error
    return cancelled


def _open(store: str, opened: asyncio.Future[Journal]) -> None:
    result: Journal | Exception
    try:
        result = open_journal(store, owner=True)
    except Exception as error:  # noqa: BLE001 - a boundary: it is raised to whoever waits
        result = error
    try:
        opened.get_loop().call_soon_threadsafe(_settle, opened, result, context=Context())
    except RuntimeError:  # the loop is closed
        if not isinstance(result, Exception):
            result.close()


def _settle(opened: asyncio.Future[Journal], result: Journal | Exception) -> None:
    if isinstance(result, Exception):
        opened.set_exception(result)
    else:
        opened.set_result(result)
