"""``tools test``: one call of a tool, for real, and nothing of it in any store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

SHOP = """
from pathlib import Path

from midcourse import OutcomeUnknownError, RetryPolicy, ToolContext, ToolError, tool

BOOK = Path(__file__).with_name("book")


def note(line):
    with BOOK.open("a") as file:
        file.write(line + "\\n")


@tool(effect="read")
def price(sku: str, quantity: int = 1) -> dict:
    return {"sku": sku, "cents": 100 * quantity}


@tool(effect="read")
def broken() -> None:
    note("broken")
    raise ToolError("it is broken")


@tool(effect="reversible", undo="release")
def reserve(sku: str, *, context: ToolContext) -> str:
    note(f"reserve {sku}")
    return sku


@tool(idempotent=True)
def release(sku: str) -> None:
    note(f"release {sku}")


@tool(effect="reversible", undo="jam")
def wedge(sku: str) -> str:
    note(f"wedge {sku}")
    return sku


@tool(idempotent=True, retry=RetryPolicy(max_attempts=1))
def jam(sku: str) -> None:
    raise ToolError("it does not come loose")


@tool
def send(text: str) -> None:
    note(f"send {text}")
    raise OutcomeUnknownError("the line is dead")
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "midcourse.toml").write_text('tools = ["shop"]\n[[authority.approvals]]\ntool = "*"\n')
    return tmp_path


def book(folder: Path) -> list[str]:
    file = folder / "book"
    return file.read_text().splitlines() if file.exists() else []


def test_a_read_is_called_and_its_result_printed(call: Any, shop: Path) -> None:
    tested = call("tools", "test", "price", '{"sku": "lamp"}', "-i", "quantity=3")
    assert (tested.code, tested.err, tested.json) == (0, "", {"sku": "lamp", "cents": 300})
    assert not list(shop.glob("*.db*"))


def test_an_effect_needs_a_yes(call: Any, shop: Path) -> None:
    refused = call("tools", "test", "reserve", "-i", "sku=lamp")
    assert (refused.code, refused.out, book(shop)) == (2, "", [])
    assert "user__reserve has an effect outside (reversible), and is really called; say --yes" in refused.err
    assert call("tools", "test", "reserve", "-i", "sku=lamp", "--yes").json == "lamp"
    assert book(shop) == ["reserve lamp"]


def test_it_is_taken_back_where_that_is_asked_for(call: Any, shop: Path) -> None:
    tested = call("tools", "test", "reserve", "-i", "sku=lamp", "--yes", "--take-back")
    assert (tested.code, tested.json, tested.err) == (0, "lamp", "taken back by user__release\n")
    assert book(shop) == ["reserve lamp", "release lamp"]
    refused = call("tools", "test", "price", "-i", "sku=lamp", "--take-back")
    assert (refused.code, "user__price has no undo (read); leave --take-back out" in refused.err) == (2, True)


def test_an_undo_that_does_not_work_is_told(call: Any, shop: Path) -> None:
    tested = call("tools", "test", "wedge", "-i", "sku=lamp", "--yes", "--take-back", "--json")
    assert (tested.code, tested.json["taken_back"]) == (5, False)
    assert "it does not come loose" in tested.json["problem"]


def test_a_tool_that_fails_is_called_once(call: Any, shop: Path) -> None:
    tested = call("tools", "test", "broken")
    assert (tested.code, tested.out, tested.err) == (1, "", "Error: user__broken: it is broken\n")
    assert book(shop) == ["broken"]


def test_an_outcome_that_nobody_knows_is_told_apart(call: Any, shop: Path) -> None:
    tested = call("tools", "test", "send", "-i", "text=hello", "--yes")
    assert (tested.code, tested.out) == (5, "")
    assert tested.err.startswith("Error: user__send: nobody knows what became of user__send")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["{}"], '"sku" is a required property'),
        (['{"sku": "a", "quantity": "x"}'], 'quantity: "x" is not of type "integer"'),
        (['{"sku": "a", "skv": 1}'], "'skv' was unexpected"),
    ],
)
def test_arguments_that_do_not_fit_are_told_with_the_schema(
    call: Any, shop: Path, given: list[str], said: str
) -> None:
    refused = call("tools", "test", "price", *given)
    assert (refused.code, refused.out) == (3, "")
    assert said in refused.err
    assert '"required": [' in refused.err


def test_a_tool_that_is_not_there(call: Any, shop: Path) -> None:
    refused = call("tools", "test", "prise")
    assert (refused.code, "unknown tool 'prise'" in refused.err) == (2, True)
