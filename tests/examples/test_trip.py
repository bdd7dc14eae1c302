"""The trip that is called off."""

import subprocess
import sys
from pathlib import Path


def test_what_can_be_undone_is_undone_and_a_person_settles_the_rest(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "midcourse.examples.trip"]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=True)
    attention, ending = done.stdout.splitlines()
    assert attention.startswith("unknown_outcome - ")
    assert ending == "cancelled [('user__price', 'committed'), ('user__book_hotel', 'undone')]"
