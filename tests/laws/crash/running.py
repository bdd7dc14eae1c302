"""Scenarios of steps: in order, side by side, again, late, cancelled, and with an outcome nobody knows."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from midcourse import (
    OutcomeUnknownError,
    Plan,
    Receipt,
    RetryPolicy,
    RunHandle,
    RunState,
    Settings,
    Step,
    ToolContext,
    ToolError,
    tool,
)
from midcourse.examples.order.calls import KillAt
from midcourse.examples.order.tools import receipt_of
from midcourse.examples.order.world import World
from midcourse.store import Journal

from .stage import stage

AT_ONCE = RetryPolicy(initial_s=0.001)
RESERVE = Step("stock", "reserve", {"sku": "lamp", "quantity": 2})
CHARGE = Step("payment", "charge", {"order": "42", "amount_cents": 150_00})
SHIP = Step("booking", "ship_sea", {"order": "42", "destination": "Oslo"})
TELL_NOBODY = Step("told", "notify", {"customer": "ada", "text": "this must not be sent"})
TELL = Step("told", "notify", {"customer": "ada", "text": "Booked: {{booking.shipment_id}}."})


async def sequence(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """Effects one after the other, one of them with the result of another."""
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan([RESERVE, CHARGE, SHIP, TELL]))


async def wide_dag(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """Ten effects side by side, then one that waits for all of them."""
    names = [f"n{number}" for number in range(10)]
    steps = [Step(name, "notify", {"customer": name, "text": "hello"}, needs=()) for name in names]
    last = Step("last", "reserve", {"sku": "lamp", "quantity": 1}, needs=tuple(names))
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan([*steps, last]))


async def dag_one_by_one(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """Ten steps are in flight together, and end one after the other."""
    gates = [asyncio.Event() for _ in range(11)]

    async def open_next(_run: RunHandle, state: RunState) -> None:
        gates[len(state.ledger)].set()

    with stage(journal, folder, kill_at=kill_at) as on:

        @tool(idempotent=True)
        async def pass_gate(number: int, *, context: ToolContext) -> Receipt:
            await gates[number].wait()
            return receipt_of(on.world.notify("ada", f"gate {number}", operation=context.operation))

        steps = [Step(f"g{number}", "pass_gate", {"number": number}, needs=()) for number in range(10)]
        return await on.play(plan=Plan(steps), tools=[pass_gate], person=open_next)


async def retry_with_back_off(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A tool that fails twice before it acts."""
    with stage(journal, folder, kill_at=kill_at) as on:

        @tool(idempotent=True, retry=RetryPolicy(initial_s=0.004))
        async def flaky(customer: str, *, context: ToolContext) -> Receipt:
            if context.attempt < 3:
                raise ToolError("busy, come back later")
            return receipt_of(on.world.notify(customer, "at last", operation=context.operation))

        return await on.play(plan=Plan([RESERVE, Step("flaky", "flaky", {"customer": "ada"})]), tools=[flaky])


async def late_receipt(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """An attempt that was given up acts all the same, and its receipt comes while the next attempt runs."""
    with stage(journal, folder, kill_at=kill_at) as on:
        calls: list[str] = []
        overtaken = asyncio.Event()

        @tool(idempotent=True, timeout_s=0.02, retry=AT_ONCE)
        async def slow(customer: str, *, context: ToolContext) -> Receipt:
            calls.append(context.operation)
            if len(calls) > 1:
                overtaken.set()
                await asyncio.Event().wait()
            while not overtaken.is_set():
                try:
                    await overtaken.wait()
                except asyncio.CancelledError:
                    continue
            return receipt_of(on.world.notify(customer, "late", operation=context.operation))

        return await on.play(
            plan=Plan([RESERVE, Step("slow", "slow", {"customer": "ada"}), CHARGE]),
            tools=[slow],
            settings=Settings(cancel_timeout_s=0.02),
        )


async def cancelled(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A run that is cancelled in its third step has two effects to undo."""

    @tool(effect="read")
    async def hold() -> None:
        await asyncio.Event().wait()

    async def cancel(run: RunHandle, state: RunState) -> None:
        if state.status == "running" and state.steps[2].state in ("running", "backoff"):
            await run.cancel("the customer has changed her mind")

    with stage(journal, folder, kill_at=kill_at) as on:
        plan = Plan([RESERVE, CHARGE, Step("hold", "hold"), TELL_NOBODY])
        return await on.play(plan=plan, tools=[hold], person=cancel)


async def safe_to_lose(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """Payments that must not be repeated, and a provider that can be asked what it did."""
    with stage(journal, folder, kill_at=kill_at, payments_ignore_keys=True) as on:
        return await on.play(plan=Plan([RESERVE, CHARGE, SHIP, TELL]))


async def probe_says_happened(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """The answer of a payment is lost after it was made."""
    return await _unanswered(journal, folder, kill_at, acts_first=True, has_probe=True)


async def probe_says_not_happened(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """The connection is lost before the payment was made, and only the second attempt makes it."""
    return await _unanswered(journal, folder, kill_at, acts_first=False, has_probe=True)


async def person_says_happened(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """The answer of a payment is lost after it was made, and the provider cannot be asked."""
    return await _unanswered(journal, folder, kill_at, acts_first=True, has_probe=False)


async def person_says_not_happened(
    journal: Journal, folder: Path, kill_at: KillAt | None = None
) -> list[Any]:
    """The connection is lost before the payment was made, and the provider cannot be asked."""
    return await _unanswered(journal, folder, kill_at, acts_first=False, has_probe=False)


async def _unanswered(
    journal: Journal, folder: Path, kill_at: KillAt | None, *, acts_first: bool, has_probe: bool
) -> list[Any]:
    with stage(journal, folder, kill_at=kill_at, payments_ignore_keys=True) as on:

        def probe(operation: str) -> Receipt | None:
            answer = on.world.probe(operation)
            return None if answer is None else receipt_of(answer)

        @tool(probe=probe if has_probe else None)
        def pay(order: str, amount_cents: int, *, context: ToolContext) -> Receipt:
            is_first = context.attempt == 1
            if is_first and not acts_first:
                raise OutcomeUnknownError("the connection was refused")
            charge = on.world.charge(order, amount_cents, operation=context.operation)
            if is_first:
                raise OutcomeUnknownError("the connection was lost")
            return receipt_of(charge)

        plan = Plan([RESERVE, Step("payment", "pay", {"order": "42", "amount_cents": 7}), SHIP])
        return await on.play(plan=plan, tools=[pay], person=Bookkeeper(on.world))


class Bookkeeper:
    """A person who settles unknown outcomes by looking at the world."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def __call__(self, run: RunHandle, state: RunState) -> None:
        for item in state.attention:
            answer = self._world.probe(item.subject)
            if answer is None:
                await run.settle(item.subject, not_happened=True, reason="it is not in the books", by="bo")
            else:
                await run.settle(
                    item.subject, happened=receipt_of(answer), reason="it is in the books", by="bo"
                )
