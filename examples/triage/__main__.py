"""`python -m midcourse.examples.triage [TICKETS]`: the plan in a folder of its own, from the command line."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = Path(sys.executable).with_name("midcourse")


def main() -> int:
    """Run the plan, and return its exit code."""
    tickets = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE / "tickets.jsonl"
    with tempfile.TemporaryDirectory() as folder:
        where = ["--store", f"sqlite:///{folder}/triage.db", "--config", str(HERE / "midcourse.toml")]
        inputs = ["-i", f"tickets={tickets}", "-i", f"report={folder}/urgent.txt"]
        command = [str(PROGRAM), *where, "plan", "run", "triage", "-q", *inputs]
        return subprocess.run(command, check=False).returncode  # noqa: S603 - a program of this package


if __name__ == "__main__":
    sys.exit(main())
