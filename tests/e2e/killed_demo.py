"""Kills the demo before and after the commit of every call to the outside world, and lets it go on.

Run as a program: `killed_demo.py FOLDER PLANNER VARIANT`. Each life is a process of its own, forked from this
one, which has no threads and no loop. Prints one JSON line a case: what became of the run and of the world.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from midcourse.examples.order.calls import KillAt
from midcourse.examples.order.demo import deliver
from midcourse.examples.order.kit import Kit
from midcourse.examples.order.output import JsonOutput
from midcourse.examples.order.scenario import SCENARIOS
from midcourse.examples.order.world import World


def live(folder: Path, planner: str, variant: str, kill_at: KillAt | None) -> None:
    with Kit(folder, kill_at=kill_at) as kit:
        (outcome,) = asyncio.run(deliver(kit, [SCENARIOS[variant]], planner=planner, output=JsonOutput()))
    standing = [[entry.tool, entry.state] for entry in outcome.ledger]
    (folder / "outcome.json").write_bytes(msgspec.json.encode([outcome.status, standing]))


def forked(life: Callable[[], None]) -> int:
    """Live in a process of its own; return the signal that ended it, or 0."""
    child = os.fork()
    if not child:
        status = 1
        try:
            life()
            status = 0
        finally:
            os._exit(status)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if ended > 0:
        raise SystemExit("a life ended with an error; its traceback is above")
    return -ended


def case(folder: Path, planner: str, variant: str, kill_at: KillAt | None) -> dict[str, object]:
    killed_by = forked(lambda: live(folder, planner, variant, kill_at)) if kill_at else 0
    forked(lambda: live(folder, planner, variant, None))
    with World(folder / "world.db") as world:
        operations = [call.operation for call in world.calls()]
        return {
            "kill_at": kill_at,
            "killed_by": killed_by,
            "outcome": msgspec.json.decode((folder / "outcome.json").read_bytes()),
            "summary": world.summary(),
            "effects": [[each.kind, each.detail, each.amount, each.stands] for each in world.effects()],
            "duplicates": world.duplicates(),
            "repeated_calls": len(operations) - len(set(operations)),
        }


def report(found: dict[str, object]) -> None:
    sys.stdout.write(f"{msgspec.json.encode(found).decode()}\n")
    sys.stdout.flush()


def main() -> None:
    folder, planner, variant = Path(sys.argv[1]), *sys.argv[2:]
    uncrashed = case(folder / "uncrashed", planner, variant, None)
    report(uncrashed)
    with World(folder / "uncrashed" / "world.db") as world:
        calls = len(world.calls())
    for number in range(1, calls + 1):
        for moment in ("before_commit", "after_commit"):
            report(case(folder / f"{number}-{moment}", planner, variant, KillAt(number, moment)))


if __name__ == "__main__":
    main()
