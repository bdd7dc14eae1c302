"""The demo as a person meets it: `midcourse demo`, in processes of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from midcourse.examples.order.world import World
from midcourse.store import open_journal

MIDCOURSE = str(Path(sys.executable).with_name("midcourse"))
ENDING = "Every effect happened exactly once."


def demo(*options: str, temporary: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TMPDIR": str(temporary)} if temporary else None
    command = [MIDCOURSE, "demo", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def document(*options: str) -> Any:
    done = demo("--json", *options)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.parametrize("planner", ["goap", "function"])
def test_it_tells_all_three_orders_in_eighty_columns(tmp_path: Path, planner: str) -> None:
    done = demo("--planner", planner, temporary=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    shown = done.stdout.splitlines()
    assert [line for line in shown if len(line) > 80 and "bin/midcourse " not in line] == []
    assert [line.partition(":")[0] for line in shown if line.startswith(("Order", "Audit", "Books"))] == [
        "Order 42 to Longyearbyen",
        "Order 43 to Bouvet Island",
        "Order 44 to Longyearbyen",
        "Audit",
        "Books",
    ]
    assert shown[-1] == ENDING
    assert list(tmp_path.iterdir()) == []


def test_it_shows_what_each_revision_keeps_drops_and_adds(tmp_path: Path) -> None:
    shown = demo("--variant", "no_route", "--planner", "function", temporary=tmp_path).stdout
    second = shown[shown.index("revision 2") :]
    assert [line.split() for line in second.splitlines()[1:7]] == [
        ["<", "E0", "reserve,", "to", "be", "taken", "back"],
        ["<", "E1", "charge,", "to", "be", "taken", "back"],
        ["=", "E2", "announce,", "cannot", "be", "undone"],
        ["-", "ship1", "ship_express,", "failed"],
        ["-", "E3", "notify,", "no", "longer", "wanted"],
        ["+", "E4", "send_correction"],
    ]


def test_as_json_it_is_one_document(tmp_path: Path) -> None:
    found = document("--keep", str(tmp_path))
    assert [(run["key"], run["status"], run["revision"]) for run in found["runs"]] == [
        ("order-42", "completed", 2),
        ("order-43", "completed", 2),
        ("order-44", "completed", 2),
    ]
    assert [run["version"] for run in found["runs"]] == [len(run["facts"]) for run in found["runs"]]
    assert found["audit"] == {"facts": sum(run["version"] for run in found["runs"]), "problems": []}
    assert found["world"]["duplicates"] == []


def test_in_a_folder_it_used_before_it_tells_the_same_runs_and_does_nothing_again(tmp_path: Path) -> None:
    assert document("--keep", str(tmp_path)) == document("--keep", str(tmp_path))


def test_in_a_folder_of_another_planner_it_says_so(tmp_path: Path) -> None:
    document("--keep", str(tmp_path), "--variant", "ship")
    refused = demo("--keep", str(tmp_path), "--variant", "ship", "--planner", "function")
    assert (refused.returncode, "was started with another planner ('goap')" in refused.stderr) == (1, True)


def test_stopped_with_ctrl_c_it_says_how_to_go_on(tmp_path: Path) -> None:
    command = [MIDCOURSE, "demo", "--keep", str(tmp_path), "--planner", "function", "--pace", "0.02"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as watched:
        assert watched.stdout is not None
        seen = [next(line for line in watched.stdout if line.startswith("  8 "))]
        watched.send_signal(signal.SIGINT)
        seen += watched.stdout
    assert watched.returncode == 130
    resume, _, again = (line.strip() for line in seen[-3:])
    assert resume == f"{MIDCOURSE} --config {tmp_path / 'midcourse.toml'} runs resume"
    assert again == f"{MIDCOURSE} demo --keep {tmp_path} --planner function"
    subprocess.run(resume.split(), check=True, capture_output=True)
    finished = subprocess.run(again.split(), check=True, capture_output=True, text=True)
    assert ENDING in finished.stdout.splitlines()
    with World(tmp_path / "world.db") as world:
        operations = [call.operation for call in world.calls()]
    assert sorted(operations) == sorted(set(operations))


def test_a_folder_that_an_engine_has_open_is_left_alone(tmp_path: Path) -> None:
    with open_journal(f"sqlite:///{tmp_path / 'orders.db'}", owner=True):
        refused = demo("--keep", str(tmp_path))
    assert refused.returncode == 1
    assert str(os.getpid()) in refused.stderr
    with World(tmp_path / "world.db") as world:
        assert world.calls() == []


def test_it_runs_without_the_command_line_tool(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "midcourse.examples.order", "--keep", str(tmp_path), "--variant", "ship"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert ENDING in done.stdout
