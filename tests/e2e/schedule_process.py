"""A program that embeds an engine and does what schedules say, until SIGTERM.

Run it as `schedule_process.py STORE_URL`. It prints a line when it is open, and for each call of its tool.
"""

from __future__ import annotations

import asyncio
import signal
import sys

from midcourse import Engine, Plan, PlanningContext, Step, tool


@tool(effect="read")
async def work() -> None:
    """Say so."""
    say("worked")


async def plan(_context: PlanningContext) -> Plan:
    """Plan one step."""
    return Plan([Step("work", "work")])


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def main(store: str) -> None:
    """Embed an engine until SIGTERM."""
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    async with Engine(store, tools=[work], planners={"reports": plan}):
        say("open")
        await stopped.wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
