"""A terminal with the command line in it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

_OWN = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)"
"""Ctrl-C on a terminal reaches the process that it is the terminal of."""
COMMAND = (sys.executable, "-c", f"{_OWN}; from midcourse.daemon.main import main; main()")
_MOST = 65_536
INTERRUPT, END_OF_FILE = "\x03", "\x04"


class Terminal:
    """A process whose input and messages are a terminal, and whose result goes into a pipe.

    Args:
        arguments: of the command.
        cwd: where it runs.
        environment: what it runs with.
    """

    def __init__(self, *arguments: str, cwd: Path, environment: Mapping[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=cwd,
            env={**environment, "TERM": "xterm", "COLUMNS": "200"},
            stdin=theirs,
            stderr=theirs,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        os.close(theirs)
        self.shown = ""
        self._seen = 0

    def wait_for(self, text: str) -> str:
        """Read until a text is shown that was not looked at before; return what was shown up to there."""
        while (at := self.shown.find(text, self._seen)) < 0:
            assert self._read(), f"{text!r} was not shown: {self.shown}"
        seen, self._seen = self.shown[self._seen : at], at + len(text)
        return seen

    def type(self, text: str, *, enter: bool = True) -> None:
        """Type a line, or control characters."""
        os.write(self._ours, (text + ("\n" if enter else "")).encode())

    def end(self) -> tuple[int, str]:
        """Return the exit code and the result, once it has ended."""
        while self._read():
            pass
        out, _ = self.process.communicate()
        os.close(self._ours)
        return self.process.returncode, out

    def _read(self) -> bool:
        try:
            part = os.read(self._ours, _MOST)
        except OSError:  # nobody holds the other end any more
            return False
        self.shown += part.decode().replace("\r\n", "\n")
        return bool(part)
