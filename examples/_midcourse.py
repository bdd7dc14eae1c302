"""How the examples call the command line tool: in a process of its own, with a store out of the way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def midcourse(*arguments: str, config: Path, store: Path, cwd: Path | None = None) -> tuple[int, str]:
    """Run ``midcourse`` as a user would, print what was typed, and return the exit code and the result.

    Args:
        arguments: of the command.
        config: the configuration file.
        store: the file of the store.
        cwd: where it runs.
    """
    print(f"$ midcourse {' '.join(arguments)}", flush=True)
    done = subprocess.run(  # noqa: S603 - a list of arguments, from the examples themselves
        [
            sys.executable, "-c", "from midcourse.daemon.main import main; main()",
            "--config", str(config), "--store", f"sqlite:///{store}", *arguments,
        ],
        cwd=cwd, env=os.environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    print(done.stdout.rstrip(), f"(exit code {done.returncode})", sep="\n", flush=True)
    return done.returncode, done.stdout
