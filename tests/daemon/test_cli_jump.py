"""``runs replan`` and its answers, ``runs compensate undo``, a proposal that waits, with no engine about."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]

CONFIG = """
tools = ["shop"]
"""
TOOLS = """
from midcourse import tool

@tool
async def notify(text: str) -> str:
    "Send a message."
    return text
"""


def token(on_store: Call, run: str) -> str:
    shown: str = on_store("runs", "show", run, "--json").json["revision_token"]
    return shown


def test_a_request_is_answered_and_the_same_one_the_same(on_store: Call, replanned: Any) -> None:
    run = replanned.run.id
    ask = ("runs", "replan", run, "--reason", "it froze", "--token", token(on_store, run), "--id", "j1")
    for _ in range(2):
        answer = on_store(*ask)
        assert (answer.code, answer.out) == (0, f"{run}: ACCEPTED\n")
    answer = on_store(*ask[:4], "it thawed", *ask[5:])
    assert (answer.code, answer.out) == (1, f"{run}: CONFLICT\n")
    answer = on_store(*ask[:-1], "j2", "--json")
    assert (answer.code, answer.json) == (1, {"run": run, "answer": "PROCESSING"})


def test_a_token_of_an_earlier_revision_is_stale(on_store: Call, replanned: Any) -> None:
    answer = on_store("runs", "replan", replanned.run.id, "--reason", "it froze", "--token", "old")
    assert (answer.code, answer.out) == (1, f"{replanned.run.id}: STALE\n")


def test_the_token_and_the_stability_are_shown(on_store: Call, replanned: Any) -> None:
    run = replanned.run.id
    shown = on_store("runs", "show", run).out
    assert f"2, token {token(on_store, run)}" in shown
    assert "stability 3" in shown


def test_an_operation_is_undone_on_request(on_store: Call, replanned: Any) -> None:
    run = replanned.run.id
    (ledger,) = on_store("runs", "show", run, "--json").json["ledger"]
    answer = on_store("runs", "compensate", "undo", run, ledger["operation"], "--reason", "sold out")
    if ledger["effect"] == "reversible":
        assert answer.out == f"{run}: compensation_requested\n"
    else:
        assert (answer.code, "cannot be undone" in answer.err) == (2, True)


@pytest.fixture
def shop(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(TOOLS)
    (tmp_path / "midcourse.toml").write_text(CONFIG)


def test_a_proposal_waits_for_what_is_in_flight(
    on_store: Call, replanned: Any, tmp_path: Path, shop: None
) -> None:
    run = replanned.run.id
    epoch = on_store("runs", "show", run, "--json").json["epoch"]
    plan = {"steps": [{"tool_name": "notify", "input": {"text": "hello"}}]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    answer = on_store("runs", "propose", run, "plan.json", "--epoch", str(epoch))
    assert (
        answer.out == f"{run}: the proposal waits for what is in flight, and nothing else begins meanwhile\n"
    )
    last = on_store("audit", "facts", run, "--json").json_lines[-1]
    assert last["topic"] == "proposal_held"
