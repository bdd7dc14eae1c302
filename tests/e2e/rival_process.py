"""A process that says one thing to a run, at the same moment as its rivals.

Run it as `rival_process.py STORE RUN NAME WHAT SUBJECT`. It prints ``ready``, waits for a line on standard
input, writes to the run as ``token:NAME``, and prints ``won: TOPICS`` or ``lost: MESSAGE``.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

from midcourse import MidcourseError, Plan, Receipt, Step, open_journal, tool
from midcourse.actors.writer import write
from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.tools import Catalog


@tool(effect="read")
async def look(name: str) -> str:
    """Look at what somebody wants looked at."""
    return name


def message(name: str, what: str, subject: str) -> m.Message:
    """What this process says."""
    common: dict[str, Any] = {"at": time.time(), "actor": f"token:{name}"}
    if what == "approve":
        return m.ApproveSubject(**common, subject=subject)
    if what == "settle":
        receipt = Receipt(name)
        return m.SettleOutcome(**common, operation=subject, happened=True, receipt=receipt)
    plan = Plan((Step(f"by_{name}", "user__look", {"name": name}),))
    return m.ProposePlan(**common, epoch=int(subject), plan=plan, author="human")


async def main(store: str, run: str, name: str, what: str, subject: str) -> None:
    """Wait for the signal, and speak."""
    catalog = Catalog([look.spec])
    async with open_journal(store) as journal:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        try:
            reaction = await write(journal, run, message(name, what, subject), catalog)
        except MidcourseError as error:
            sys.stdout.write(f"lost: {error}\n")
            return
    facts = [fact for fact, _ in reaction.facts]
    rejected = next((fact for fact in facts if isinstance(fact, f.ProposalRejected)), None)
    if rejected is None:
        sys.stdout.write(f"won: {', '.join(fact.topic for fact in facts)}\n")
    else:
        sys.stdout.write(f"lost: {rejected.code}: {'; '.join(rejected.problems)}\n")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
