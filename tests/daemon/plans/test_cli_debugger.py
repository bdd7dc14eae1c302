"""The debugger of ``midcourse plan run``: breakpoints, and what is done at them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from . import terminal

INPUTS = ("-q", "-i", "sku=lamp")


@pytest.fixture
def debug(call: Any, shop: Path) -> Any:
    """Run the order with commands for the debugger."""

    def run(commands: str, *arguments: str) -> Any:
        (shop / "commands").write_text(commands)
        return call("plan", "run", "order", *INPUTS, "--debug-commands", "commands", *arguments)

    return run


def facts(call: Any, topic: str) -> list[dict[str, Any]]:
    [run] = call("runs", "list", "--json").json["runs"]
    lines = call("audit", "facts", run["run_id"], "--json").json_lines
    return [line for line in lines if line["topic"] == topic]


def test_every_step_is_held_and_lets_be_looked_at(debug: Any) -> None:
    ran = debug("proceed\n# what E1 sees\nscope\nscope E0.left\ninput\nproceed\np\n", "--step")
    assert (ran.code, ran.json) == (0, {"reservation": "R-lamp", "quantity": 2})
    said = ran.err.splitlines()
    for line in (
        "Held before step E0: user__stock", "  board = {}",
        '  input = {"sku":"lamp","quantity":2,"who":"Mia"}',
        '  E0 = {"sku":"lamp","left":3,"shelves":[]}', "  3", '  {"sku":"lamp","quantity":2}',
        "Held before step E2: user__notify",
    ):  # fmt: skip
        assert line in said


def test_a_step_that_is_skipped_has_the_result_that_was_given(debug: Any, call: Any) -> None:
    ran = debug('skip\nskip {"id": "by hand", "quantity": 9}\n', "--break", "E0", "--break", "E1")
    assert ran.code == 1  # E0 without a result, and E2 reads it
    assert "empty data at 'E0.left': E0 is null" in ran.err
    injected = facts(call, "result_injected")
    assert [(each["data"]["step"], each["actor"].partition(":")[0]) for each in injected] == [
        ("E0", "host"), ("E1", "host"),
    ]  # fmt: skip
    assert facts(call, "compensation_issued") == []


def test_a_failure_is_replaced_by_a_result(debug: Any, call: Any) -> None:
    ran = debug('skip 1\nreplace {"sent": "by phone"}\n', "--break-on-error", "-i", "who=nobody")
    assert (ran.code, ran.json["reservation"]) == (0, "R-lamp")
    assert "Step E2 has failed already; say replace JSON" in ran.err
    [fact] = facts(call, "result_injected")
    assert (fact["data"]["had_failed"], fact["data"]["result"]) == (True, {"sent": "by phone"})


def test_a_run_that_is_aborted_is_undone(debug: Any) -> None:
    ran = debug("abort I have seen enough\n", "--break", "E2")
    assert ran.code == 1
    assert ran.err.splitlines()[-2:] == [
        "Error: the run was cancelled: I have seen enough",
        "Undone: user__reserve (step E1)",
    ]


def test_breakpoints_are_added_and_cleared(debug: Any) -> None:
    ran = debug("break E2\nproceed\ncontinue\n", "--break", "E1")
    assert ran.code == 0
    assert [line for line in ran.err.splitlines() if line.startswith("Held before step")] == [
        "Held before step E1: user__reserve", "Held before step E2: user__notify",
    ]  # fmt: skip


def test_what_cannot_be_understood_is_said_and_asked_again(debug: Any) -> None:
    ran = debug("go\ns\nskip {\nreplace 1\nbreak\nscope E9\nhelp\nproceed\n", "--break", "E1")
    assert ran.code == 0
    for said in (
        "'go' is no command: proceed, skip", "'s' is one of several commands: skip, scope",
        "'{' is not JSON", "Step E1 was not begun; say skip JSON", "break needs a step",
        "template references step 'E9' which has no result (available: E0)", "abort [REASON]: cancel the run",
    ):  # fmt: skip
        assert said in ran.err


def test_a_run_that_is_left_held_goes_on_by_another_command(debug: Any, call: Any) -> None:
    ran = debug("quit\n", "--break", "E1", "--break", "E2", "--json")
    run = ran.json["run"]
    assert (ran.code, ran.json["attention"][0]["kind"]) == (5, "breakpoint")
    assert f"midcourse runs release {run} E1 --result JSON" in ran.err
    assert "held" in call("runs", "show", run).out
    assert (
        call(
            "runs", "release", run, "E1", "--result", '{"id": 1, "quantity": 2}', "--reason", "by phone"
        ).code
        == 0
    )
    assert call("runs", "resume", run, "-q").code == 5
    assert call("runs", "release", run, "E2", "--reason", "none").code == 2
    assert call("runs", "release", run, "E2").code == 0
    assert call("runs", "resume", run, "-q").code == 0
    assert "injected" in call("runs", "show", run).out


def test_commands_may_come_from_standard_input(call: Any, shop: Path) -> None:
    ran = call(
        "plan",
        "run",
        "order",
        *INPUTS,
        "--step",
        "--debug-commands",
        "-",
        stdin="proceed\nproceed\nproceed\n",
    )
    assert ran.code == 0


def test_a_debugger_needs_somebody(call: Any, shop: Path) -> None:
    ran = call("plan", "run", "order", *INPUTS, "--step")
    assert (ran.code, "breakpoints need a terminal" in ran.err) == (2, True)
    assert call("plan", "run", "order", *INPUTS, "--debug-commands", "x").code == 2
    assert call("plan", "run", "order", *INPUTS, "--step", "--debug-commands", "nothing").code == 2


def test_steps_of_bodies_are_held_by_path(call: Any, write: Any, shop: Path) -> None:
    steps = (
        "  - id: E0\n    tool_name: map\n"
        "    input: {over: [a, b], do: {tool_name: stock, input: {sku: '{{item}}'}}}\n"
    )
    write("loop", steps, output="{all: '{{E0.results}}'}")
    (shop / "commands").write_text("scope item\nskip 7\n")
    ran = call("plan", "run", "loop", "-q", "--break", "E0/do.1", "--debug-commands", "commands")
    assert (ran.code, ran.json["all"][1]) == (0, 7)
    assert '  "b"' in ran.err.splitlines()


def test_a_terminal_takes_commands(shop: Path, environment: dict[str, str]) -> None:
    screen = terminal.Terminal(
        "plan", "run", "order", *INPUTS, "--break", "E1", cwd=shop, environment=environment
    )
    for typed in ("scope E0.left", 'skip {"id": "X", "quantity": 1}'):
        screen.wait_for("debug>")
        screen.type(typed)
    code, out = screen.end()
    assert (code, json.loads(out)) == (0, {"reservation": "X", "quantity": 1})


def test_an_interrupt_at_a_breakpoint_leaves_a_run_that_is_held(
    shop: Path, environment: dict[str, str]
) -> None:
    screen = terminal.Terminal(
        "plan", "run", "order", *INPUTS, "--break", "E1", cwd=shop, environment=environment
    )
    screen.wait_for("debug>")
    screen.type(terminal.INTERRUPT, enter=False)
    screen.wait_for("go on with: ")
    assert screen.end()[0] == 130
    run = screen.shown.partition("go on with: ")[2].split()[-1]
    again = terminal.Terminal("runs", "resume", run, "-q", cwd=shop, environment=environment)
    again.wait_for("debug>")
    again.type("proceed")
    assert again.end()[0] == 0
