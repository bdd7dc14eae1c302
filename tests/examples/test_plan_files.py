"""The examples that are plan files: they end as they say, and are valid plans."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


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
    assert "Error: plan failed at step commits (user__log): git ended with exit code 128" in done.stderr
