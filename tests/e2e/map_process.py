"""An engine whose run calls the outside for each of a hundred items; the test kills it in the middle.

Run as a program: `map_process.py FOLDER SHAPE [KILL_AT]`. Each call is a line in `calls`, written and synced.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import msgspec

from midcourse import Engine, Plan, Step, Tool, ToolContext, tool
from midcourse.domain.control import PlanStep
from midcourse.domain.plan_file import PlanFile

ITEMS = 100
STORE = "runs.db"
KEY = "the-run"

_BODY = {"tool_name": "user__write", "input": {"text": "{{item}}"}}
_OVER = [f"item {number}" for number in range(ITEMS)]
_NEXT = {"tool_name": "user__write", "input": {"text": "{{item}}", "after": "{{accumulator}}"}}
_MAP = {"over": _OVER, "concurrency": 4, "do": _BODY}
_PARTS = [PlanStep(id=f"S{n}", tool_name="user__write", input={"text": f"item {n}"}) for n in range(ITEMS)]

SHAPES: dict[str, Step] = {
    "map": Step("all", "map", _MAP),
    "reduce": Step("all", "reduce", {"over": _OVER, "do": _NEXT}),
    "decide": Step(
        "all", "decide",
        {
            "if": {"expr": "true"},
            "then": [{"id": part.id, "tool_name": part.tool_name, "input": part.input} for part in _PARTS],
        },
    ),
    "plan": Step("all", "plan__inner", {}),
}  # fmt: skip
INNER = PlanFile(identifier="inner", name="Inner", description="Inner.", steps=tuple(_PARTS))


def tools(folder: Path, kill_at: int = 0) -> list[Tool]:
    """The tool that writes; it ends its process in the middle of a call, after that has had its effect."""
    seen = 0

    @tool(idempotent=True)
    async def write(text: str, after: Any = None, *, context: ToolContext) -> dict[str, Any]:
        nonlocal seen
        seen += 1
        with (folder / "calls").open("a") as calls:
            calls.write(msgspec.json.encode([context.operation, text, os.getpid()]).decode() + "\n")
            calls.flush()
            os.fsync(calls.fileno())
        if seen == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"text": text, "after": after and after["text"]}

    return [write]


async def play(folder: Path, shape: str, kill_at: int = 0) -> Any:
    """Start the run, or go on with it, and return what it results in."""
    store = f"sqlite:///{folder / STORE}"
    async with Engine(store, tools=tools(folder, kill_at), plans=[INNER]) as engine:
        plan = Plan([SHAPES[shape]], output={"all": "{{all}}"})
        run = await engine.start("write a hundred lines", plan=plan, key=KEY)
        return (await run.outcome()).result


if __name__ == "__main__":
    asyncio.run(play(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
