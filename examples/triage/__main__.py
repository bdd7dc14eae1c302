"""`python -m midcourse.examples.triage`: three releases, three exit codes, as CI would see them."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from midcourse.examples._midcourse import midcourse

HERE = Path(__file__).parent
BLOCKED, CLEAR, WRONG = 4, 0, 3


def main() -> int:
    """Triage a release that is blocked, one that is not, and one whose issues cannot be read."""
    issues = json.loads((HERE / "issues.inputs").read_text("utf-8"))["issues"]
    releases = {
        BLOCKED: {"issues": issues},
        CLEAR: {"issues": [issue for issue in issues if issue["severity"] == "minor"]},
        WRONG: {"issues": [{"id": 105, "title": "Of no known severity"}]},
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for expected, inputs in releases.items():
            (folder / "inputs.json").write_text(json.dumps(inputs), encoding="utf-8")
            code, _ = midcourse(
                "plan", "run", "triage", "@inputs.json", "--quiet",
                config=HERE / "midcourse.toml", store=folder / "triage.db", cwd=folder,
            )  # fmt: skip
            if code != expected:
                return 1
        print((folder / "digest.md").read_text("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
