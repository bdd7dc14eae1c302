"""A program that embeds an engine, as a host would: it runs until it is told to stop, and stops gracefully.

Run it as `engine_process.py FOLDER`. It starts a run whose second step waits unless there is a file named
`go`, and prints a line when that step has begun. SIGTERM closes the engine.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from midcourse import Engine, Plan, Settings, Step, Tool, tool

KEY = "the-run"
STORE = "store.db"


def tools(folder: Path) -> list[Tool]:
    """A tool that notes each of its calls in a file, and one that waits for ever unless there is a file."""

    @tool(idempotent=True)
    async def note(text: str) -> str:
        with (folder / "notes.txt").open("a") as notes:
            notes.write(f"{text}\n")
        return text

    @tool(idempotent=True)
    async def wait() -> str:
        if not (folder / "go").exists():
            sys.stdout.write("waiting\n")
            sys.stdout.flush()
            await asyncio.Event().wait()
        return "waited"

    return [note, wait]


PLAN = Plan(
    (
        Step("first", "note", {"text": "first"}),
        Step("wait", "user__wait"),
        Step("last", "note", {"text": "last"}),
    )
)


async def main(folder: Path) -> None:
    """Embed an engine until SIGTERM."""
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    store = f"sqlite:///{folder / STORE}"
    async with Engine(store, tools=tools(folder), settings=Settings(drain_s=0.0)) as engine:
        await engine.start("wait for the file", plan=PLAN, key=KEY)
        await stopped.wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
