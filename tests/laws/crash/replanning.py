"""Scenarios in which the plan changes: refused, failed, overtaken, repeated, contradicted, stuck."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from midcourse import (
    GoalReached,
    NoPlan,
    Plan,
    PlanningContext,
    Receipt,
    RequestReplan,
    RunHandle,
    RunState,
    Step,
    ToolContext,
    ToolError,
    tool,
)
from midcourse.examples.order.calls import KillAt
from midcourse.examples.order.desk import ServiceDesk
from midcourse.examples.order.planners import order_planners
from midcourse.examples.order.scenario import SCENARIOS
from midcourse.examples.order.tools import receipt_of
from midcourse.store import Journal

from .running import CHARGE, RESERVE, SHIP, TELL
from .stage import stage

ASK = Step("asked", "user__ask", {"question": "how to go on"})


@tool(effect="read")
async def ask(question: str) -> None:
    """Ask for another plan, and leave an answer for it."""
    raise RequestReplan(question, updates={"answer": {"mode": "sea"}}, no_effect=True)


async def step_in_flight(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A step in flight when another plan is asked for is waited for; the one to follow it is not begun."""
    is_asked = asyncio.Event()

    async def note(_run: RunHandle, state: RunState) -> None:
        if state.replan_reason or state.revision > 1:
            is_asked.set()

    def plan(context: PlanningContext) -> Plan:
        if context.is_replanning:
            return Plan([Step("booking", "ship_sea", SHIP.input, needs=("slow",)), TELL])
        never = Step("never", "notify", {"customer": "ada", "text": "old plan"}, needs=("slow",))
        return Plan([msgspec.structs.replace(ASK, needs=()), Step("slow", "slow", needs=()), never])

    with stage(journal, folder, kill_at=kill_at) as on:

        @tool(idempotent=True)
        async def slow(*, context: ToolContext) -> Receipt:
            await is_asked.wait()
            return receipt_of(on.world.reserve("lamp", 1, operation=context.operation))

        return await on.play(planner=plan, tools=[ask, slow], person=note)


async def cancelled_while_planning(
    journal: Journal, folder: Path, kill_at: KillAt | None = None
) -> list[Any]:
    """A run is cancelled while its planner thinks, and what it did before is undone."""

    async def plan(context: PlanningContext) -> Plan:
        if context.is_replanning:
            await asyncio.Event().wait()
        return Plan([RESERVE, CHARGE, ASK])

    async def cancel(run: RunHandle, state: RunState) -> None:
        if state.replan_reason:
            await run.cancel("it takes too long")

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, tools=[ask], person=cancel)


async def failed_step(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A step that a planner chose fails for good, and the next plan goes another way."""

    @tool(idempotent=True)
    async def broken(order: str) -> None:
        raise ToolError(f"no courier for {order}", retryable=False, no_effect=True)

    def plan(context: PlanningContext) -> Plan:
        if context.failures:
            return Plan([SHIP, TELL], reason=context.failures[-1].message)
        return Plan([RESERVE, Step("courier", "broken", {"order": "42"}), CHARGE])

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, tools=[broken])


async def request_with_updates(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A tool asks for another plan, which is made from what the tool left on the board."""

    def plan(context: PlanningContext) -> Plan:
        answer = context.board.get("answer")
        if answer is None:
            return Plan([RESERVE, ASK, CHARGE])
        return Plan([Step("booking", f"ship_{answer['mode']}", SHIP.input), TELL])

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, tools=[ask])


async def request_with_receipt(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A tool acts and asks for another plan at once; the effect stays."""
    with stage(journal, folder, kill_at=kill_at) as on:

        @tool(idempotent=True)
        async def pick(sku: str, *, context: ToolContext) -> None:
            done = receipt_of(on.world.reserve(sku, 1, operation=context.operation))
            raise RequestReplan("the box is smaller than thought", receipt=done)

        def plan(context: PlanningContext) -> Plan:
            return Plan(
                [CHARGE] if context.is_replanning else [Step("picked", "pick", {"sku": "lamp"}), SHIP]
            )

        return await on.play(planner=plan, tools=[pick])


async def stale_proposal(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """News arrive while a plan is made, so it is stale when it comes."""
    with stage(journal, folder, kill_at=kill_at) as on:

        async def plan(context: PlanningContext) -> Plan:
            if not context.is_replanning:
                return Plan([RESERVE, ASK])
            if not context.signals:
                await on.engine.run(context.run_id).signal("address_changed", "Oslo", id="call-1")
                return Plan([CHARGE], reason="made before the news")
            return Plan([SHIP, TELL], reason="made after the news")

        return await on.play(planner=plan, tools=[ask])


async def listed_undo(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A plan takes one effect back by listing it, and keeps another by leaving it out."""

    def plan(context: PlanningContext) -> Plan:
        if not context.is_replanning:
            return Plan([RESERVE, CHARGE, ASK])
        return Plan([SHIP, TELL], undo=[entry.operation for entry in context.committed("reserve")])

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, tools=[ask])


