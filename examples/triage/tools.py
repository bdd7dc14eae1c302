"""What the triage may do: write a digest, and call somebody."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from midcourse import tool


class Issue(TypedDict):
    """An issue as a tracker has it."""

    id: int
    title: str
    severity: str
    votes: int
    open: bool


class Written(TypedDict):
    """What was written, and where."""

    file: str
    issues: int


@tool(identity=["file"], idempotent=True)
def write_digest(file: str, issues: Sequence[Issue]) -> Written:
    """Write the issues into a file, the worst first; the same call again writes the same."""
    order = ["critical", "major", "minor"]
    ranked = sorted(issues, key=lambda issue: (order.index(issue["severity"]), -issue["votes"]))
    lines = [f"- #{issue['id']} {issue['title']} ({issue['severity']})" for issue in ranked]
    Path(file).write_text("\n".join(["# Open issues", "", *lines, ""]), encoding="utf-8")
    return {"file": file, "issues": len(lines)}


@tool
def call_somebody(file: str, about: str) -> Written:
    """Wake whoever is on duty: here, a line in a file that stands for the pager."""
    with Path(file).open("a", encoding="utf-8") as pager:
        pager.write(f"{about}\n")
    return {"file": file, "issues": 1}
