"""Lines and tables on a narrow terminal, and one as it really is."""

import os
import pty
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from pathlib import Path
from typing import Any

import pytest

from midcourse.daemon.cli.render_table import table
from midcourse.daemon.cli.wrapping import wrap

RED, PLAIN = "\x1b[31m", "\x1b[0m"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("short", "short"),
        ("  one two three four five", "  one two three four\n      five"),
        (f"  {RED}one two three four five{PLAIN}", f"  {RED}one two three four\n      five{PLAIN}"),
        ('  {"a":1,"b":2,"c":3,"d":4}', '  {"a":1,"b":2,\n      "c":3,"d":4}'),
        ("a" * 30, "a" * 16 + "\n    " + "a" * 14),
        ("    midcourse runs resume 01fzzzzzzzzzzzzz", "    midcourse runs resume 01fzzzzzzzzzzzzz"),
    ],
)
def test_a_line_is_broken_between_words(text: str, expected: str) -> None:
    assert wrap(text, 20) == expected
    assert wrap(text, 0) == text


def test_a_table_leaves_out_what_is_needed_least_and_wraps_its_last_cell() -> None:
    rows = [["one", "x" * 10, "some words that are too many"]]
    assert table(rows, width=36, optional=(1,)) == [f"one  {'x' * 10}  some words that are\n{'':17}too many"]
    assert table(rows, width=24, optional=(1,)) == ["one  some words that are\n     too many"]
    assert table(rows, optional=(1,)) == [f"one  {'x' * 10}  some words that are too many"]


@pytest.mark.parametrize(
    "command",
    [("runs", "list"), ("runs", "show", "key:order-42"), ("audit", "facts", "key:order-42")],
)
def test_no_line_is_wider_than_the_terminal(
    unknown: Any, environment: dict[str, str], tmp_path: Path, command: tuple[str, ...]
) -> None:
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    program = "from midcourse.daemon.main import main; main()"
    arguments = [sys.executable, "-c", program, "--store", f"sqlite:///{unknown.store}", *command]
    kept = {name: value for name, value in environment.items() if name not in ("COLUMNS", "LINES")}
    with subprocess.Popen(arguments, stdout=theirs, env=kept | {"NO_COLOR": "1"}, cwd=tmp_path) as shown:
        os.close(theirs)
        lines = _read_all(ours).decode().splitlines()
    assert shown.returncode == 0
    assert any(lines)
    assert [line for line in lines if len(line) > 80 and not line.startswith("    midcourse ")] == []


def _read_all(terminal: int) -> bytes:
    read = b""
    try:
        while part := os.read(terminal, 65536):
            read += part
    except OSError:  # Linux says so when the other end is closed
        pass
    finally:
        os.close(terminal)
    return read
