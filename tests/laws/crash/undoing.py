"""Scenarios of a person's plan that fails: what it did is undone, newest first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from midcourse import (
    Plan,
    Receipt,
    RetryPolicy,
    RunHandle,
    RunState,
    Step,
    Tool,
    ToolContext,
    ToolError,
    tool,
)
from midcourse.examples.order.calls import KillAt
from midcourse.examples.order.tools import receipt_of
from midcourse.examples.order.world import World
from midcourse.store import Journal

from .running import CHARGE, RESERVE, SHIP
from .stage import stage


@tool(effect="read")
async def broken() -> None:
    """Fail for good."""
    raise ToolError("the lorry has broken down", retryable=False)


BROKEN = Step("lorry", "broken")
BOOK = Step("shelf", "book", {"sku": "lamp", "quantity": 3})


def shelf(world: World, *, fails: int, back_off_s: float = 0.004) -> list[Tool]:
    """A reservation whose undo fails so many times before it works; -1 for always."""

    @tool(effect="reversible", undo="unbook", idempotent=True)
    async def book(sku: str, quantity: int, *, context: ToolContext) -> Receipt:
        return receipt_of(world.reserve(sku, quantity, operation=context.operation))

    @tool(idempotent=True, retry=RetryPolicy(initial_s=back_off_s))
    async def unbook(receipt: Receipt, *, context: ToolContext) -> Receipt:
        if fails < 0:
            raise ToolError("the shelf is gone", retryable=False, no_effect=True)
        if context.attempt <= fails:
            raise ToolError("the shelf is busy")
        return receipt_of(world.release(receipt.resources[0].id, operation=context.operation))

    return [book, unbook]


async def all_undone(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """Three effects are undone in reverse order."""
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan([RESERVE, CHARGE, SHIP, BROKEN]), tools=[broken])


async def undo_asked_about(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A refund must not be repeated, but the provider can be asked whether it was made."""
    with stage(journal, folder, kill_at=kill_at, payments_ignore_keys=True) as on:
        return await on.play(plan=Plan([CHARGE, SHIP, BROKEN]), tools=[broken])


async def undo_fails_twice(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """One undo works only the third time; it holds up no other."""
    with stage(journal, folder, kill_at=kill_at) as on:
        plan = Plan([RESERVE, BOOK, CHARGE, BROKEN])
        return await on.play(plan=plan, tools=[broken, *shelf(on.world, fails=2)])


async def undo_parked(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """One undo never works: the others are done, and it waits for a person who does not come."""
    with stage(journal, folder, kill_at=kill_at) as on:
        plan = Plan([RESERVE, BOOK, CHARGE, BROKEN])
        return await on.play(plan=plan, tools=[broken, *shelf(on.world, fails=-1)])


async def undo_waived(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """One undo never works, and a person lets the effect stay."""

    async def waive(run: RunHandle, state: RunState) -> None:
        for item in state.attention if state.status == "attention" else ():
            await run.compensate(item.subject, waive=True, reason="the shelf was sold", by="bo")

    with stage(journal, folder, kill_at=kill_at) as on:
        plan = Plan([RESERVE, BOOK, CHARGE, BROKEN])
        return await on.play(plan=plan, tools=[broken, *shelf(on.world, fails=-1)], person=waive)
