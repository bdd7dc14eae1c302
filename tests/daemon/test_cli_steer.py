"""``runs signal``, ``cancel``, ``replan``, ``settle``, ``compensate``, ``propose``, with no engine about."""

import json
import os
import pwd
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from midcourse.domain import messages as m
from midcourse.store import open_journal

Call = Callable[..., Any]

ME = f"os:{pwd.getpwuid(os.getuid()).pw_name}"
TOOLS = """
from midcourse import tool

@tool
async def notify(text: str) -> str:
    "Send a message."
    return text
"""


@pytest.fixture
def last(on_store: Call) -> Callable[[], dict[str, Any]]:
    """The last fact of the run, as JSON."""
    return lambda: on_store("audit", "facts", "key:order-42", "--json").json_lines[-1]


@pytest.fixture
def parked(replanned: Any) -> Any:
    """A run being undone whose release gave up."""
    replanned.lose("timed out")
    replanned.tell(
        m.SettleOutcome, operation=next(iter(replanned.run.unknown)), happened=False, reason="asked"
    )
    replanned.tell(m.RequestCancel, reason="too late")
    if replanned.run.running:
        replanned.lose("cancelled")
    replanned.park("the warehouse is closed")
    return replanned


@pytest.mark.parametrize(
    ("payload", "stdin", "expected"),
    [
        (['{"to": "oslo"}'], "", {"to": "oslo"}),
        (["@news.json"], "", ["from", "a", "file"]),
        (["-"], '"from stdin"', "from stdin"),
        (["null"], "", None),
        ([], "", None),
    ],
)
def test_signal(
    on_store: Call, replanned: Any, last: Any, tmp_path: Path, payload: list[str], stdin: str, expected: Any
) -> None:
    (tmp_path / "news.json").write_text('["from", "a", "file"]')
    answer = on_store("runs", "signal", "key:order-42", "address", *payload, stdin=stdin)
    assert (answer.code, answer.out) == (0, f"{replanned.run.id}: signal_received\n")
    resume = f"midcourse --store sqlite:///{replanned.store} runs resume {replanned.run.id}"
    assert answer.err == f"no engine owns this store: {resume} carries it on\n"
    fact = last()
    assert (fact["topic"], fact["actor"], fact["cause"]) == ("signal_received", ME, 0)
    assert (fact["data"]["name"], fact["data"].get("payload"), fact["moves_epoch"]) == (
        "address",
        expected,
        True,
    )


def test_a_signal_with_an_id_is_taken_once(on_store: Call, replanned: Any, last: Any) -> None:
    command = ("runs", "signal", replanned.run.id, "address", "1", "--id", "a")
    assert on_store(*command, "--json").json == {"run": replanned.run.id, "recorded": ["signal_received"]}
    version = last()["version"]
    again = on_store(*command)
    assert (again.code, again.out, last()["version"]) == (0, "", version)
    assert again.err == f"{replanned.run.id}: nothing to record, the run knows it already\n"


def test_beside_an_engine_nobody_is_told_to_resume(on_store: Call, replanned: Any) -> None:
    with open_journal(f"sqlite:///{replanned.store}", owner=True):
        answer = on_store("runs", "signal", "key:order-42", "address")
    assert (answer.code, answer.err) == (0, "")


def test_an_irrelevant_signal_leaves_plans_alone(on_store: Call, replanned: Any, last: Any) -> None:
    on_store("runs", "signal", replanned.run.id, "hello", "--irrelevant")
    assert (last()["topic"], last()["moves_epoch"]) == ("signal_received", False)


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ("{to: oslo}", "is not JSON"),
        ("oslo", "Texts need quotes of their own"),
        ("@none.json", "none.json cannot be read: No such file or directory"),
        ("@.", "cannot be read: Is a directory"),
    ],
)
def test_a_payload_that_is_no_json(
    on_store: Call, replanned: Any, last: Any, payload: str, said: str
) -> None:
    answer = on_store("runs", "signal", replanned.run.id, "address", payload)
    assert (answer.code, answer.out, last()["version"]) == (2, "", 14)
    assert said in answer.err


