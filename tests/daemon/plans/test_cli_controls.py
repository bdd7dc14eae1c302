"""``midcourse plan run`` with control steps: exits, questions, waits, plans in plans, interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from . import terminal

COMMAND = (sys.executable, "-c", "from midcourse.daemon.main import main; main()")
On = Callable[..., Any]


@pytest.fixture
def on_terminal(shop: Path, environment: dict[str, str]) -> On:
    return lambda *arguments: terminal.Terminal(*arguments, cwd=shop, environment=environment)


def exits(status: str, **fields: Any) -> str:
    input = json.dumps({"status": status, **fields})
    return (
        "  - {id: E0, tool_name: stock, input: {sku: lamp}}\n"
        f"  - {{id: E1, tool_name: exit, input: {input}}}\n"
        "  - {id: E2, tool_name: notify, input: {text: never}}\n"
    )


ASKS = """\
  - id: E0
    tool_name: ask
    input:
      prompt: "How many lamps for {{input.who}}?"
      output_schema:
        required: [ok, kind]
        properties:
          ok: {type: boolean}
          kind: {enum: [desk, floor]}
          many: {type: integer, minimum: 1, default: 2}
          note: {type: string}
%s
"""
ORDERS = '{order: "{{E0}}"}'
DEFAULT = "      when_unanswered: default\n      default: {ok: false, kind: desk}"
WHO = "{properties: {who: {default: Mia}}}"


def test_an_exit_prints_its_output_and_says_its_message(call: Any, write: Any) -> None:
    write("early", exits("success", message="enough there", output={"left": "{{E0.left}}"}), output="{x: 1}")
    ran = call("plan", "run", "early", "-q")
    assert (ran.code, ran.json) == (0, {"left": 3})
    assert ran.err.splitlines() == ["enough there"]


def test_an_exit_with_an_error_has_an_exit_code_of_its_own(call: Any, write: Any) -> None:
    write("late", exits("error", message="only {{E0.left}} left", output={"left": "{{E0.left}}"}))
    ran = call("plan", "run", "late", "-q")
    assert (ran.code, ran.json) == (4, {"left": 3})
    assert ran.err.splitlines() == ["Error: plan ended at step E1 (exit): only 3 left"]


def test_json_says_which_exit_it_was(call: Any, write: Any) -> None:
    write("late", exits("error", message="too late"))
    ran = call("plan", "run", "late", "-q", "--json")
    assert (ran.code, ran.json["exit"], ran.json["status"], ran.json["exit_code"]) == (
        4, {"step": "E1", "status": "error", "message": "too late"}, "failed", 4,
    )  # fmt: skip


def test_the_exit_of_a_plan_in_a_plan_is_a_failed_call(call: Any, write: Any) -> None:
    write("inner", exits("error", message="none left"))
    write("outer", "  - {id: P, tool_name: plan__inner, input: {}}\n")
    ran = call("plan", "run", "outer", "-q")
    assert ran.code == 1
    assert ran.err.splitlines() == ["Error: plan failed at step P (plan__inner): none left"]


def test_a_plan_in_a_plan_has_its_defaults_and_checks_its_inputs(call: Any, write: Any, shop: Path) -> None:
    write("outer", "  - {id: P, tool_name: plan__order, input: {sku: lamp}}\n", output="{got: '{{P}}'}")
    assert call("plan", "run", "outer", "-q").json == {"got": {"reservation": "R-lamp", "quantity": 2}}
    write("wrong", "  - {id: P, tool_name: plan__order, input: {sku: 1}}\n")
    ran = call("plan", "run", "wrong", "-q")
    assert ran.code == 1
    said = 'plan__order takes other inputs: sku: 1 is not of type "string"'
    assert ran.err.splitlines() == [f"Error: plan failed at step P (plan__order): {said}"]


def test_where_nobody_can_be_asked_the_step_ends_as_the_plan_says(call: Any, write: Any) -> None:
    write("asks", ASKS % DEFAULT, output=ORDERS, input_schema=WHO)
    assert call("plan", "run", "asks", "-q").json == {
        "order": {"answer": {"ok": False, "kind": "desk"}, "answered": False, "reason": "unavailable"}
    }
    write("asks", ASKS % "", output=ORDERS, input_schema=WHO)
    ran = call("plan", "run", "asks", "-q")
    said = "the question of step E0 has no answer: nobody is there to be asked in autonomous mode"
    assert (ran.code, ran.err.splitlines()[-1]) == (1, f"Error: plan failed at step E0 (ask): {said}")


def test_without_a_terminal_an_interactive_run_waits_for_answers(call: Any, write: Any) -> None:
    write("asks", ASKS % "", output=ORDERS, input_schema=WHO)
    ran = call("plan", "run", "asks", "-q", "--interactive", "--json")
    assert (ran.code, ran.json["attention"][0]["kind"]) == (5, "question")
    call("runs", "answer", ran.json["run"], "E0", '{"ok": true, "kind": "floor"}')
    resumed = call("--json", "runs", "resume", ran.json["run"], "-q")
    assert resumed.json_lines[0]["result"]["order"]["answer"] == {"ok": True, "kind": "floor"}


def test_a_terminal_is_asked_until_the_answer_fits(on_terminal: On, write: Any) -> None:
    write("asks", ASKS % DEFAULT, output=ORDERS, input_schema=WHO)
    screen = on_terminal("plan", "run", "asks", "-q")
    screen.wait_for("Step E0 asks: How many lamps for Mia?")
    for prompt, typed in (
        ("ok (yes or no):", "perhaps"), ("ok is a boolean, not 'perhaps'", "yes"),
        ("kind (desk or floor):", "chair"), ("kind is one of 'desk', 'floor', not 'chair'", "floor"),
        ("many (integer; 2 if left empty):", "0"), ("many is 1 or more, not 0", ""),
        ("note (string; may be left empty):", ""),
    ):  # fmt: skip
        screen.wait_for(prompt)
        screen.type(typed)
    code, out = screen.end()
    assert (code, json.loads(out)) == (
        0, {"order": {"answer": {"ok": True, "kind": "floor", "many": 2}, "answered": True}},
    )  # fmt: skip


def test_an_end_of_file_declines(on_terminal: On, write: Any) -> None:
    write("asks", ASKS % DEFAULT, output=ORDERS, input_schema=WHO)
    screen = on_terminal("plan", "run", "asks", "-q")
    screen.wait_for("ok (yes or no):")
    screen.type(terminal.END_OF_FILE, enter=False)
    screen.wait_for("Declined")
    code, out = screen.end()
    assert (code, json.loads(out)["order"]["reason"]) == (0, "declined")


def test_a_terminal_is_not_asked_with_no_input(on_terminal: On, write: Any) -> None:
    write("asks", ASKS % DEFAULT, output=ORDERS, input_schema=WHO)
    code, out = on_terminal("plan", "run", "asks", "-q", "--no-input").end()
    assert (code, json.loads(out)["order"]["reason"]) == (0, "unavailable")


def test_a_question_that_was_interrupted_is_asked_again_when_the_run_is_resumed(
    on_terminal: On, write: Any
) -> None:
    write("asks", ASKS % "", output=ORDERS, input_schema=WHO)
    screen = on_terminal("plan", "run", "asks", "-q")
    screen.wait_for("ok (yes or no):")
    screen.type(terminal.INTERRUPT, enter=False)
    screen.wait_for("go on with: ")
    assert screen.end()[0] == 130
    command = screen.shown.partition("go on with: ")[2].split()
    assert command[-3:-1] == ["runs", "resume"]
    again = on_terminal("--json", "runs", "resume", command[-1], "-q")
    for typed in ("y", "desk", "7", ""):
        again.wait_for("):\n")
        again.type(typed)
    code, out = again.end()
    assert (code, json.loads(out)["result"]["order"]["answer"]) == (
        0,
        {"ok": True, "kind": "desk", "many": 7},
    )


def test_waits_are_shown_and_end_by_their_time(call: Any, write: Any) -> None:
    steps = (
        "  - {id: E0, tool_name: wait, input: {for_s: 0.01}}\n"
        "  - {id: E1, tool_name: wait, input: {signal: never, timeout_s: 0.01}}\n"
    )
    write("waits", steps, output="{a: '{{E0}}', b: '{{E1.timed_out}}'}")
    ran = call("plan", "run", "waits")
    assert ran.json == {"a": {"timed_out": False}, "b": True}
    assert "E1 for the signal never until 2" in ran.err


def test_a_dag_runs_as_many_tools_at_a_time_as_it_is_told(call: Any, write: Any) -> None:
    steps = "".join(
        f"  - {{id: E{n}, tool_name: stock, input: {{sku: s{n}}}, needs: []}}\n" for n in range(6)
    )
    write("wide", steps)
    ran = call("plan", "run", "wide", "--events", "--concurrency", "2")
    flying, most = 0, 0
    for event in map(json.loads, ran.err.splitlines()):
        flying += (event["topic"] == "step_started") - (event["topic"] == "step_completed")
        most = max(most, flying)
    assert (ran.code, most) == (0, 2)


def test_events_are_all_facts_bodies_included(call: Any, write: Any) -> None:
    steps = (
        "  - id: E0\n    tool_name: map\n"
        "    input: {over: [a, b], do: {tool_name: stock, input: {sku: '{{item}}'}}}\n"
    )
    write("loop", steps, output="{n: '{{E0.count}}'}")
    ran = call("plan", "run", "loop", "--events")
    events = [json.loads(line) for line in ran.err.splitlines()]
    assert [event["data"]["step"] for event in events if event["topic"] == "step_completed"] == [
        "E0/do.0", "E0/do.1",
    ]  # fmt: skip


def test_a_map_that_is_interrupted_goes_on_where_it_was(
    call: Any, write: Any, shop: Path, environment: dict[str, str]
) -> None:
    os.mkfifo(shop / "gate")
    steps = (
        "  - id: E0\n    tool_name: map\n    input:\n      over: [a, b, c]\n      do:\n"
        "        - {id: R, tool_name: reserve, input: {sku: '{{item}}'}}\n"
        "        - {id: G, tool_name: decide_gate, input: {name: '{{item}}'}}\n"
    )
    (shop / "shop.py").write_text(
        (shop / "shop.py").read_text()
        + '\n@tool(effect="read")\ndef decide_gate(name: str) -> str:\n'
        + '    return GATE.read_text() if name == "b" else name\n'
    )
    write("loop", steps, output="{all: '{{E0.results}}'}")
    process = subprocess.Popen(
        [*COMMAND, "plan", "run", "loop"], cwd=shop, env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    seen = ""
    while "E0/do.1/G" not in seen or "step_started" not in seen:
        seen = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    while "Stopping" not in seen:
        seen = process.stderr.readline()
    with (shop / "gate").open("w") as gate:
        gate.write("open")
    _, err = process.communicate()
    assert process.returncode == 130
    command = err.splitlines()[-1].partition("go on with: ")[2].split()
    resumed = call(*command[1:], "--json", "-q").json_lines[0]
    assert (resumed["status"], resumed["result"]) == ("completed", {"all": ["a", "open", "c"]})
    facts = call("audit", "facts", command[-1], "--json").json_lines
    reserved = [fact["data"]["step"] for fact in facts if fact["topic"] == "step_started"]
    assert reserved.count("E0/do.0/R") == reserved.count("E0/do.1/R") == 1


def test_a_plan_that_plans_and_executes_is_checked_shown_and_run(call: Any, shop: Path, write: Any) -> None:
    (shop / "trips.py").write_text(
        "from midcourse import Plan, Step\n\n\n"
        "def plan(context):\n    return Plan([Step('A', 'reserve', {'sku': context.inputs['sku']})])\n"
    )
    (shop / "midcourse.toml").write_text(
        'store = "sqlite:///shop.db"\ntools = ["shop"]\n[planners]\ntrips = "trips:plan"\n'
    )
    do = "{tool_name: plan_and_execute, input: {query: 'get {{item}}', inputs: {sku: '{{item}}'}}}"
    write(
        "many",
        f"  - {{id: E0, tool_name: map, input: {{over: [lamp, desk], do: {do}}}}}\n",
        output="{got: '{{E0.results}}'}",
    )
    write(
        "wrong",
        "  - {id: E0, tool_name: plan_and_execute, input: {query: 7, planner: trip, limits: {replan: 1}}}\n"
        "  - {id: E1, tool_name: plan_and_execute, input: {}}\n",
    )
    said = [line.split(": step ", 1)[-1] for line in call("plan", "validate", "wrong").lines]
    assert said == [
        "E0: plan_and_execute: query: Expected `str`, got `int`",
        "E0: plan_and_execute: there is no planner 'trip' (registered: trips)",
        "E0: plan_and_execute: limits.replan: there is no field 'replan' (did you mean 'replans'?)",
        "E1: plan_and_execute needs the argument 'query'",
        "plans/wrong.yaml: 4 problems",
    ]
    assert call("plan", "validate", "many").code == 0
    assert call("plan", "dry-run", "many", "--json").json["steps"][1]["undo"] == "builtin__take_back"
    ran = call("plan", "run", "many", "-q")
    assert (ran.code, ran.json) == (
        0,
        {"got": [{"id": "R-lamp", "quantity": 1}, {"id": "R-desk", "quantity": 1}]},
    )
    assert len(call("runs", "list", "--json").json["runs"]) == 3
