"""What every journal does, whatever it stands on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing

import pytest

from midcourse.domain.facts import RunCompleted
from midcourse.store import (
    Append,
    Appended,
    Entry,
    Head,
    IndexedRun,
    Journal,
    JournalClosedError,
    JournalError,
    KeyTakenError,
    Record,
    RunFilter,
    StoreOwnedError,
    UnencodableError,
    VersionConflictError,
)
from midcourse.store.codec import encode

from .conftest import OpenAnother
from .helpers import STARTED, after, grow, index, note, starting


@pytest.fixture
async def journal(open_another: OpenAnother) -> Journal:
    return open_another(owner=True)


async def collect(journal: Journal, count: int, after_position: int = 0) -> list[Record]:
    """Follow until that many records have come."""
    records: list[Record] = []
    async with aclosing(journal.follow(after_position)) as following:
        async for record in following:
            records.append(record)
            if len(records) == count:
                break
    return records


async def ids(journal: Journal, **conditions: object) -> list[str]:
    page = await journal.list(RunFilter(**conditions))  # type: ignore[arg-type]
    return [run.run_id for run in page.runs]


# ------------------------------------------------------------------------------------------------ appending


async def test_an_appended_fact_is_read_back_as_it_was(journal: Journal) -> None:
    done = await journal.append(starting("a"))
    (record,) = await journal.read("a")

    assert (
        record.version,
        record.at,
        record.actor,
        record.cause,
        record.fact,
    ) == (1, 1000.0, "engine", 0, STARTED)
    assert Appended(range(1, 2), 1, record.hash) == done
    assert Head(1, record.hash, 1000.0) == await journal.head("a")


async def test_facts_of_one_append_follow_each_other(journal: Journal) -> None:
    done = await journal.append(starting("a", STARTED, note(x=1), note(x=2)))
    records = await journal.read("a")

    assert [record.version for record in records] == [1, 2, 3]
    assert [record.hash for record in records[:-1]] == [record.prev for record in records[1:]]
    assert (range(1, 4), 3, records[-1].hash) == (done.positions, done.head_version, done.head_hash)


async def test_an_append_at_the_wrong_version_changes_nothing(journal: Journal) -> None:
    head = await grow(journal, "a", 3)
    stale = Appended(range(0), 2, head.head_hash)

    with pytest.raises(
        VersionConflictError, match=r"run a was expected at version 2, but it is at version 3"
    ):
        await journal.append(after("a", stale, note(x=1), row=index("a", status="completed")))
    with pytest.raises(VersionConflictError):
        await journal.append(starting("a"))
    with pytest.raises(VersionConflictError):
        await journal.append(after("b", Appended(range(0), 1, head.head_hash), note(x=1)))

    assert len(await journal.read("a")) == 3
    assert (await journal.list()).runs[0].status == "running"


async def test_an_append_after_another_record_of_the_same_version_is_a_conflict(journal: Journal) -> None:
    head = await grow(journal, "a", 2)
    other = Appended(range(0), 2, "f" * 64)

    with pytest.raises(VersionConflictError, match="version 2 has other content than was read"):
        await journal.append(after("a", other, note(x=1)))
    assert head.head_version == len(await journal.read("a"))


async def test_a_conflict_does_not_fail_its_neighbours(journal: Journal) -> None:
    head = await grow(journal, "a", 2)
    appends = [
        starting("b"),
        starting("a"),
        after("a", head, note(x=1)),
        after("a", head, note(x=2)),
        starting("c"),
    ]

    results = await asyncio.gather(*map(journal.append, appends), return_exceptions=True)

    kinds = [type(result) for result in results]
    assert [Appended, VersionConflictError, Appended, VersionConflictError, Appended] == kinds
    assert [note(x=1)] == [record.fact for record in await journal.read("a", after=2)]
    assert list(journal.verify()) == []


async def test_appends_of_one_run_may_be_submitted_without_waiting(journal: Journal) -> None:
    head = await journal.append(starting("a"))
    version, hash_ = head.head_version, head.head_hash
    waiting: list[asyncio.Task[Appended]] = []
    for n in range(20):
        entries = [Entry(2000.0, "engine", 0, note(n=n))]
        waiting.append(asyncio.create_task(journal.append(Append("a", version, hash_, entries))))
        encoded = encode("a", version, hash_, entries)
        version, hash_ = encoded.version, encoded.hash
    await asyncio.gather(*waiting)

    assert list(range(1, 22)) == [record.version for record in await journal.read("a")]


async def test_many_runs_append_at_once(journal: Journal) -> None:
    run_ids = [f"run{n:03}" for n in range(100)]
    heads = await asyncio.gather(*(grow(journal, run_id, 5) for run_id in run_ids))

    positions = sorted(position for head in heads for position in head.positions)
    assert max(positions) == 500
    assert [head.head_version for head in heads] == [5] * 100
    assert list(range(1, 501)) == [record.position for record in await collect(journal, 500)]
    assert list(journal.verify()) == []


async def test_a_cancelled_appender_leaves_its_append_alone(journal: Journal) -> None:
    head = await journal.append(starting("a"))
    task = asyncio.create_task(journal.append(after("a", head, note(x=1))))
    neighbour = asyncio.create_task(journal.append(starting("b")))
    await asyncio.sleep(0)
    task.cancel()
    await neighbour

    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(await collect(journal, 3)) == 3
    assert len(await journal.read("a")) == 2


async def test_submit_tells_once_and_in_order(journal: Journal) -> None:
    told: list[tuple[str, Appended | JournalError]] = []
    last = asyncio.Event()
    for n in range(100):
        journal.submit(starting(f"run{n:03}"), lambda result, n=n: told.append((f"run{n:03}", result)))  # type: ignore[misc]
    journal.submit(starting("z"), lambda _: last.set())
    await last.wait()

    assert [f"run{n:03}" for n in range(100)] == [run_id for run_id, _ in told]
    assert {Appended} == {type(result) for _, result in told}


async def test_a_callback_that_raises_harms_no_other(journal: Journal) -> None:
    reported: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    last = asyncio.Event()

    def fail(_: object) -> None:
        raise ZeroDivisionError

    journal.submit(starting("a"), fail)
    journal.submit(starting("b"), lambda _: last.set())
    await last.wait()

    assert [ZeroDivisionError] == [type(context["exception"]) for context in reported]


async def test_a_dispatcher_decides_when_to_flush_and_when_to_be_told(journal: Journal) -> None:
    posted: asyncio.Queue[Callable[[], None]] = asyncio.Queue()
    told: list[Appended | JournalError] = []

    def post(turns: Sequence[Callable[[], None]]) -> None:
        for turn in turns:
            posted.put_nowait(turn)

    journal.dispatch(post)
    journal.submit(starting("a"), told.append)
    journal.submit(starting("b"), told.append)
    await asyncio.sleep(0)
    assert await journal.head("a") is None

    journal.flush()
    while len(told) < 2:
        (await posted.get())()
    assert [result.positions.start for result in told if isinstance(result, Appended)] == [1, 2]


@pytest.mark.parametrize("appends", [1, 63, 64, 65, 255, 300])
async def test_a_commit_of_any_size_is_told_in_order_and_a_few_callers_at_a_time(
    journal: Journal, appends: int
) -> None:
    told: list[Appended | JournalError] = []
    told_by_call: list[int] = []
    done = asyncio.Event()

    def post(calls: Sequence[Callable[[], None]]) -> None:
        for call in calls:
            before = len(told)
            call()
            told_by_call.append(len(told) - before)
        if len(told) == appends:
            done.set()

    journal.dispatch(post)
    for number in range(appends):
        journal.submit(starting(f"run {number}"), told.append)
    journal.flush()
    await done.wait()
    positions = [result.positions.start for result in told if isinstance(result, Appended)]
    assert positions == list(range(1, appends + 1))
    assert max(told_by_call) <= 16
    assert [f"run {number}" for number in range(appends)] == [
        record.run_id for record in await collect(journal, appends)
    ]


async def test_awaiting_an_append_needs_no_dispatcher_to_flush(journal: Journal) -> None:
    loop = asyncio.get_running_loop()
    journal.dispatch(lambda turns: [loop.call_soon(turn) for turn in turns])
    assert (await journal.append(starting("a"))).head_version == 1


async def test_what_cannot_be_encoded_is_refused_before_anything_is_queued(journal: Journal) -> None:
    head = await journal.append(starting("a"))

    with pytest.raises(
        UnencodableError, match=r"BoardUpdated\.values\.list\[1\]\.deep .* type builtins\.object"
    ):
        await journal.append(after("a", head, note(x=1), note(list=[0, {"deep": object()}])))
    assert len(await journal.read("a")) == 1


@pytest.mark.parametrize(
    "append",
    [
        Append("a", 0, "0" * 64, [Entry(1.0, "engine", 0, STARTED)]),
        Append("a", 0, "0" * 64, [], index("a")),
        Append("a", 0, "0" * 64, [Entry(1.0, "engine", 0, STARTED)], index("b")),
        Append("", 0, "0" * 64, [Entry(1.0, "engine", 0, STARTED)], index("")),
        Append("a\0b", 0, "0" * 64, [Entry(1.0, "engine", 0, STARTED)], index("a\0b")),
    ],
)
async def test_appends_that_make_no_sense_are_mistakes_of_the_caller(
    journal: Journal, append: Append
) -> None:
    with pytest.raises(ValueError, match="run"):
        await journal.append(append)


# ------------------------------------------------------------------------------------------------------- keys


async def test_a_key_belongs_to_the_run_that_was_started_with_it(journal: Journal) -> None:
    await journal.append(starting("a", key="order-42"))

    with pytest.raises(KeyTakenError) as caught:
        await journal.append(starting("b", key="order-42"))
    assert (caught.value.key, caught.value.run_id) == ("order-42", "a")
    assert await journal.find_key("order-42") == "a"
    assert await journal.find_key("order-43") is None
    assert await journal.head("b") is None


async def test_of_two_starts_with_one_key_in_one_commit_the_first_wins(journal: Journal) -> None:
    results = await asyncio.gather(
        *(journal.append(starting(run_id, key="k")) for run_id in "abc"), return_exceptions=True
    )

    assert [Appended, KeyTakenError, KeyTakenError] == [type(result) for result in results]
    assert await ids(journal) == ["a"]


async def test_runs_without_a_key_do_not_share_one(journal: Journal) -> None:
    await asyncio.gather(*(journal.append(starting(run_id)) for run_id in "abc"))

    assert await ids(journal) == ["c", "b", "a"]
    assert await journal.find_key("") is None


# -------------------------------------------------------------------------------------------------- reading


async def test_reading_a_part_of_a_run(journal: Journal) -> None:
    await grow(journal, "a", 10)

    assert [record.version for record in await journal.read("a", after=3, until=6)] == [4, 5, 6]
    assert [record.version for record in await journal.read("a", after=8)] == [9, 10]
    assert await journal.read("a", after=10) == []
    assert await journal.read("unknown") == []


async def test_reading_in_slices(journal: Journal) -> None:
    await journal.append(starting("a", STARTED, *(note(n=n) for n in range(9))))

    assert [len(batch) async for batch in journal.batches("a", size=4)] == [4, 4, 2]
    assert [len(batch) for batch in journal.read_batches("a", size=5)] == [5, 5]
    assert [len(batch) for batch in journal.read_batches("a", after=2, until=6, size=3)] == [3, 1]


async def test_following_from_the_beginning_and_from_a_position(journal: Journal) -> None:
    await asyncio.gather(*(grow(journal, run_id, 3) for run_id in "abc"))

    everything = await collect(journal, 9)
    assert list(range(1, 10)) == [record.position for record in everything]
    assert everything[4:] == await collect(journal, 5, after_position=4)


async def test_following_live(journal: Journal) -> None:
    head = await journal.append(starting("a"))
    following = asyncio.create_task(collect(journal, 3))
    await asyncio.sleep(0)
    head = await journal.append(after("a", head, note(n=2)))
    await journal.append(after("a", head, note(n=3)))

    assert [record.version for record in await following] == [1, 2, 3]


async def test_following_ends_when_the_journal_is_closed(journal: Journal) -> None:
    await journal.append(starting("a"))
    seen: list[int] = []
    first = asyncio.Event()

    async def follow() -> None:
        async for record in journal.follow():
            seen.append(record.version)
            first.set()

    task = asyncio.create_task(follow())
    await first.wait()
    await asyncio.sleep(0)
    await journal.aclose()
    await task

    assert seen == [1]


# ------------------------------------------------------------------------------------------------ the index


async def test_the_index_tells_what_was_written_and_where_the_run_stands(journal: Journal) -> None:
    row = index(
        "a",
        status="waiting",
        key="k",
        planner="orders",
        wake_at=5000.5,
        attention=2,
        attention_since=3000.25,
        tags={"customer": "ada", "odd \"name'": "ä"},
    )
    head = await journal.append(Append("a", 0, "0" * 64, [Entry(1000.0, "ada", 0, STARTED)], row))

    expected = IndexedRun(
        run_id="a",
        status="waiting",
        created=1000.0,
        goal="deliver order 42",
        key="k",
        planner="orders",
        wake_at=5000.5,
        attention=2,
        attention_since=3000.25,
        tags={"customer": "ada", "odd \"name'": "ä"},
        version=1,
        hash=head.head_hash,
        updated=1000.0,
    )
    assert expected == await journal.get_index("a")
    assert [expected] == list((await journal.list()).runs)
    assert await journal.get_index("b") is None


async def test_the_index_moves_with_the_facts_and_keeps_what_is_fixed(journal: Journal) -> None:
    head = await journal.append(starting("a", key="k", wake_at=5.0))
    head = await journal.append(after("a", head, note(x=1)))
    first = await journal.get_index("a")
    row = index("a", status="completed", created=9999.0, key="other")
    head = await journal.append(after("a", head, RunCompleted(), row=row))
    second = await journal.get_index("a")

    assert first is not None
    assert second is not None
    assert (first.status, first.wake_at, first.version, first.updated) == ("running", 5.0, 2, 2000.0)
    assert ("completed", None, 3, head.head_hash) == (
        second.status,
        second.wake_at,
        second.version,
        second.hash,
    )
    assert (second.created, second.key) == (1000.0, "k")


async def test_filters(journal: Journal) -> None:
    rows = [
        index("a", status="running", goal="Ship order 42", tags={"team": "eu"}, wake_at=10.0),
        index(
            "b",
            status="waiting",
            goal="refund ORDER 43",
            tags={"team": "us", "vip": "yes"},
            attention=1,
            created=2000.0,
        ),
        index("c", status="completed", goal="50% off_", key="k", created=3000.0),
        index("d", status="failed", goal="ship it", tags={"vip": "no"}, wake_at=20.0, created=4000.0),
    ]
    for row in rows:
        await journal.append(Append(row.run_id, 0, "0" * 64, [Entry(row.created, "engine", 0, STARTED)], row))

    assert await ids(journal) == ["d", "c", "b", "a"]
    assert await ids(journal, statuses=("completed", "running")) == ["c", "a"]
    assert await ids(journal, active=True) == ["b", "a"]
    assert await ids(journal, attention=True) == ["b"]
    assert await ids(journal, key="k") == ["c"]
    assert await ids(journal, tags={"vip": "yes"}) == ["b"]
    assert await ids(journal, tags={"vip": "yes", "team": "eu"}) == []
    assert await ids(journal, text="order 4") == ["b", "a"]
    assert await ids(journal, text="0% off_") == ["c"]
    assert await ids(journal, text="_%") == []
    assert await ids(journal, created_from=2000.0, created_until=4000.0) == ["c", "b"]
    assert await ids(journal, due_by=10.0) == ["a"]
    assert await ids(journal, active=True, text="ship") == ["a"]
    assert await journal.next_wake() == 10.0


async def test_nothing_is_due_in_an_empty_store(journal: Journal) -> None:
    assert await journal.next_wake() is None
    assert await ids(journal) == []


async def test_pages(journal: Journal) -> None:
    await asyncio.gather(*(journal.append(starting(f"run{n}")) for n in range(7)))
    pages: list[Sequence[str]] = []
    cursor, more = "", True
    while more:
        page = await journal.list(limit=3, cursor=cursor)
        pages.append([run.run_id for run in page.runs])
        cursor, more = page.cursor, bool(page.cursor)

    assert pages == [["run6", "run5", "run4"], ["run3", "run2", "run1"], ["run0"]]


# ------------------------------------------------------------------------------------- others and ownership


async def test_appends_of_others_are_noticed(journal: Journal, open_another: OpenAnother) -> None:
    await grow(journal, "a", 2)
    noticed: asyncio.Queue[Sequence[str]] = asyncio.Queue()
    journal.on_foreign(noticed.put_nowait)
    other = open_another()
    following = asyncio.create_task(collect(journal, 4))
    head = await other.head("a")
    assert head is not None

    await other.append(after("a", Appended(range(0), head.version, head.hash), note(by="other")))
    assert list(await noticed.get()) == ["a"]
    await other.append(starting("b"))
    assert list(await noticed.get()) == ["b"]
    assert [record.run_id for record in await following] == ["a", "a", "a", "b"]


async def test_a_foreign_append_is_a_conflict_for_who_did_not_see_it(
    journal: Journal, open_another: OpenAnother
) -> None:
    mine = await grow(journal, "a", 2)
    other = open_another()
    theirs = await other.append(after("a", mine, note(by="other")))

    with pytest.raises(VersionConflictError) as caught:
        await journal.append(after("a", mine, note(by="owner")))
    assert (caught.value.expected, caught.value.actual) == (2, 3)
    assert (await journal.append(after("a", theirs, note(by="owner")))).head_version == 4
    assert list(journal.verify()) == []


async def test_two_writers_race_and_nothing_is_lost(journal: Journal, open_another: OpenAnother) -> None:
    await journal.append(starting("a"))
    other = open_another()

    async def add(by: Journal, name: str) -> None:
        for n in range(10):
            while True:
                head = await by.head("a")
                assert head is not None
                try:
                    await by.append(
                        after("a", Appended(range(0), head.version, head.hash), note(name=name, n=n))
                    )
                except VersionConflictError:
                    continue
                break

    await asyncio.gather(add(journal, "mine"), add(other, "theirs"))
    values = [record.fact.values for record in await journal.read("a", after=1)]  # type: ignore[attr-defined]

    assert list(range(10)) == [value["n"] for value in values if value["name"] == "mine"]
    assert list(range(10)) == [value["n"] for value in values if value["name"] == "theirs"]
    assert list(other.verify()) == []


async def test_one_engine_owns_a_store(journal: Journal, open_another: OpenAnother) -> None:
    with pytest.raises(StoreOwnedError, match="One engine owns a store at a time"):
        open_another(owner=True)
    await journal.aclose()

    again = open_another(owner=True)
    assert (await again.append(starting("a"))).head_version == 1


# ----------------------------------------------------------------------------------------- opening, closing


async def test_closing_writes_what_is_queued(journal: Journal, open_another: OpenAnother) -> None:
    told: list[Appended | JournalError] = []
    for n in range(50):
        journal.submit(starting(f"run{n:02}"), told.append)
    await journal.aclose()

    assert len((await open_another().list()).runs) == 50
    assert [Appended] * 50 == [type(result) for result in told]


async def test_a_closed_journal_refuses(journal: Journal) -> None:
    await journal.append(starting("a"))
    await journal.aclose()
    await journal.aclose()
    journal.close()

    with pytest.raises(JournalClosedError, match="is closed"):
        await journal.append(starting("b"))
    with pytest.raises(JournalClosedError, match="is closed"):
        await journal.read("a")


async def test_what_was_appended_is_there_after_opening_again(
    journal: Journal, open_another: OpenAnother
) -> None:
    head = await grow(journal, "a", 3)
    await journal.aclose()

    async with open_another(owner=True) as again:
        assert head.head_hash == (await again.read("a"))[-1].hash
        assert (await again.append(after("a", head, note(x=1)))).head_version == 4
        assert list(again.verify()) == []


# ---------------------------------------------------------------------------------------- views of one state


async def test_a_view_reads_what_the_journal_reads_until_it_is_given_back(journal: Journal) -> None:
    await grow(journal, "a", 3)
    await journal.append(starting("b", status="waiting"))
    with journal.frozen() as view:
        reads = view or journal
        records = [record async for batch in reads.batches("a", size=2) for record in batch]
        assert records == await journal.read("a")
        assert await reads.get_index("a") == await journal.get_index("a")
        assert await reads.list(limit=1) == await journal.list(limit=1)
    if view is not None:
        with pytest.raises(JournalClosedError):
            await view.get_index("a")


async def test_a_view_is_in_nobodys_way(journal: Journal) -> None:
    head = await grow(journal, "a", 2)
    with journal.frozen() as view:
        await (view or journal).get_index("a")
        await journal.append(after("a", head, note(n=3)))
        assert [record.version for record in await journal.read("a")] == [1, 2, 3]


async def test_a_closed_journal_has_no_view(journal: Journal) -> None:
    journal.close()
    with pytest.raises(JournalClosedError):
        journal.frozen()
