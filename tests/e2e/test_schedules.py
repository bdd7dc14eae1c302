"""Schedules between real processes: the command line writes, an engine elsewhere starts the runs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).with_name("schedule_process.py")
COMMAND = (sys.executable, "-c", "from midcourse.daemon.main import main; main()")

Ask = Callable[..., Any]


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'store.db'}"


@pytest.fixture
def ask(store: str, tmp_path: Path) -> Ask:
    """Run ``midcourse --store … runs … --json`` in a process of its own; return its document."""

    def run(*words: str) -> Any:
        command = [*COMMAND, "--store", store, "runs", *words, "--json"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@contextmanager
def host(store: str) -> Iterator[subprocess.Popen[str]]:
    """A process with an open engine; it is told to stop at the end, and ends well."""
    process = subprocess.Popen([sys.executable, str(PROGRAM), store], stdout=subprocess.PIPE, text=True)
    with process:
        try:
            assert said(process) == "open"
            yield process
            process.send_signal(signal.SIGTERM)
            assert process.wait() == 0
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_what_the_command_line_adds_and_removes_an_engine_elsewhere_heeds(store: str, ask: Ask) -> None:
    with host(store) as process:
        added = ask("schedule", "add", "tick", "--every", "1", "--goal", "g", "--planner", "reports")
        assert added["recorded"] == ["schedule_added"]
        assert [said(process), said(process)] == ["worked", "worked"]
        removed = ask("schedule", "remove", "tick", "--reason", "seen enough")
        assert removed == {"name": "tick", "recorded": ["schedule_removed"]}
        assert ask("schedule", "list") == []
    runs = ask("list", "--tag", "schedule=tick")["runs"]
    assert len(runs) >= 2
    assert {run["status"] for run in runs} == {"completed"}
    assert len({run["key"] for run in runs}) == len(runs)
    with host(store):
        pass
    assert ask("list")["runs"] == runs


def test_what_falls_due_while_no_engine_is_there_is_made_up_for(store: str, ask: Ask) -> None:
    ask("schedule", "add", "tick", "--every", "1", "--goal", "g", "--planner", "reports")
    while ask("schedule", "list")[0]["overdue_since"] is None:
        assert ask("list")["runs"] == []
    with host(store) as process:
        assert said(process) == "worked"
        ask("schedule", "pause", "tick")
        assert ask("schedule", "list")[0]["next"] == []


WRONG = (
    (("--cron", "99 * * * *"), "the minute is '99'; write 0-59"),
    (("--cron", "@hourly", "--zone", "Europe/Berln"), "Did you mean 'Europe/Berlin'?"),
    (("--cron", "@hourly", "--overlap", "quue"), "Did you mean 'queue'?"),
    (("--every", "60", "--catch-up", "al"), "write one of skip, last, all. Did you mean 'all'?"),
    (("--every", "60", "--cron", "@hourly"), "takes one of a cron expression"),
    (("--every", "60", "--tag", "x"), "'x' is not name=value"),
    (("--every", "60", "--plan", "nowhere.json"), "nowhere.json cannot be read"),
)


@pytest.mark.parametrize(("words", "message"), WRONG)
def test_what_is_wrong_is_said_and_leaves_no_store_behind(
    words: tuple[str, ...], message: str, store: str, tmp_path: Path
) -> None:
    planner = () if "--plan" in words else ("--planner", "reports")
    command = [*COMMAND, "--store", store, "runs", "schedule", "add", "n", "--goal", "g", *words, *planner]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert message in " ".join(done.stderr.split())
    assert list(tmp_path.iterdir()) == []


def test_a_plan_is_checked_against_the_configuration(tmp_path: Path, store: str) -> None:
    (tmp_path / "shop.py").write_text(
        "from midcourse import tool\n\n@tool(effect='read')\nasync def work() -> None: ...\n"
    )
    (tmp_path / "midcourse.toml").write_text('tools = ["shop"]\n')
    for name, tool_name in (("good", "work"), ("bad", "wrok")):
        (tmp_path / f"{name}.json").write_text(json.dumps({"steps": [{"tool_name": tool_name}]}))
    command = [*COMMAND, "--store", store, "runs", "schedule", "add", "n", "--goal", "g", "--every", "60"]
    for name, code in (("bad", 1), ("good", 0)):
        done = subprocess.run(
            [*command, "--plan", f"{name}.json"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
        assert ("wrok" in done.stderr) is (name == "bad")
