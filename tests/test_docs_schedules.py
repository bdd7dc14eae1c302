"""What `docs/schedules.md` shows works: its program, then its commands, in one folder and in order."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

TEXT = (Path(__file__).parent.parent / "docs" / "schedules.md").read_text()


def run(words: list[str], folder: Path) -> str:
    """Run a command in a folder; it has to end well."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_program_and_the_commands_work_in_order(tmp_path: Path) -> None:
    [program] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert [line.split()[0] for line in run([sys.executable, "-c", program], tmp_path).splitlines()] == [
        "nightly",
        "pulse",
    ]
    blocks = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
    commands = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    assert len(commands) == 8
    answers = [run(shlex.split(command), tmp_path) for command in commands]
    assert "30 2 * * * Europe/Berlin" in answers[0]
    assert answers[1].startswith("weekly: added, next at ")
    assert "weekly" not in answers[5]
