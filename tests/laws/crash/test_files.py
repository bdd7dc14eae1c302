"""Files that a run writes and takes back, killed at every fact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from midcourse import Engine, Plan, Step, ToolError, files_pack, tool
from midcourse.actors.testing.crash import crash_at_every_fact
from midcourse.store import Journal


@tool(effect="read")
async def fail() -> None:
    raise ToolError("no", retryable=False)


async def write(journal: Journal, folder: Path, fails: bool) -> Any:
    """Write over one file twice, and a new one; then fail, or not."""
    root = folder / "files"
    if not root.exists():
        root.mkdir()
        (root / "old.txt").write_text("before")
    writes = [("old.txt", "1"), ("new.txt", "2"), ("old.txt", "3")]
    steps = [
        Step(f"s{number}", "builtin__write_file", {"path": path, "content": content})
        for number, (path, content) in enumerate(writes)
    ]
    steps += [Step("fail", "fail")] if fails else []
    async with Engine(journal, tools=[*files_pack(root), fail]) as engine:
        run = await engine.start("write", plan=Plan(steps), key="the-run")
        outcome = await run.outcome(timeout_s=30)
    return {"status": outcome.status, "files": {path.name: path.read_text() for path in root.glob("*.txt")}}


@pytest.mark.parametrize(
    ("fails", "expected"),
    [
        (False, {"status": "completed", "files": {"old.txt": "3", "new.txt": "2"}}),
        (True, {"status": "failed", "files": {"old.txt": "before"}}),
    ],
)
def test_files_are_written_once_and_put_back_whenever_the_process_dies(
    crash_folder: Path, fails: bool, expected: Any
) -> None:
    folder = crash_folder / f"files-{fails}"
    folder.mkdir()
    results = [
        (crash.uncrashed, crash.result)
        for crash in crash_at_every_fact(write, folder=folder, arguments={"fails": fails})
    ]
    assert len(results) > 4
    assert [each for each in results if each != (expected, expected)] == []
