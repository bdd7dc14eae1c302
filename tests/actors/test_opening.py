"""Opening a store, and being cancelled meanwhile."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from midcourse.actors import opening
from midcourse.store import BadStoreUrlError, Journal, open_journal


class Gate:
    """Opens stores, each once the test lets it."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.begun = asyncio.Event()
        self.opened = threading.Event()

    def __call__(self, store: str, **options: Any) -> Journal:
        self.loop.call_soon_threadsafe(self.begun.set)
        assert self.opened.wait(60)
        return open_journal(store, **options)


@pytest.mark.parametrize("cancels", [1, 3])
async def test_one_who_is_cancelled_is_let_go_once_the_store_is_free(
    cancels: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    monkeypatch.setattr(opening, "open_journal", gate)
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    task = asyncio.create_task(opening.open_owned(url))
    await gate.begun.wait()
    for _ in range(cancels):
        task.cancel()
        await asyncio.sleep(0)
    assert not task.done()
    gate.opened.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    open_journal(url, owner=True).close()


async def test_one_who_is_cancelled_is_not_told_that_it_would_have_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = Gate()
    monkeypatch.setattr(opening, "open_journal", gate)
    task = asyncio.create_task(opening.open_owned("nonsense://"))
    await gate.begun.wait()
    task.cancel()
    gate.opened.set()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_what_keeps_a_store_from_opening_is_raised() -> None:
    with pytest.raises(BadStoreUrlError):
        await opening.open_owned("nonsense://")
