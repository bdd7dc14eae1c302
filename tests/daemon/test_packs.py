"""Packs of built-in tools in the configuration, and plans that use them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

PLAN = """
identifier: note
name: Note
description: Writes down when it was.
steps:
  - {id: N, tool_name: builtin__now, input: {}}
  - {id: S, tool_name: builtin__reshape, input: {value: {at: "{{N.unix}}", zone: "{{N.zone}}"}}}
  - {id: W, tool_name: builtin__write_file, input: {path: at.json, content: "{{S}}", format: json}}
  - {id: R, tool_name: builtin__read_file, input: {path: at.json, format: json}}
  - {id: X, tool_name: builtin__exec, input: {argv: [PYTHON, "-c", "import os; print(os.listdir('.'))"]}}
output: {zone: "{{R.content.zone}}", files: "{{X.stdout}}"}
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    (tmp_path / "plans").mkdir()
    path = tmp_path / "plans" / "note.yaml"
    path.write_text(PLAN.replace("PYTHON", json.dumps(sys.executable)))
    return path


def test_a_plan_works_with_the_packs_that_are_enabled(call: Any, plan: Path, tmp_path: Path) -> None:
    (tmp_path / "midcourse.toml").write_text(
        f'[packs.data]\n[packs.files]\nroot = "out"\n[packs.exec]\nprograms = ["{sys.executable}"]\n'
        'folder = "out"\n[packs.http]\nhosts = ["x"]\n'
    )
    assert call("plan", "validate").out == "plans/note.yaml: valid\n"
    result = call("plan", "run", "note", "-q").json
    assert result["zone"] == "UTC"
    assert "at.json" in result["files"]
    assert json.loads((tmp_path / "out" / "at.json").read_text())["zone"] == "UTC"
    tools = {line.split()[0]: line.split()[1] for line in call("tools", "list").lines[1:]}
    assert tools == {
        "builtin__exec": "irreversible", "builtin__http": "read", "builtin__now": "read",
        "builtin__read_file": "read", "builtin__reshape": "read", "builtin__restore_file": "irreversible",
        "builtin__write_file": "reversible",
    }  # fmt: skip


def test_what_a_built_in_tool_does_not_return_is_warned_of(call: Any, plan: Path, tmp_path: Path) -> None:
    (tmp_path / "midcourse.toml").write_text(
        '[packs.data]\n[packs.files]\nroot = "out"\n[packs.exec]\nprograms = ["*"]\n'
    )
    plan.write_text(plan.read_text().replace("{{X.stdout}}", "{{X.out}} {{R.content.any.thing}} {{N.iso.x}}"))
    answer = call("plan", "validate")
    assert answer.code == 0
    assert [line.partition("warning: ")[2] for line in answer.lines] == [
        (
            "{{X.out}} does not fit the output_schema of builtin__exec: no key 'out' at X "
            "(did you mean 'stdout'?)"
        ),
        "{{N.iso.x}} does not fit the output_schema of builtin__now: cannot read 'x' from a string at N.iso",
        "",
    ]


def test_without_its_pack_a_tool_is_not_there_and_what_to_write_is_said(call: Any, plan: Path) -> None:
    answer = call("plan", "validate")
    assert answer.code == 1
    assert answer.lines[0] == (
        "plans/note.yaml:6:13: step N: built-in tool 'builtin__now' is in the pack 'data', which is not "
        "enabled; write [packs.data] into midcourse.toml, or hand the tools of data_pack() to the engine"
    )
    assert [line for line in answer.lines if "write [packs.exec] with programs = ['git'] into" in line]
    assert call("plan", "run", "note").code == 1


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("packs = ['files']", "packs: must be tables such as [packs.files], with root = 'files'"),
        ("[packs.file]", "packs.file: unknown pack (did you mean 'files'?)"),
        ("[packs.xyz]", "packs.xyz: unknown pack (there are: data, exec, files, http)"),
        ("[packs.files]", "packs.files: needs root"),
        ("[packs.data]\nroot = 1", "packs.data.root: unknown key (there is none)"),
        ("[packs]\ndata = true", "packs.data: must be a table, not True; write [packs.data]"),
        ("[packs.http]\nhosts = 'x'", "packs.http.hosts: Expected `array`, got `str`"),
        (
            "[packs.http]\nhosts = ['x']\nmethods = ['POTS']",
            "packs.http: methods has 'POTS'; allowed are GET",
        ),
        ("[packs.exec]\nprograms = []", "packs.exec: programs names the programs that may be run"),
    ],
)
def test_what_is_wrong_with_a_pack_is_said(call: Any, tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "midcourse.toml").write_text(content)
    answer = call("tools", "list")
    assert (answer.code, problem in answer.err) == (2, True), answer.err


def test_without_httpx_it_is_said_what_to_install(call: Any, tmp_path: Path) -> None:
    (tmp_path / "midcourse.toml").write_text(
        "[packs.http]\nhosts = ['x']\n[http.it]\nurl = 'https://x.com/'\n"
    )
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util, sys\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: None if name == 'httpx' else find(name, *more)\n"
    )
    answer = call("tools", "list", PYTHONPATH=str(tmp_path))
    assert answer.code == 2
    for place in ("http.it: tool 'it'", "packs.http: tool 'builtin__http'"):
        assert f"{place} needs httpx; run: pip install 'midcourse[http]'" in answer.err