def test_cancel_tells_the_engine_to_come(on_store: Call, replanned: Any, last: Any) -> None:
    answer = on_store("runs", "cancel", "key:order-42", "--reason", "too late")
    assert answer.out == f"{replanned.run.id}: cancel_requested, unwinding_began\n"
    assert last()["actor"] == ME
    listed = on_store("runs", "list", "--json").json["runs"]
    assert [run["version"] for run in listed] == [16]
    assert on_store("runs", "cancel", "key:order-42").out == ""


def test_what_a_run_refuses_is_an_error_and_no_fact(on_store: Call, replanned: Any, last: Any) -> None:
    replanned.succeed("booked", "shipment S-1")
    replanned.succeed("sent")
    answer = on_store("runs", "signal", replanned.run.id, "address")
    assert (answer.code, answer.out) == (1, "")
    assert "has ended (completed) and takes no signal 'address'" in answer.err
    assert last()["topic"] == "run_completed"


def test_replan(on_store: Call, replanned: Any, last: Any) -> None:
    assert on_store("runs", "replan", replanned.run.id).code == 2
    on_store("runs", "replan", replanned.run.id, "--reason", "the sea is frozen")
    assert (last()["topic"], last()["data"]["reason"]) == ("replan_requested", "the sea is frozen")


@pytest.mark.parametrize(
    ("happened", "receipt"),
    [
        ('{"booked": true}', {"result": {"booked": True}}),
        ('{"result": 1, "resources": [{"kind": "shipment", "id": "S-1"}]}',
         {"result": 1, "resources": [{"kind": "shipment", "id": "S-1"}]}),
        ("null", {}),
    ],
)  # fmt: skip
def test_settle_as_happened(on_store: Call, unknown: Any, last: Any, happened: str, receipt: Any) -> None:
    operation = next(iter(unknown.run.unknown))
    answer = on_store("runs", "settle", unknown.run.id, operation, "--happened", happened)
    assert answer.out == f"{unknown.run.id}: outcome_settled\n"
    assert (last()["data"]["happened"], last()["data"]["receipt"]) == (True, receipt)


def test_settle_as_not_happened(on_store: Call, unknown: Any, last: Any) -> None:
    operation = next(iter(unknown.run.unknown))
    on_store("runs", "settle", unknown.run.id, operation, "--not-happened", "--reason", "asked the carrier")
    assert (last()["data"]["happened"], last()["data"]["reason"]) == (False, "asked the carrier")


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ((), 2, "say one of --happened JSON and --not-happened"),
        (("--happened", "1", "--not-happened", "--reason", "x"), 2, "say one of"),
        (("--not-happened",), 2, "needs a --reason"),
        (("--happened", '{"resources": 5}'), 2, "not a receipt"),
    ],
)
def test_settle_said_wrongly(
    on_store: Call, unknown: Any, last: Any, options: tuple[str, ...], code: int, said: str
) -> None:
    answer = on_store("runs", "settle", unknown.run.id, next(iter(unknown.run.unknown)), *options)
    assert (answer.code, answer.out, last()["version"]) == (code, "", 15)
    assert said in answer.err


def test_settle_an_operation_that_is_not_unknown(on_store: Call, unknown: Any) -> None:
    answer = on_store("runs", "settle", unknown.run.id, "user__sea:0.0", "--happened", "1")
    assert answer.code == 1
    assert next(iter(unknown.run.unknown)) in answer.err


def test_compensate_retry(on_store: Call, parked: Any, last: Any) -> None:
    undo = next(iter(parked.run.parked))
    assert (
        f"midcourse --store sqlite:///{parked.store} runs compensate retry {parked.run.id} {undo}"
        in on_store("runs", "show", "01f").out
    )
    assert (
        on_store("runs", "compensate", "retry", "01f", undo).out == f"{parked.run.id}: compensation_retried\n"
    )
    assert last()["data"]["operation"] == undo


def test_compensate_waive_needs_a_reason(on_store: Call, parked: Any, last: Any) -> None:
    undo = next(iter(parked.run.parked))
    assert on_store("runs", "compensate", "waive", "01f", undo).code == 2
    on_store("runs", "compensate", "waive", "01f", undo, "--reason", "a gift")
    assert (last()["topic"], last()["data"]["reason"]) == ("compensation_waived", "a gift")