async def planned_undo(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A plan takes an effect back by a step of its own, between others."""

    def plan(context: PlanningContext) -> Plan:
        if not context.is_replanning:
            return Plan([RESERVE, CHARGE, ASK])
        paid = context.committed("charge")[0]
        receipt = {"receipt": msgspec.to_builtins(paid.receipt)}
        return Plan([SHIP, Step("paid_back", "refund", receipt, undoes=paid.operation), TELL])

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, tools=[ask])


async def undo_and_redo(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A plan undoes an effect and asks for the same again: a new operation."""

    def plan(context: PlanningContext) -> Plan:
        if not context.is_replanning:
            return Plan([RESERVE, ASK])
        again = Step("stock2", "reserve", RESERVE.input, again=True)
        return Plan([again], undo=[entry.operation for entry in context.committed("reserve")])

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, tools=[ask])


async def satisfied_from_ledger(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A new tail repeats what is committed, under another name and in another order: it is not done again."""

    def plan(context: PlanningContext) -> Plan:
        if not context.is_replanning:
            return Plan([RESERVE, CHARGE, ASK])
        charge, reserve = Step("pay", "charge", CHARGE.input), Step("take", "reserve", RESERVE.input)
        return Plan([charge, reserve, SHIP])

    with stage(journal, folder, kill_at=kill_at, payments_ignore_keys=True) as on:
        return await on.play(planner=plan, tools=[ask])


async def conflict_in_proposal(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A plan charges the same order another amount: it is refused, and so is the money."""

    def plan(context: PlanningContext) -> Plan:
        if not context.is_replanning:
            return Plan([CHARGE, ASK])
        amount_cents = 150_00 if context.refusals else 1
        return Plan([Step("pay", "charge", {"order": "42", "amount_cents": amount_cents}), RESERVE])

    with stage(journal, folder, kill_at=kill_at, payments_ignore_keys=True) as on:
        return await on.play(planner=plan, tools=[ask])


async def conflict_at_admission(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """The other amount shows only when the step's turn comes: the step fails, and another plan is made."""

    def plan(context: PlanningContext) -> Plan:
        if any(failure.kind == "conflict" for failure in context.failures):
            return Plan([SHIP])
        if not context.is_replanning:
            return Plan([CHARGE, ASK])
        more = {"order": "42", "amount_cents": "{{stock.quantity}}"}
        return Plan([RESERVE, Step("pay", "charge", more)])

    with stage(journal, folder, kill_at=kill_at, payments_ignore_keys=True) as on:
        return await on.play(planner=plan, tools=[ask])


async def irreversible_constraint(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """What was sent cannot be taken back: the next plan is told so, and follows it by a correction."""

    def plan(context: PlanningContext) -> Plan:
        if not context.is_replanning:
            return Plan([RESERVE, Step("sent", "announce", {"customer": "ada", "text": "by express"}), ASK])
        corrections = [
            Step("", "send_correction", {"customer": entry.input["customer"], "text": "not by express"})
            for entry in context.constraints
        ]
        return Plan(corrections, undo=[entry.operation for entry in context.committed("reserve")])

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, tools=[ask])


async def goal_reached_early(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """The planner finds that nothing is left to do, though steps were planned."""

    def plan(context: PlanningContext) -> Plan | GoalReached:
        if context.is_replanning:
            return GoalReached("the customer came and took it")
        return Plan([RESERVE, ASK, SHIP])

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, tools=[ask])


async def stuck_then_signal(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """There is no plan, until a person says something new."""

    def plan(context: PlanningContext) -> Plan | NoPlan:
        if not context.is_replanning:
            return Plan([RESERVE, ASK, SHIP])
        if not context.signals:
            return NoPlan("nobody knows where it is to go")
        return Plan(
            [Step("booking", "ship_sea", {"order": "42", "destination": context.signals[-1].payload})]
        )

    async def tell(run: RunHandle, state: RunState) -> None:
        if state.attention:
            await run.signal("address", "Oslo", id="call-1", by="ada")

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, tools=[ask], person=tell)


async def order(
    journal: Journal,
    folder: Path,
    kill_at: KillAt | None = None,
    variant: str = "ship",
    planner: str = "goap",
) -> list[Any]:
    """The main example."""
    scenario = SCENARIOS[variant]
    planners = order_planners(ServiceDesk(journal.url).change_address)
    name = f"{planner}_interrupted" if scenario.new_destination else planner
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=planners[name], goal=scenario.goal(), has_conditions=True)
