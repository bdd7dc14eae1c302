"""Signals that are checked, on real stores: who is told, and what is recorded."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from midcourse import Engine, InvalidInputError, Plan, SignalInvalid, Step, open_journal
from midcourse.actors.signals import engine_facts, signal_rules
from midcourse.actors.writer import write
from midcourse.domain.engine_facts import SignalRefused
from midcourse.domain.ids import digest
from midcourse.domain.messages import ReceiveSignal
from midcourse.domain.tools import Catalog
from midcourse.store import ENGINE

PAID = {"type": "object", "required": ["cents"], "properties": {"cents": {"type": "integer", "minimum": 1}}}
SIGNALS: dict[str, Any] = {"paid": PAID, "note_*": True, "*": False}
PLAN = Plan([Step("W", "wait", {"signal": "paid"})])


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'runs.db'}"


async def test_a_signal_that_does_not_fit_is_an_error_to_its_sender_and_the_run_is_told_nothing(
    store: str,
) -> None:
    async with Engine(store, signals=SIGNALS) as engine:
        run = await engine.start("wait", plan=PLAN)
        before = (await run.state()).version
        with pytest.raises(SignalInvalid) as refusal:
            await run.signal("paid", {"cents": "secret"}, id="one", by="mia")
        assert refusal.value.problems == ('cents: what was sent is not of type "integer"',)
        [record] = [record async for record in engine.own_facts()]
        assert record.fact == SignalRefused(
            run.id, "paid", "one", digest({"cents": "secret"}), refusal.value.problems
        )
        assert record.actor == "host:mia"
        assert "secret" not in record.state.decode()
        assert (await run.state()).version == before
        await run.signal("paid", {"cents": 7}, id="one")
        assert (await run.outcome()).result["payload"] == {"cents": 7}


async def test_all_problems_are_named_with_their_paths(store: str) -> None:
    async with Engine(store, signals={"paid": {**PAID, "additionalProperties": False}}) as engine:
        run = await engine.start("wait", plan=PLAN)
        with pytest.raises(SignalInvalid) as refusal:
            await run.signal("paid", {"cents": 0, "tip": 1})
        assert sorted(refusal.value.problems) == [
            "Additional properties are not allowed ('tip' was unexpected)",
            "cents: what was sent is less than the minimum of 1",
        ]


async def test_a_closed_set_takes_no_other_signal_and_what_is_not_closed_takes_any(store: str) -> None:
    async with Engine(store, signals=SIGNALS) as engine:
        run = await engine.start("wait", plan=PLAN)
        await run.signal("note_1", object.__name__)
        with pytest.raises(SignalInvalid, match=r"no signal of this name is taken \(did you mean 'paid'"):
            await run.signal("pad")
    async with Engine(store, signals={"paid": PAID}) as engine:
        await engine.run(run.id).signal("pad", 1)


async def test_an_update_is_checked_like_any_signal(store: str) -> None:
    async with Engine(store, signals=SIGNALS) as engine:
        run = await engine.start("wait", plan=PLAN)
        with pytest.raises(SignalInvalid):
            await run.update("paid", {}, timeout_s=10)
        assert (await run.update("paid", {"cents": 1}, timeout_s=10))["payload"] == {"cents": 1}


async def test_refusals_by_the_engine_and_by_others_at_once_are_all_recorded_in_one_chain(store: str) -> None:
    async with Engine(store, signals=SIGNALS) as engine, open_journal(store) as other:
        run = await engine.start("wait", plan=PLAN)
        declared = Catalog(signals=signal_rules(SIGNALS))

        async def send_here(n: int) -> None:
            await run.signal("paid", n)

        async def send_there(n: int) -> None:
            await write(
                other, run.id, ReceiveSignal(at=1.0, name="paid", payload=n, actor="os:bob"), declared
            )

        refusals = await asyncio.gather(
            *(send_here(n) for n in range(10)), *(send_there(n) for n in range(10, 20)),
            return_exceptions=True,
        )  # fmt: skip
        assert [type(each) for each in refusals] == [SignalInvalid] * 20
        facts = [record.fact async for record in engine.own_facts()]
        assert {fact.digest for fact in facts if isinstance(fact, SignalRefused)} == {
            digest(n) for n in range(20)
        }
        assert [record.version async for record in engine.own_facts(after=15)] == [16, 17, 18, 19, 20]
        assert list(other.verify()) == []


async def test_refusals_outlive_the_engine_and_are_evidence(store: str, tmp_path: Path) -> None:
    async with Engine(store, signals=SIGNALS) as engine:
        run = await engine.start("wait", plan=PLAN)
        with pytest.raises(SignalInvalid):
            await run.signal("paid", 7)
    async with open_journal(store) as journal:
        assert [record.topic async for record in engine_facts(journal)] == ["signal_refused"]
        assert list(journal.verify()) == []
    with sqlite3.connect(tmp_path / "runs.db") as database:
        database.execute("DELETE FROM stored_events WHERE originator_id = ?", (ENGINE,))
    database.close()
    async with open_journal(store) as journal:
        [problem] = journal.verify()
        assert problem.run_id == ENGINE


async def test_every_store_keeps_refusals() -> None:
    async with Engine("memory:", signals=SIGNALS) as engine:
        run = await engine.start("wait", plan=PLAN)
        with pytest.raises(SignalInvalid):
            await run.signal("paid")
        assert len([record async for record in engine.own_facts()]) == 1


@pytest.mark.parametrize(
    ("signals", "said"),
    [
        ({"paid": {"type": "objekt"}}, r"signals\['paid'\]: is no JSON Schema that can be used: "),
        ({"paid": {"$ref": "https://example.com/paid"}}, r"signals\['paid'\]: is no JSON Schema"),
        ({"paid": 7}, r"signals\['paid'\]: must be a JSON Schema, true or false, not 7"),
        ({"": True}, r"signals: '' is no name of a signal; write one such as 'paid'"),
        ({7: True}, r"signals: 7 is no name of a signal"),
    ],
)
def test_what_cannot_be_declared_is_named(signals: Any, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        Engine("memory:", signals=signals)
