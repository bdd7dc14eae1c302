"""Whatever order appends come in, versions have no gaps and chains verify."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from midcourse.store import GENESIS, Append, Appended, Entry, Journal, KeyTakenError, VersionConflictError
from midcourse.store.memory import MemoryJournal, MemoryStore

from .helpers import STARTED, index, note

RUNS = ("a", "b", "c")
Heads = dict[str, tuple[int, str]]

step = st.tuples(
    st.integers(0, 1),  # which of two journals
    st.sampled_from(RUNS),
    st.integers(1, 3),  # facts
    st.sampled_from(["as seen", "one behind", "other content"]),
    st.sampled_from(["", "k1", "k2"]),  # the key of a start
)


def build(seen: Heads, run_id: str, count: int, kind: str, key: str) -> Append:
    version, hash_ = seen.get(run_id, (0, GENESIS))
    if kind == "one behind":
        version = max(0, version - 1)
    if kind == "other content" and version:
        hash_ = "e" * 64
    entries = [Entry(1.0, "engine", 0, note(n=n) if version + n else STARTED) for n in range(count)]
    return Append(run_id, version, hash_, entries, index(run_id, key=key) if not version else None)


async def play(laps: list[list[tuple[int, str, int, str, str]]]) -> None:
    store = MemoryStore()
    journals: list[Journal] = [MemoryJournal(store, owner=True), MemoryJournal(store)]
    truth: Heads = {}
    keys: dict[str, str] = {}
    for lap in laps:
        appends = [(journals[who], build(truth, *what)) for who, *what in lap]  # type: ignore[arg-type]
        results = await asyncio.gather(
            *(journal.append(append) for journal, append in appends), return_exceptions=True
        )
        for journal in dict.fromkeys(journal for journal, _ in appends):  # in the order of their first append
            for (by, append), result in zip(appends, results, strict=True):
                if by is journal:
                    judge(truth, keys, append, result)
    for run_id in RUNS:
        records = await journals[0].read(run_id)
        assert list(range(1, truth.get(run_id, (0, ""))[0] + 1)) == [record.version for record in records]
        assert truth.get(run_id, (0, GENESIS))[1] == (records[-1].hash if records else GENESIS)
    assert list(journals[1].verify()) == []


def judge(truth: Heads, keys: dict[str, str], append: Append, result: Appended | BaseException) -> None:
    """Compare one outcome with a model of one head a run."""
    seen = (append.expected_version, append.prev_hash if append.expected_version else GENESIS)
    key = append.index.key if append.index is not None else ""
    if truth.get(append.run_id, (0, GENESIS)) != seen:
        assert isinstance(result, VersionConflictError)
    elif key in keys:
        assert isinstance(result, KeyTakenError)
    else:
        assert isinstance(result, Appended)
        truth[append.run_id] = (result.head_version, result.head_hash)
        if key:
            keys[key] = append.run_id


@settings(deadline=None)
@given(st.lists(st.lists(step, min_size=1, max_size=8), max_size=8))
def test_any_interleaving_leaves_versions_without_gaps_and_chains_that_verify(
    laps: list[list[tuple[int, str, int, str, str]]],
) -> None:
    asyncio.run(play(laps))
