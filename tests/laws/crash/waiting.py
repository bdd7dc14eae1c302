"""Scenarios in which runs wait: for times, for signals, for people, for more to spend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from midcourse import Budget, Plan, Receipt, RunHandle, RunState, Step, ToolContext, WaitFor, tool
from midcourse.domain.facts import Limits
from midcourse.examples.order.calls import KillAt
from midcourse.examples.order.tools import receipt_of
from midcourse.store import Journal

from .running import CHARGE, RESERVE, SHIP, TELL
from .stage import stage


async def for_a_time(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A moment passes between two effects; nothing happens twice because of it."""
    pause = Step("pause", "wait", {"for_s": 0.05})
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan([RESERVE, pause, CHARGE]))


async def for_a_signal(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A signal that is sent again after every crash is taken once, and its payload is used."""

    async def pay(run: RunHandle, state: RunState) -> None:
        if any(step.id == "paid" and step.state == "waiting" for step in state.steps):
            await run.signal("paid", {"text": "thank you"}, id="the-payment", relevant=False)

    wait = Step("paid", "wait", {"signal": "paid"})
    tell = Step("told", "notify", {"customer": "ada", "text": "{{paid.payload.text}}"})
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan([RESERVE, wait, tell]), person=pay)


async def tool_suspended(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A tool waits in the middle of its work, and has its effect when the signal is there."""

    async def arrive(run: RunHandle, state: RunState) -> None:
        if any(step.id == "slow" and step.state == "waiting" for step in state.steps):
            await run.signal("arrived", 1, id="it-arrived", relevant=False)

    with stage(journal, folder, kill_at=kill_at) as on:

        @tool(idempotent=True)
        async def slow(*, context: ToolContext) -> Receipt:
            if context.signal is None and context.details != "asked":
                raise WaitFor(signal="arrived", details="asked", no_effect=True)
            return receipt_of(on.world.reserve("lamp", 1, operation=context.operation))

        return await on.play(plan=Plan([Step("slow", "slow"), CHARGE]), tools=[slow], person=arrive)


async def paused_and_budgeted(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A budget pauses the run twice; a person lets it go on with another one."""

    async def pay(run: RunHandle, state: RunState) -> None:
        if any(item.kind == "budget" for item in state.attention):
            await run.budget(Budget(steps=state.usage.steps + 2), reason="go on", by="ada")

    limits = Limits(budgets=(Budget(steps=1),))
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan([RESERVE, CHARGE, SHIP, TELL]), person=pay, limits=limits)
