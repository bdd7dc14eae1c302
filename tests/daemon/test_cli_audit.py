"""``audit facts``, ``at``, ``verify``, ``why`` and ``diff``: offline, read-only, and not to be fooled."""

import hashlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from midcourse.store import GENESIS, open_journal

Call = Callable[..., Any]


def edit(store: Path, statement: str, *parameters: Any) -> None:
    connection = sqlite3.connect(store)
    connection.execute(statement, parameters)
    connection.commit()
    connection.close()


def picture(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_facts(on_store: Call, replanned: Any) -> None:
    answer = on_store("audit", "facts", replanned.run.id)
    assert (answer.code, answer.err, len(answer.lines)) == (0, "", 14)
    assert answer.lines[0] == (
        "     1  2030-03-17 17:46:40.000  engine             run_started             "
        'deliver order 42 {"sku":"lamp"} planner=orders'
    )
    assert answer.lines[12] == (
        "    13  2030-03-17 17:46:51.000  engine        ←12  plan_accepted           "
        "revision 2 by planner · kept E0 · added E2, E3 · superseded E1 · stability 3 · sea goes there"
    )


def test_facts_as_json_lines_hold_the_chain(on_store: Call, replanned: Any) -> None:
    facts = on_store("audit", "facts", replanned.run.id, "--json").json_lines
    assert [fact["version"] for fact in facts] == list(range(1, 15))
    assert [fact["prev"] for fact in facts] == [GENESIS, *(fact["hash"] for fact in facts[:-1])]
    assert {name: facts[0][name] for name in ("run", "at", "actor", "cause", "topic", "schema")} == {
        "run": replanned.run.id,
        "at": 1_900_000_000.0,
        "actor": "engine",
        "cause": 0,
        "topic": "run_started",
        "schema": 1,
    }
    assert facts[0]["data"]["goal"] == {"text": "deliver order 42", "inputs": {"sku": "lamp"}}
    assert [fact["version"] for fact in facts if fact["moves_epoch"]] == [1, 4, 6, 8, 9, 10, 13]


def test_facts_of_a_range(on_store: Call, replanned: Any) -> None:
    facts = on_store("audit", "facts", "key:order-42", "--after", "3", "--until", "5", "--json").json_lines
    assert [fact["version"] for fact in facts] == [4, 5]


@pytest.mark.parametrize("moment", ["7", "2030-03-17T17:46:45Z", "2030-03-17T17:46:46.5"])
def test_at_a_version_or_time(on_store: Call, replanned: Any, moment: str) -> None:
    answer = on_store("audit", "at", replanned.run.id, moment)
    assert answer.err == "As it was after fact 7, 2030-03-17 17:46:45.000\n"
    assert answer.lines[0] == f"Run {replanned.run.id}  running  version 7, epoch 6"
    state = on_store("audit", "at", replanned.run.id, moment, "--json").json
    assert [(step["id"], step["state"]) for step in state["steps"]] == [("E0", "done"), ("E1", "running")]
    assert [entry["step"] for entry in state["ledger"]] == ["E0"]
    assert (state["revision"], state["board"]) == (1, {})


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        ("15", "has facts 1 to 14, no fact 15"),
        ("0", "has facts 1 to 14, no fact 0"),
        ("2030-01-01", "did not exist at 2030-01-01"),
        ("noon", "is not a time such as"),
    ],
)
def test_at_a_moment_that_is_none(on_store: Call, replanned: Any, moment: str, said: str) -> None:
    answer = on_store("audit", "at", replanned.run.id, moment)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


def test_verify_an_unaltered_store(on_store: Call, replanned: Any) -> None:
    answer = on_store("audit", "verify")
    fits = "✓ 1 run, 14 facts checked: every record fits the one before it, and none is missing\n"
    assert (answer.code, answer.out, answer.err) == (0, fits, "")
    assert on_store("audit", "verify", replanned.run.id).out == fits
    document = on_store("audit", "verify", "--json").json
    assert (document["fits"], document["checked"], document["problems"]) == (
        True,
        {"runs": 1, "facts": 14},
        [],
    )


@pytest.mark.parametrize(
    ("statement", "version", "what"),
    [
        ("UPDATE stored_events SET state = replace(state, 'R-1', 'R-2') WHERE originator_version = 6", 6,
         "was altered"),
        ("UPDATE stored_events SET state = NULL WHERE originator_version = 6", 6, "was altered"),
        ("UPDATE stored_events SET topic = 'run_failed' WHERE originator_version = 6", 6, "was altered"),
        ("DELETE FROM stored_events WHERE originator_version = 6", 6, "is missing"),
        ("DELETE FROM stored_events WHERE originator_version = 14", 14, "is missing"),
        ("UPDATE run_heads SET hash = hex(zeroblob(32))", 14, "was altered"),
    ],
)  # fmt: skip
def test_verify_names_the_first_record_that_does_not_fit(
    on_store: Call, replanned: Any, statement: str, version: int, what: str
) -> None:
    edit(replanned.store, statement)
    answer = on_store("audit", "verify")
    assert (answer.code, len(answer.lines)) == (1, 1)
    assert answer.lines[0].startswith(f"run {replanned.run.id}: record {version} {what}")
    assert answer.err == "1 run, 14 facts checked: 1 run does not fit\n"
    document = on_store("--json", "audit", "verify", replanned.run.id)
    assert (document.code, document.json["fits"]) == (1, False)
    assert [problem["version"] for problem in document.json["problems"]] == [version]


