"""``midcourse plan run``: results, inputs, exit codes, what goes where, interruption."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from midcourse.store import open_journal

COMMAND = (sys.executable, "-c", "from midcourse.daemon.main import main; main()")
COMPLETED = {"reservation": "R-lamp", "quantity": 2}


def test_the_result_is_all_there_is_on_standard_output(call: Any, shop: Path) -> None:
    ran = call("plan", "run", "order", "--input", "sku=lamp")
    assert (ran.code, ran.json) == (0, COMPLETED)
    assert "run_completed" in ran.err
    assert call("runs", "list", "--json").json["runs"][0]["goal"] == "Order"


@pytest.mark.parametrize(
    "arguments",
    [
        ('{"sku": "lamp"}',),
        ("@inputs.json",),
        ("-",),
        ("-i", "sku=lamp"),
        ('{"sku": "desk"}', "--input", "sku=lamp"),
    ],
    ids=["document", "file", "stdin", "pairs", "pairs over a document"],
)
def test_inputs_in_all_forms(call: Any, shop: Path, arguments: tuple[str, ...]) -> None:
    (shop / "inputs.json").write_text('{"sku": "lamp"}')
    ran = call("plan", "run", "order", *arguments, stdin='{"sku": "lamp"}')
    assert (ran.code, ran.json) == (0, COMPLETED)


def test_a_reviewer_of_the_configuration_looks_at_steps(call: Any, shop: Path) -> None:
    (shop / "looks.py").write_text("def look(about):\n    return 'step' if about.round == 1 else 'ok'\n")
    with (shop / "midcourse.toml").open("a") as config:
        config.write('[reviewers]\nquality = "looks:look"\n[authority]\n')
        config.write('reviews = [{ tool = "reserve", by = "quality" }]\n')
    ran = call("plan", "run", "order", "--input", "sku=lamp")
    assert (ran.code, ran.json) == (0, COMPLETED)
    assert ran.err.count("step_reviewed") == 2
    assert "compensation_completed" in ran.err


def test_a_value_is_read_as_what_the_schema_wants(call: Any, shop: Path) -> None:
    ran = call("plan", "run", "order", "-i", "sku=42", "-i", "quantity=3", "-q")
    assert (ran.code, ran.json) == (0, {"reservation": "R-42", "quantity": 3})
    assert ran.err.splitlines()[1:] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), ['  - "sku" is a required property']),
        (
            ('{"sku": 1, "quantity": 0}',),
            ['  - sku: 1 is not of type "string"', ("  - quantity: 0 is less than the minimum of 1")],
        ),
    ],
)
def test_wrong_inputs_are_all_named_with_the_schema(
    call: Any, shop: Path, arguments: tuple[str, ...], said: list[str]
) -> None:
    ran = call("plan", "run", "order", *arguments)
    assert (ran.code, ran.out) == (3, "")
    lines = ran.err.splitlines()
    assert lines[0] == "Error: plan order needs other inputs:"
    assert sorted(lines[1 : 1 + len(said)]) == sorted(said)
    assert lines[1 + len(said)] == "input schema:"
    assert json.loads("\n".join(lines[2 + len(said) :]))["required"] == ["sku"]
    assert not (shop / "shop.db").exists()


@pytest.mark.parametrize("arguments", [("{",), ("[1]",), ("-i", "sku"), ("@nothing.json",)])
def test_inputs_that_cannot_be_read_are_wrong_usage(
    call: Any, shop: Path, arguments: tuple[str, ...]
) -> None:
    assert call("plan", "run", "order", *arguments).code == 2


def test_a_failure_says_what_was_undone_and_what_stands(call: Any, write: Any) -> None:
    write(
        "fails",
        "  - {id: E0, tool_name: reserve, input: {sku: lamp}}\n"
        "  - {id: E1, tool_name: notify, input: {text: Mia}}\n"
        "  - {id: E2, tool_name: notify, input: {text: nobody}}\n",
    )
    ran = call("plan", "run", "fails", "-q")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.splitlines()[-3:] == [
        "Error: plan failed at step E2 (user__notify): there is nobody of that name",
        "Undone: user__reserve (step E0)",
        "Stands: user__notify (step E1)",
    ]


def test_effects_stand_where_the_plan_says_so(call: Any, write: Any) -> None:
    steps = (
        "  - {id: E0, tool_name: reserve, input: {sku: lamp}}\n"
        "  - {id: E1, tool_name: notify, input: {text: nobody}}\n"
    )
    write("fails", steps, compensate_on_failure="false")
    assert call("plan", "run", "fails", "-q").err.splitlines()[-1] == "Stands: user__reserve (step E0)"


def test_a_template_that_leads_nowhere_fails_with_what_is_there(call: Any, write: Any) -> None:
    steps = (
        "  - {id: E0, tool_name: stock, input: {sku: a}}\n"
        "  - {id: E1, tool_name: notify, input: {text: '{{E0.lft}}'}}\n"
    )
    write("paths", steps)
    ran = call("plan", "run", "paths", "-q")
    assert (ran.code, ran.err.splitlines()[-1]) == (
        1,
        (
            "Error: plan failed at step E1 (user__notify): bad path 'E0.lft': no key 'lft' at E0 "
            "(available: left, shelves, sku)"
        ),
    )


def test_no_data_is_told_apart(call: Any, write: Any) -> None:
    write("empty", "  - {id: E0, tool_name: stock, input: {sku: a}}\n", output="{first: '{{E0.shelves.0}}'}")
    ran = call("plan", "run", "empty", "-q", "--json")
    assert ran.code == 1
    assert (ran.json["status"], ran.json["failure"]["empty_data"]) == ("failed", True)
    assert ran.json["failure"]["message"] == "empty data at 'E0.shelves.0': E0.shelves is an empty array"


def test_json_is_one_document_however_it_ends(call: Any, shop: Path) -> None:
    document = call("--json", "plan", "run", "order", "-i", "sku=lamp").json
    run = document.pop("run")
    assert document == {
        "plan": "order", "status": "completed", "result": COMPLETED, "exit": None, "failure": None,
        "attention": [], "exit_code": 0,
    }  # fmt: skip
    assert call("runs", "show", run, "--json").json["tags"] == {"plan": "order"}


def test_a_plan_without_output_is_silent(call: Any, write: Any) -> None:
    write("silent", "  - {id: E0, tool_name: notify, input: {text: hello}}\n")
    ran = call("plan", "run", "silent")
    assert (ran.code, ran.out) == (0, "")


def test_events_are_lines_of_json_on_standard_error(call: Any, shop: Path) -> None:
    ran = call("plan", "run", "order", "-i", "sku=lamp", "--events")
    events = [json.loads(line) for line in ran.err.splitlines()]
    assert (ran.json, events[0]["topic"], events[-1]["topic"]) == (COMPLETED, "run_started", "run_completed")
    assert [event["version"] for event in events] == list(range(1, len(events) + 1))


@pytest.mark.parametrize(
    ("inputs", "code", "said"),
    [
        (["-i", "sku=lamp", "-i", "who=nobody"], 1, "Error: plan failed at step E2"),
        ([], 3, "Error: plan order needs other inputs"),
    ],
)
def test_with_events_all_of_standard_error_is_lines_of_json(
    call: Any, shop: Path, inputs: list[str], code: int, said: str
) -> None:
    ran = call("plan", "run", "order", *inputs, "--events")
    lines = [json.loads(line) for line in ran.err.splitlines()]
    assert ran.code == code
    assert all({"topic", "note", "level"} & line.keys() for line in lines)
    assert any(line.get("note", "").startswith(said) for line in lines)


def test_a_key_starts_a_run_once(call: Any, shop: Path) -> None:
    first, second = (
        call("--json", "plan", "run", "order", "-i", "sku=lamp", "--key", "k").json for _ in "ab"
    )
    assert first == second
    assert len(call("runs", "list", "--json").json["runs"]) == 1


def test_a_wrong_plan_is_not_started(call: Any, write: Any, shop: Path) -> None:
    write("broken", "  - {id: E0, tool_name: stok, input: {}}\n")
    ran = call("plan", "run", "broken")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.splitlines() == [
        "plans/broken.yaml:5:14: step E0: unknown tool 'stok' (did you mean 'stock'?)",
        "Error: plan broken cannot run; nothing was started",
    ]
    assert not (shop / "shop.db").exists()
    assert call("plan", "run", "nothing").code == 2


def test_a_solver_needs_a_model(call: Any, write: Any) -> None:
    steps = "  - {id: E0, tool_name: stock, input: {sku: a}}\n"
    write("prose", steps, solver="{query_to_answer: what is left?, data: {stock: '{{E0}}'}}")
    assert call("plan", "validate", "prose").code == 0
    ran = call("plan", "run", "prose")
    assert (ran.code, ran.err) == (
        1,
        (
            "Error: plan prose has a solver, and no model is configured to write its answer; give it "
            "an `output` "
            "instead\n"
        ),
    )


def test_what_this_version_does_not_carry_out_is_refused(call: Any, write: Any) -> None:
    task = "{prompt: say it, output_schema: {type: object}}"
    write("clever", f"  - {{id: E0, tool_name: agent, input: {task}}}\n")
    ran = call("plan", "run", "clever")
    assert (ran.code, ran.err) == (
        1,
        "Error: plan clever asks for what this version does not carry out: 'agent' (step E0)\n",
    )


def test_a_run_that_waits_for_a_person_says_what_for(call: Any, write: Any) -> None:
    write("slow", "  - {id: E0, tool_name: slow, input: {}}\n")
    ran = call("plan", "run", "slow", "-q", "--json")
    assert (ran.code, ran.json["status"], ran.json["exit_code"]) == (5, "attention", 5)
    assert ran.json["attention"][0]["kind"] == "unknown_outcome"
    assert f"midcourse runs settle {ran.json['run']}" in ran.err


def test_a_store_that_another_engine_owns_is_left_to_it(call: Any, shop: Path) -> None:
    call("plan", "run", "order", "-i", "sku=lamp")
    journal = open_journal(f"sqlite:///{shop / 'shop.db'}", owner=True)
    ran = call("plan", "run", "order", "-i", "sku=lamp")
    journal.close()
    assert (ran.code, ran.out, "Error: " in ran.err) == (1, "", True)
    assert len(call("runs", "list", "--json").json["runs"]) == 1


def test_a_dag_runs(call: Any, write: Any) -> None:
    write(
        "dag",
        "  - {id: c, tool_name: notify, input: {text: '{{a.sku}} {{b.sku}}'}, needs: []}\n"
        "  - {id: a, tool_name: stock, input: {sku: x}}\n"
        "  - {id: b, tool_name: stock, input: {sku: y}}\n",
        output="{sent: '{{c.sent}}'}",
    )
    assert call("plan", "run", "dag", "-q").json == {"sent": "x y"}


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_can_be_resumed_as_it_says(
    call: Any, write: Any, shop: Path, environment: dict[str, str], number: signal.Signals, code: int
) -> None:
    os.mkfifo(shop / "gate")
    steps = (
        "  - {id: E0, tool_name: reserve, input: {sku: lamp}}\n  - {id: E1, tool_name: gate, input: {}}\n"
        "  - {id: E2, tool_name: notify, input: {text: '{{E1}}'}}\n"
    )
    write("waits", steps, output="{sent: '{{E2.sent}}', reservation: '{{E0.id}}'}")
    process = subprocess.Popen(
        [*COMMAND, "plan", "run", "waits"],
        cwd=shop,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    seen = ""
    while "gate" not in seen or "step_started" not in seen:
        seen = process.stderr.readline()
    process.send_signal(number)
    seen = process.stderr.readline()
    assert "Stopping: running steps may finish" in seen
    with (shop / "gate").open("w") as gate:
        gate.write("open")
    out, err = process.communicate()
    assert (process.returncode, out) == (code, "")
    said = err.splitlines()[-1]
    command = said.partition("go on with: ")[2].split()
    assert command[-3:-1] == ["runs", "resume"]
    resumed = call(*command[1:], "--json", "-q")
    ending = resumed.json_lines[0]
    assert (ending["status"], ending["result"]) == ("completed", {"sent": "open", "reservation": "R-lamp"})


def test_the_priority_of_a_run_and_the_limits_of_the_configuration_are_kept_with_it(
    call: Any, shop: Path
) -> None:
    with (shop / "midcourse.toml").open("a") as file:
        file.write('[limits]\nreplans = 3\nbudgets = [{ steps = 2, then = "fail" }]\n')
    ran = call("plan", "run", "order", "-i", "sku=lamp", "--priority", "low", "--key", "one", "-q")
    assert (ran.code, "steps" in ran.err) == (1, True)
    shown = call("runs", "show", "key:one", "--json").json
    assert (shown["priority"], shown["limits"]["replans"], shown["usage"]["steps"]) == ("low", 3, 2)
    assert any(line.split() == ["priority", "low"] for line in call("runs", "show", "key:one").lines)
