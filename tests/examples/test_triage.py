"""The plan file of the triage example, as CI would run it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from midcourse.examples.triage.__main__ import HERE, PROGRAM

TICKET = {"id": "T-9", "title": "It burns", "severity": 5, "open": True}


@pytest.fixture
def triage(tmp_path: Path) -> Any:
    """Run the plan over tickets; returns the process and the report, if one was written."""

    def run(tickets: Any) -> tuple[subprocess.CompletedProcess[str], str]:
        given, report = tmp_path / "tickets.jsonl", tmp_path / "urgent.txt"
        if tickets is not None:
            given.write_text("\n".join(map(json.dumps, tickets)))
        where = ["--store", f"sqlite:///{tmp_path / 'triage.db'}", "--config", str(HERE / "midcourse.toml")]
        inputs = ["-i", f"tickets={given}", "-i", f"report={report}"]
        command = [str(PROGRAM), *where, "plan", "run", "triage", "-q", *inputs]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done, report.read_text() if report.exists() else ""

    return run


def test_what_is_urgent_is_reported(triage: Any) -> None:
    done, report = triage([json.loads(line) for line in (HERE / "tickets.jsonl").read_text().splitlines()])
    assert (done.returncode, json.loads(done.stdout)["urgent"]) == (0, 1)
    assert report.splitlines()[:2] == ["Urgent:", "- T-1 Login fails at night"]


def test_too_much_that_is_urgent_fails_the_job(triage: Any) -> None:
    done, report = triage([TICKET, {**TICKET, "id": "T-10"}])
    assert (done.returncode, done.stdout) == (4, "")
    assert "2 urgent tickets are too many" in done.stderr
    assert "- T-10 It burns" in report


def test_without_open_tickets_there_is_nothing_to_do(triage: Any) -> None:
    done, report = triage([{**TICKET, "open": False}])
    assert (done.returncode, json.loads(done.stdout), report) == (0, {"urgent": 0}, "")
    assert "no ticket is open" in done.stderr


def test_a_file_that_is_not_there_fails_the_run_and_says_so(triage: Any) -> None:
    done, _ = triage(None)
    assert done.returncode == 1
    assert "there is no file" in done.stderr


def test_it_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "midcourse.examples.triage"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["urgent"] == 1
