import dataclasses
import datetime as dt
import decimal
from typing import Any

import msgspec
import pytest

from midcourse.actors.errors import ToolArgumentsError
from midcourse.actors.json_values import UNREADABLE, as_json, is_unreadable, readable, receipt_of, text
from midcourse.actors.tools import tool
from midcourse.domain.receipt import Receipt, Resource


@dataclasses.dataclass
class Refund:
    amount: decimal.Decimal
    on: dt.date


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no")

    __str__ = __repr__


def as_stored(receipt: Receipt) -> Receipt:
    return msgspec.json.decode(msgspec.json.encode(receipt), type=Receipt)


@pytest.mark.parametrize(
    ("value", "result"),
    [
        (None, None),
        (True, True),
        ({1: (2, {3})}, {"1": [2, [3]]}),
        (10**30, 10**30),
        (Refund(decimal.Decimal("1.50"), dt.date(2024, 2, 29)), {"amount": "1.50", "on": "2024-02-29"}),
    ],
)
def test_a_result_is_what_a_replay_reads_back(value: Any, result: Any) -> None:
    receipt = receipt_of(value)
    assert receipt == Receipt(result)
    assert as_stored(receipt) == receipt


def test_a_receipt_keeps_what_it_names() -> None:
    receipt = receipt_of(
        Receipt(Refund(decimal.Decimal(1), dt.date(2024, 1, 1)), (Resource("refund", "r1"),), {"id": 1})
    )
    assert receipt == Receipt({"amount": "1", "on": "2024-01-01"}, (Resource("refund", "r1"),), {"id": 1})


def looped() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize("value", [object(), {(1, 2): 3}, "\ud800", looped(), Unprintable(), [lambda: None]])
def test_a_result_that_cannot_be_recorded_leaves_a_receipt_that_says_so(value: Any) -> None:
    receipt = receipt_of(value)
    assert is_unreadable(receipt.result)
    assert receipt.result[UNREADABLE]["type"] == f"{type(value).__module__}.{type(value).__qualname__}"
    assert as_stored(receipt) == receipt


def test_a_receipt_that_cannot_be_recorded_whole_keeps_its_other_parts() -> None:
    resources = (Resource("payment", "p1"),)
    lost_result = receipt_of(Receipt(object(), resources, {"id": 1}, 5.0))
    assert lost_result == Receipt(lost_result.result, resources, {"id": 1}, 5.0)
    assert is_unreadable(lost_result.result)
    lost_resources = receipt_of(Receipt({"id": 1}, (Resource("payment", 7),)))  # type: ignore[arg-type]
    assert lost_resources.resources == ()
    assert lost_resources.result[UNREADABLE]["problems"] == [
        "resources: Expected `str`, got `int` - at `$[0].id`"
    ]
    assert as_stored(lost_resources) == lost_resources


def test_a_lost_result_is_not_handed_to_another_tool() -> None:
    @tool
    def use(value: Any, other: Any = None) -> None: ...

    with pytest.raises(ToolArgumentsError, match="value: is the result of an earlier step that could not be"):
        use.parameters.bind({"value": readable(object())})


def test_text_is_made_of_anything() -> None:
    assert text("a\ud800") == "a\\ud800"
    assert text(Unprintable()) == "<Unprintable that raises RuntimeError when printed>"


def test_what_is_no_json_says_what_to_return() -> None:
    with pytest.raises(TypeError, match="object is no JSON value; use JSON types"):
        as_json([object()])


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (float("nan"), "it is nan"),
        ({"rates": [1.0, None, float("-inf")]}, "rates[2] is -inf"),
        (Refund(decimal.Decimal("1.50"), dt.date(2024, 2, 29)), ""),
    ],
)
def test_a_number_json_has_no_words_for_is_no_silent_null(value: Any, problem: str) -> None:
    result = receipt_of(value).result
    assert is_unreadable(result) == bool(problem)
    assert not problem or result[UNREADABLE]["problems"][0].startswith(problem)


def test_a_receipt_keeps_what_can_be_recorded_beside_nan() -> None:
    receipt = receipt_of(Receipt(float("inf"), (Resource("payment", "p"),)))
    assert is_unreadable(receipt.result)
    assert receipt.resources == (Resource("payment", "p"),)
