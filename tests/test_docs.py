"""The documents name tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MATRIX = (ROOT / "docs" / "failure-matrix.md").read_text()
TESTS = {
    name
    for path in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"def (test_\w+)", path.read_text())
}


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(test_\w+)`", MATRIX))))
def test_a_fault_is_shown_by_a_test_that_exists(name: str) -> None:
    """A row without its test would be a promise."""
    assert name in TESTS


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(tests/[\w/]+(?:\.py|/))`", MATRIX))))
def test_a_file_of_tests_it_names_exists(path: str) -> None:
    """Whole files are named where a table in them shows the case."""
    assert (ROOT / path).exists()


def test_each_row_says_who_shows_it() -> None:
    """No fault without a test."""
    lines = [line for line in MATRIX.splitlines() if line.startswith("|")]
    rows = [line for line in lines if not line.startswith(("|---", "| fault"))]
    assert len(rows) > 30
    assert [row for row in rows if "test" not in row.split("|")[3]] == []
