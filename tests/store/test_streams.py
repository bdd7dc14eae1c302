"""Streams of facts that are no run's: in the journal like all, and in no index."""

from __future__ import annotations

import pytest

from midcourse.store import GENESIS, Append, Entry, Journal, RunFilter, VersionConflictError

from .conftest import OpenAnother
from .helpers import index, note, starting


@pytest.fixture
async def journal(open_another: OpenAnother) -> Journal:
    return open_another(owner=True)


def stream(name: str, version: int = 0, prev: str = GENESIS) -> Append:
    return Append(name, version, prev, [Entry(1000.0 + version, "engine", 0, note(n=version))])


async def test_a_stream_is_read_back_and_is_in_no_list(journal: Journal) -> None:
    head = await journal.append(stream("schedule/b"))
    await journal.append(stream("schedule/b", 1, head.head_hash))
    await journal.append(starting("a", wake_at=5.0, attention=1))

    assert [record.version for record in await journal.read("schedule/b")] == [1, 2]
    assert [run.run_id for run in (await journal.list(RunFilter())).runs] == ["a"]
    assert await journal.get_index("schedule/b") is None
    assert await journal.next_wake() == 5.0


async def test_streams_are_found_by_what_they_begin_with_in_order(journal: Journal) -> None:
    names = ["schedule/b", "schedule/A", "schedule/a-1", "schedule/a", "schedules/x", "other/x", "schedule.x"]
    for name in (name for name in names if "/" in name):
        await journal.append(stream(name))
    await journal.append(starting("scheduler"))

    found = list(await journal.streams("schedule/"))
    assert found == ["schedule/A", "schedule/a", "schedule/a-1", "schedule/b"]


async def test_a_stream_has_versions_like_a_run(journal: Journal) -> None:
    await journal.append(stream("schedule/b"))
    with pytest.raises(VersionConflictError):
        await journal.append(stream("schedule/b"))


async def test_a_stream_is_verified_like_a_run(journal: Journal) -> None:
    await journal.append(stream("schedule/b"))
    assert list(journal.verify()) == []
    assert list(journal.verify("schedule/b")) == []


async def test_the_owner_notices_what_others_append_to_a_stream(
    journal: Journal, open_another: OpenAnother
) -> None:
    import asyncio

    foreign: asyncio.Queue[list[str]] = asyncio.Queue()
    journal.on_foreign(lambda ids: foreign.put_nowait(list(ids)))
    await open_another().append(stream("schedule/b"))
    assert await asyncio.wait_for(foreign.get(), 10) == ["schedule/b"]


async def test_a_run_needs_a_row_in_the_index_and_a_stream_has_none(journal: Journal) -> None:
    with pytest.raises(ValueError, match=r"needs an id .* and an index row"):
        await journal.append(stream("run"))
    append = Append("schedule/b", 0, GENESIS, stream("schedule/b").entries, index("schedule/b"))
    with pytest.raises(ValueError, match="no run's, with an index row"):
        await journal.append(append)
