"""The examples that are plan files: they end as they say, and are valid plans."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TRIAGE = ("--config", str(EXAMPLES / "triage" / "midcourse.toml"))


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MIDCOURSE")}
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, env=kept, capture_output=True, text=True, check=False
    )


def midcourse(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run("-c", "from midcourse.daemon.main import main; main()", *arguments, cwd=cwd)


@pytest.mark.parametrize("folder", ["triage", "release_notes"])
def test_the_plan_is_valid(tmp_path: Path, folder: str) -> None:
    config = EXAMPLES / folder / "midcourse.toml"
    done = midcourse("--config", str(config), "plan", "validate", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_release_is_blocked_or_clear_or_cannot_be_told(tmp_path: Path) -> None:
    done = run("-m", "midcourse.examples.triage", cwd=tmp_path)
    codes = [line for line in done.stdout.splitlines() if line.startswith("(exit code")]
    assert (done.returncode, codes) == (0, ["(exit code 4)", "(exit code 0)", "(exit code 3)"])
    assert (
        "Error: plan ended at step verdict (exit): 2 issues block the release, 0 are allowed" in done.stderr
    )
    assert "Stands: user__write_digest (step digest)" in done.stderr
    assert "- #103 A typo in the footer (minor)" in done.stdout


def test_whoever_is_there_decides_whether_somebody_is_called(tmp_path: Path) -> None:
    issues = str(EXAMPLES / "triage" / "issues.inputs")
    arguments = ("plan", "run", "triage", f"@{issues}", "-i", "allowed=2", "--interactive", "-q", "--json")
    asked = json.loads(midcourse(*TRIAGE, *arguments, cwd=tmp_path).stdout)
    assert asked["attention"][0]["detail"] == "2 of 3 open issues block the release. Call somebody?"
    answered = midcourse("runs", "answer", asked["run"], "urgent", '{"call": true}', cwd=tmp_path)
    resumed = midcourse(*TRIAGE, "--json", "runs", "resume", asked["run"], "-q", cwd=tmp_path)
    assert (answered.returncode, resumed.returncode) == (0, 0)
    assert json.loads(resumed.stdout)["result"]["verdict"] == "clear"
    assert (tmp_path / "pager.txt").read_text() == (
        "Blocked by #101 Orders are charged twice, #102 The total is not shown on small screens\n"
    )


def test_nothing_open_is_clear_at_once(tmp_path: Path) -> None:
    done = midcourse(*TRIAGE, "plan", "run", "triage", '{"issues": []}', "-q", cwd=tmp_path)
    assert (done.returncode, json.loads(done.stdout)) == (0, {"verdict": "clear", "open": 0, "blocking": []})
    assert done.stderr == "nothing is open\n"


def test_release_notes_are_written_from_a_history(tmp_path: Path) -> None:
    done = run("-m", "midcourse.examples.release_notes", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    notes = [line.partition(" (")[0] for line in done.stdout.splitlines() if line.startswith("- ")]
    assert notes == [
        "- Orders are shown newest first",
        "- Lamps can be ordered by colour",
        "- Fix the total of empty orders",
    ]  # fmt: skip


def test_git_that_fails_says_why(tmp_path: Path) -> None:
    config = EXAMPLES / "release_notes" / "midcourse.toml"
    done = midcourse(
        "--config", str(config), "plan", "run", "release_notes", "-i", "since=v9", "-q", cwd=tmp_path
    )
    assert done.returncode == 1
    assert "Error: plan failed at step commits (user__log): git log ended with 128" in done.stderr


def test_a_plan_by_a_person_fails_and_is_undone_where_planners_plan_anew(tmp_path: Path) -> None:
    done = run("-m", "midcourse.examples.order_by_hand", cwd=tmp_path)
    codes = [line for line in done.stdout.splitlines() if line.startswith("(exit code")]
    assert (done.returncode, codes) == (0, ["(exit code 0)", "(exit code 1)"])
    assert "a plan by a person never replans by itself" in done.stderr
    assert done.stderr.splitlines()[-1] == "Undone: user__reserve (step stock), user__charge (step payment)"
    assert done.stdout.splitlines()[-1] == "lamps left: 8, taken: 150.00"
