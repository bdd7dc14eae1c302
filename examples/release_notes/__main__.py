"""`python -m midcourse.examples.release_notes`: the notes of a repository that is made for it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from midcourse.examples._midcourse import midcourse

HERE = Path(__file__).parent
COMMITS = (
    ("Begin", 1, "v1.0"),
    ("Lamps can be ordered by colour", 12, ""),
    ("Fix the total of empty orders", 1, ""),
    ("Orders are shown newest first", 2, "v1.1"),
)


def make_repository(folder: Path) -> None:
    """Make a repository with four commits and two releases; nobody's own settings of git count in it."""
    git = ("git", "-C", str(folder), "-c", "user.name=Mia", "-c", "user.email=mia@example.org")
    folder.mkdir()
    _run(*git, "init", "--quiet")
    for subject, files, tag in COMMITS:
        for number in range(files):
            (folder / f"{subject.split()[-1]}-{number}.txt").write_text(subject, encoding="utf-8")
        _run(*git, "add", ".")
        _run(*git, "-c", "commit.gpgsign=false", "commit", "--quiet", "--message", subject)
        if tag:
            _run(*git, "-c", "tag.gpgsign=false", "tag", tag)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - a list of arguments, from here


def main() -> int:
    """Write the notes of the second release."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_repository(folder / "shop")
        code, out = midcourse(
            "plan", "run", "release_notes", "--quiet",
            "--input", "since=v1.0", "--input", f"repository={folder / 'shop'}",
            config=HERE / "midcourse.toml", store=folder / "notes.db", cwd=folder,
        )  # fmt: skip
        if code:
            return code
        print(json.loads(out)["notes"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
