"""Git as tools: each calls the program with a list of arguments, never through a shell.

All of them only read, so they are tried again when they fail, and called again after a crash.
"""

from __future__ import annotations

import asyncio
from typing import TypedDict

from midcourse import ToolError, tool

_FIELDS = ("%h", "%s", "%an")
_BETWEEN = "\x1f"


class Commit(TypedDict):
    """A commit in short."""

    hash: str
    subject: str
    author: str


class Size(TypedDict):
    """How much a commit changed."""

    hash: str
    files: int
    lines: int


@tool(effect="read", timeout_s=30)
async def log(repository: str, since: str, until: str) -> list[Commit]:
    """Return the commits after one revision up to another, newest first."""
    out = await _git(repository, "log", f"--format={_BETWEEN.join(_FIELDS)}", f"{since}..{until}", "--")
    rows = (line.split(_BETWEEN) for line in out.splitlines())
    return [{"hash": hash_, "subject": subject, "author": author} for hash_, subject, author in rows]


@tool(effect="read", timeout_s=30)
async def size(repository: str, commit: str) -> Size:
    """Return how many files and lines a commit changed."""
    out = await _git(repository, "show", "--numstat", "--format=", commit, "--")
    changed = [line.split("\t")[:2] for line in out.splitlines()]
    lines = sum(int(number) for row in changed for number in row if number.isdigit())
    return {"hash": commit, "files": len(changed), "lines": lines}


async def _git(repository: str, *arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        "git", "-C", repository, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        out, err = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        said = err.decode("utf-8", "replace").strip()
        raise ToolError(f"git {arguments[0]} ended with {process.returncode}: {said}", retryable=False)
    return out.decode("utf-8", "replace")