@pytest.fixture
def proposal(tmp_path: Path) -> Callable[..., str]:
    (tmp_path / "shop.py").write_text(TOOLS)
    (tmp_path / "midcourse.toml").write_text('tools = ["shop"]')

    def write(content: Any) -> str:
        (tmp_path / "plan.json").write_text(content if isinstance(content, str) else json.dumps(content))
        return "plan.json"

    return write


def test_propose(on_store: Call, unknown: Any, proposal: Any) -> None:
    unknown.tell(m.SettleOutcome, operation=next(iter(unknown.run.unknown)), happened=True)
    unknown.succeed("sent")
    waiting = type(unknown)(unknown.store, "01gzzzzzzzzzzzz0")
    waiting.start(key="other")
    file = proposal({"steps": [{"tool_name": "notify", "input": {"text": "soon"}}], "reason": "a person's"})
    stale = on_store("runs", "propose", "key:other", file, "--epoch", "99")
    assert (stale.code, stale.out, "stale" in stale.err) == (1, "", True)
    answer = on_store("runs", "propose", "key:other", file, "--epoch", str(waiting.run.epoch))
    assert (answer.code, answer.out) == (0, "01gzzzzzzzzzzzz0: revision 1, with steps E0\n")
    assert f"because proposed by {ME}" in on_store("runs", "show", "key:other").out


def test_propose_a_plan_file_or_steps_as_yaml(
    on_store: Call, replanned: Any, proposal: Any, tmp_path: Path
) -> None:
    proposal({})
    waiting = type(replanned)(replanned.store, "01gzzzzzzzzzzzz0")
    waiting.start(key="other")
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "tell.yaml").write_text(
        "identifier: tell\nname: Tell\ndescription: Tells somebody.\n"
        "steps:\n  - {id: E7, tool_name: notify, input: {text: soon}}\n"
    )
    answer = on_store("runs", "propose", "key:other", "tell", "--epoch", str(waiting.run.epoch))
    assert (answer.code, answer.out) == (0, "01gzzzzzzzzzzzz0: revision 1, with steps E7\n")
    (tmp_path / "tail.yaml").write_text("steps:\n  - {tool_name: notify, input: {text: '{{E7}}'}}\n")
    epoch = on_store("runs", "show", "key:other", "--json").json["epoch"]
    answer = on_store("runs", "propose", "key:other", "tail.yaml", "--epoch", str(epoch))
    assert (answer.code, "E7" in answer.err) == (1, True)  # it has not been done, so nothing refers to it


def test_a_plan_file_that_cannot_be_used_is_refused_with_all_that_is_wrong(
    on_store: Call, replanned: Any, proposal: Any, tmp_path: Path
) -> None:
    proposal({})
    (tmp_path / "bad.yaml").write_text(
        "identifier: bad\nname: Bad\ndescription: Bad.\n"
        "steps:\n  - {id: E0, tool_name: notfy, input: {}}\n"
        "  - {id: E1, tool_name: notify, input: {txt: 1}}\n"
    )
    answer = on_store("runs", "propose", replanned.run.id, "bad.yaml", "--epoch", "1")
    assert (answer.code, answer.out) == (2, "")
    assert "bad.yaml:5:14: step E0: unknown tool 'notfy' (did you mean 'notify'?)" in answer.err
    assert "step E1: user__notify needs the argument 'text'" in answer.err
    assert "there is no plan 'none'" in on_store("runs", "propose", "01f", "none", "--epoch", "1").err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "holds no plan"),
        ({"steps": [{"tool_name": 5}]}, "$.steps[0].tool_name"),
        ({"steps": [{"tool": "notify"}]}, "steps[0].tool: there is no field 'tool' (did you mean"),
        ({"steps": [], "undoes": []}, "undoes: there is no field 'undoes' (did you mean 'undo'?)"),
    ],
)
def test_a_proposal_that_is_no_plan(
    on_store: Call, replanned: Any, proposal: Any, content: Any, said: str
) -> None:
    answer = on_store("runs", "propose", replanned.run.id, proposal(content), "--epoch", "1")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


def test_a_proposal_without_tools_to_check_it(on_store: Call, replanned: Any, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text('{"steps": []}')
    answer = on_store("runs", "propose", replanned.run.id, "plan.json", "--epoch", "1")
    assert (answer.code, "checked against the tools" in answer.err) == (2, True)
