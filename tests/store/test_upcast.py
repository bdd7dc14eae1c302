"""Facts of retired shapes are read in their present one."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from midcourse.domain import facts
from midcourse.store import CorruptRecordError
from midcourse.store.codec import decode
from midcourse.store.upcast import upcast

STATE = b'{"schema":%d,"at":1.0,"actor":"engine","cause":0,"prev":"0","data":%b}'


class Priced(facts.Fact):
    """A fact in its third shape: a number at first, then one with a currency, then both in one field."""

    topic = "test_priced"
    schema: ClassVar[int] = 3
    price: dict[str, Any]


def with_currency(data: dict[str, Any]) -> dict[str, Any]:
    return {"amount": data["amount"], "currency": "EUR"}


def renamed(data: dict[str, Any]) -> dict[str, Any]:
    return {"price": data}


UPCASTERS = {("test_priced", 1): with_currency, ("test_priced", 2): renamed}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(facts.BY_TOPIC, "test_priced", Priced)
    monkeypatch.setattr("midcourse.store.codec.UPCASTERS", UPCASTERS)


@pytest.mark.parametrize(
    ("schema", "data"),
    [
        (1, b'{"amount":5}'),
        (2, b'{"amount":5,"currency":"EUR"}'),
        (3, b'{"price":{"amount":5,"currency":"EUR"}}'),
    ],
)
def test_every_retired_shape_is_read_in_the_present_one(schema: int, data: bytes) -> None:
    record = decode("a", 1, "test_priced", STATE % (schema, data))
    assert Priced(price={"amount": 5, "currency": "EUR"}) == record.fact


def test_a_shape_nobody_reads_is_named() -> None:
    with pytest.raises(CorruptRecordError, match="no upcaster reads test_priced in schema 0"):
        decode("a", 1, "test_priced", STATE % (0, b"{}"))


def test_an_upcaster_that_meets_what_it_does_not_expect() -> None:
    with pytest.raises(CorruptRecordError, match="'amount'"):
        decode("a", 1, "test_priced", STATE % (1, b"{}"))


def test_a_present_shape_needs_no_upcaster() -> None:
    assert upcast("anything", 4, {"x": 1}, present=4, upcasters={}) == {"x": 1}
