"""Control steps of plan files, carried out by ``midcourse plan run``."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

COMMAND = (sys.executable, "-c", "from midcourse.daemon.main import main; main()")
ASK = """\
  - id: Q
    tool_name: ask
    input:
      prompt: Which lamp?
      output_schema:
        type: object
        required: [sku]
        properties: {sku: {type: string}, count: {type: integer}}
      when_unanswered: default
      default: {sku: none}
"""


def test_a_map_over_a_list_with_a_filter_before(call: Any, write: Any) -> None:
    write(
        "each",
        """\
  - {id: F, tool_name: filter, input: {over: "{{input.names}}", where: {expr: "item != 'desk'"}}}
  - id: M
    tool_name: map
    input: {over: "{{F.items}}", concurrency: 2, do: {tool_name: stock, input: {sku: "{{item}}"}}}
""",
        output='{left: "{{M.results}}", dropped: "{{F.dropped}}"}',
    )
    ran = call("plan", "run", "each", '{"names": ["lamp", "desk", "bed"]}', "-q")
    assert [each["sku"] for each in ran.json["left"]] == ["lamp", "bed"]
    assert (ran.code, ran.json["dropped"]) == (0, ["desk"])


@pytest.mark.parametrize(("status", "code"), [("success", 0), ("error", 4)])
def test_an_exit_ends_the_run_with_its_code_and_output(call: Any, write: Any, status: str, code: int) -> None:
    write(
        "leave",
        f"""\
  - id: E0
    tool_name: exit
    input:
      when: {{value: "{{{{input.names}}}}", op: empty}}
      status: {status}
      message: nothing to do
      output: {{why: none}}
  - {{id: E1, tool_name: notify, input: {{text: hello}}}}
""",
    )
    ran = call("plan", "run", "leave", '{"names": []}', "-q")
    assert ran.code == code
    assert "nothing to do" in ran.err
    assert ran.json == {"why": "none"}


def test_a_plan_calls_another_of_its_folder(call: Any, shop: Path, write: Any) -> None:
    write(
        "outer",
        "  - {id: P, tool_name: plan__order, input: {sku: lamp, quantity: 1, who: Mia}}\n",
        output='{got: "{{P.reservation}}"}',
    )
    ran = call("plan", "run", "outer", "-q")
    assert (ran.code, ran.json) == (0, {"got": "R-lamp"})


def test_without_a_terminal_a_question_ends_as_its_plan_says(call: Any, write: Any) -> None:
    write("query", ASK, output='{sku: "{{Q.answer.sku}}", how: "{{Q.reason}}"}')
    ran = call("plan", "run", "query", "-q")
    assert (ran.code, ran.json) == (0, {"sku": "none", "how": "unavailable"})


@pytest.mark.parametrize(
    ("typed", "result"),
    [
        ("lamp\nmany\n", None),
        ("lamp\n\n", {"sku": "lamp", "answered": True}),
        ("\x04", {"sku": "none", "answered": False}),
    ],
)
def test_at_a_terminal_a_question_is_asked_until_it_fits(
    shop: Path, write: Any, typed: str, result: dict[str, Any] | None
) -> None:
    write("query", ASK, output='{sku: "{{Q.answer.sku}}", answered: "{{Q.answered}}"}')
    if result is None:
        typed, result = f"{typed}lamp\n3\n", {"sku": "lamp", "answered": True}
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "plan", "run", "query"], cwd=shop, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    while b"sku (" not in shown:
        shown += os.read(ours, 1024)
    os.write(ours, typed.encode())
    out, _ = process.communicate(timeout=60)
    os.close(ours)
    assert (process.returncode, json.loads(out)) == (0, result)
    assert b"Which lamp?" in shown