def test_a_record_that_does_not_read_is_named(on_store: Call, replanned: Any) -> None:
    edit(replanned.store, "UPDATE stored_events SET state = '{\"schema\":1,' WHERE originator_version = 6")
    for command in (("audit", "facts"), ("runs", "show"), ("runs", "resume"), ("runs", "cancel")):
        answer = on_store(*command, replanned.run.id)
        assert answer.code == 1
        assert f"record 6 of run {replanned.run.id} is damaged" in answer.err
        assert "`midcourse audit verify`" in answer.err


def test_a_record_that_is_gone_is_named(on_store: Call, replanned: Any) -> None:
    edit(replanned.store, "DELETE FROM stored_events WHERE originator_version = 6")
    answer = on_store("runs", "show", replanned.run.id)
    assert (answer.code, answer.out) == (1, "")
    assert f"record 6 of run {replanned.run.id} is damaged: it is missing" in answer.err


def test_a_record_that_does_not_follow_is_named(on_store: Call, replanned: Any) -> None:
    state = {
        "schema": 1,
        "at": 0.0,
        "actor": "x",
        "cause": 0,
        "prev": "",
        "data": {"operation": "o", "attempt": 1},
    }
    statement = (
        "UPDATE stored_events SET topic = 'compensation_started', state = ? WHERE originator_version = 6"
    )
    edit(replanned.store, statement, json.dumps(state, separators=(",", ":")).encode())
    answer = on_store("runs", "show", replanned.run.id)
    assert answer.code == 1
    assert (
        f"record 6 of run {replanned.run.id} is damaged: its compensation_started does not follow"
        in answer.err
    )


def test_a_store_from_a_newer_schema(on_store: Call, replanned: Any) -> None:
    edit(replanned.store, "PRAGMA user_version = 99")
    for command in (("runs", "list"), ("audit", "verify"), ("runs", "cancel", "x"), ("runs", "resume")):
        answer = on_store(*command)
        assert (answer.code, answer.out) == (1, "")
        assert "has store format 99, written by a newer Midcourse" in answer.err


def test_audits_change_nothing(on_store: Call, replanned: Any, tmp_path: Path) -> None:
    run, before = replanned.run.id, picture(tmp_path)
    for command in (
        ("facts", run),
        ("at", run, "7"),
        ("verify",),
        ("why", run, "E0"),
        ("diff", run, "1", "2"),
    ):
        assert on_store("audit", *command).code == 0
    assert picture(tmp_path) == before


async def test_audits_work_beside_an_engine(on_store: Call, replanned: Any) -> None:
    async with open_journal(f"sqlite:///{replanned.store}", owner=True):
        assert on_store("audit", "verify").code == 0
        assert len(on_store("audit", "facts", replanned.run.id).lines) == 14


def test_why_a_step(on_store: Call, replanned: Any) -> None:
    causes = on_store("audit", "why", replanned.run.id, "E2", "--json").json_lines
    assert [(fact["version"], fact["topic"]) for fact in causes[-4:]] == [
        (8, "step_failed"),
        (11, "plan_requested"),
        (12, "plan_proposed"),
        (14, "step_started"),
    ]
    assert causes[0]["topic"] == "run_started"
    lines = on_store("audit", "why", replanned.run.id, "E2").lines
    assert [int(line.split()[0]) for line in lines] == [fact["version"] for fact in causes]


def test_why_a_revision(on_store: Call, replanned: Any) -> None:
    causes = on_store("audit", "why", replanned.run.id, "2", "--json").json_lines
    assert [fact["version"] for fact in causes[-3:]] == [11, 12, 13]


def test_why_something_that_never_was(on_store: Call, replanned: Any) -> None:
    answer = on_store("audit", "why", replanned.run.id, "E9")
    assert (answer.code, answer.out) == (2, "")
    assert "'E9' never came up (steps E0, E1, E2; revisions 1, 2)" in answer.err


def test_diff(on_store: Call, replanned: Any) -> None:
    assert on_store("audit", "diff", replanned.run.id, "1", "2").lines == [
        '= E0 reserve {"sku":"lamp"}',
        '- E1 express {"to":"island"}',
        '+ E2 sea {"to":"island"}',
        '+ E3 notify {"text":"by sea"}',
    ]
    document = on_store("audit", "diff", replanned.run.id, "2", "1", "--json").json
    assert {name: [step["id"] for step in document[name]] for name in ("same", "removed", "added")} == {
        "same": ["E0"],
        "removed": ["E2", "E3"],
        "added": ["E1"],
    }


def test_diff_with_a_revision_that_never_was(on_store: Call, replanned: Any) -> None:
    answer = on_store("audit", "diff", replanned.run.id, "1", "3")
    assert (answer.code, answer.out) == (2, "")
    assert "there are revisions 1 to 2, no 3" in answer.err
