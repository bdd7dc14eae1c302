"""The smallest program that embeds Midcourse."""

import subprocess
import sys
from pathlib import Path


def test_the_charge_stands_while_the_plan_changes(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "midcourse.examples.embed"]
    first = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=True)
    *topics, ending = first.stdout.splitlines()
    assert ending == "completed with revision 2 - order 42 travels by sea"
    assert [topic for topic in topics if " step_" in topic and "started" not in topic] == [
        "6 step_completed",
        "8 step_failed",
        "14 step_satisfied",
        "16 step_completed",
    ]
    again = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert first.stdout == again.stdout
