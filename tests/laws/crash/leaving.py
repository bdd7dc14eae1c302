"""Scenarios of plans that are left while steps are in flight: kept, stopped, waited for, taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from midcourse import (
    Plan,
    PlanningContext,
    Receipt,
    Record,
    RunHandle,
    RunState,
    Step,
    Tool,
    ToolContext,
    tool,
)
from midcourse.actors.testing.crash import Scenario
from midcourse.domain import facts as f
from midcourse.domain.plan import OnReplan
from midcourse.examples.order.calls import KillAt
from midcourse.examples.order.tools import receipt_of
from midcourse.store import Journal

from .replanning import ask
from .running import CHARGE, RESERVE, SHIP, TELL
from .stage import Stage, stage

ASK = Step("asked", "user__ask", {"question": "how to go on"}, needs=())


async def fact_of(run: RunHandle, kind: type[f.Fact], **fields: Any) -> Record:
    """Wait for a fact of a run that is recorded, or will be."""
    async for record in run.facts():
        fact = record.fact
        if isinstance(fact, kind) and all(getattr(fact, name) == value for name, value in fields.items()):
            return record
    raise AssertionError(f"the run ended without {kind.__name__}")


def slow_booking(on: Stage, kind: type[f.Fact], **fields: Any) -> list[Tool]:
    """A reservation that does not come before a fact."""

    @tool(effect="reversible", undo="unbook", idempotent=True)
    async def book(sku: str, *, context: ToolContext) -> Receipt:
        await fact_of(on.engine.run(context.run_id), kind, **fields)
        return receipt_of(on.world.reserve(sku, 1, operation=context.operation))

    @tool(idempotent=True)
    async def unbook(receipt: Receipt, *, context: ToolContext) -> Receipt:
        return receipt_of(on.world.release(receipt.resources[0].id, operation=context.operation))

    return [book, unbook]


def booking(on_replan: OnReplan = "drain") -> Step:
    return Step("slow", "book", {"sku": "lamp"}, needs=(), on_replan=on_replan)


def notice(name: str, *needs: str) -> Step:
    return Step(name, "notify", {"customer": name, "text": "hello"}, needs=needs)


async def fifteen_ready(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """Fifteen steps become ready while another plan is owed: none of them begins."""
    names = [f"n{number}" for number in range(15)]

    def plan(context: PlanningContext) -> Plan:
        if context.is_replanning:
            return Plan([CHARGE], reason=context.reason)
        return Plan([ASK, booking(), *(notice(name, "slow") for name in names)])

    with stage(journal, folder, kill_at=kill_at) as on:
        tools = [ask, *slow_booking(on, f.ReplanRequested)]
        return await on.play(planner=plan, tools=tools)


async def kept_in_flight(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A step in flight goes on in the next plan, and is done once."""

    def plan(context: PlanningContext) -> Plan:
        if not context.is_replanning:
            return Plan([ASK, booking("adopt"), notice("never", "slow")])
        kept = [each.step for each in context.open_operations]
        return Plan([*kept, notice("then", "slow")])

    with stage(journal, folder, kill_at=kill_at) as on:
        tools = [ask, *slow_booking(on, f.PlanAccepted, revision=2)]
        return await on.play(planner=plan, tools=tools)


async def left_in_flight(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A step in flight is in no plan any more: what comes of it is taken back."""

    def plan(context: PlanningContext) -> Plan:
        if context.is_replanning:
            return Plan([notice("then")])
        return Plan([ASK, booking("adopt"), notice("never", "slow")])

    with stage(journal, folder, kill_at=kill_at) as on:
        tools = [ask, *slow_booking(on, f.PlanAccepted, revision=2)]
        return await on.play(planner=plan, tools=tools)


async def stopped_in_flight(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A payment in flight is asked to stop, and its provider says that it was not made."""
    with stage(journal, folder, kill_at=kill_at, payments_ignore_keys=True) as on:

        def probe(operation: str) -> Receipt | None:
            answer = on.world.probe(operation)
            return None if answer is None else receipt_of(answer)

        @tool(probe=probe)
        async def pay(order: str, *, context: ToolContext) -> Receipt:
            run = on.engine.run(context.run_id)
            await fact_of(run, f.RunCompleted)
            return receipt_of(on.world.charge(order, 1, operation=context.operation))

        def plan(context: PlanningContext) -> Plan:
            if context.is_replanning:
                return Plan([SHIP, TELL])
            payment = Step("payment", "pay", {"order": "42"}, needs=(), on_replan="cancel")
            return Plan([payment, ASK])

        return await on.play(planner=plan, tools=[ask, pay])


async def proposed_in_flight(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A person proposes while a step is in flight; the proposal waits for it and uses its result."""
    again = Step("told", "notify", {"customer": "ada", "text": "{{slow.reservation_id}}"}, needs=("slow",))

    async def propose(run: RunHandle, state: RunState) -> None:
        if state.revision == 1 and not state.replan_reason:
            await run.propose(Plan([again]), epoch=state.epoch)

    with stage(journal, folder, kill_at=kill_at) as on:
        tools = slow_booking(on, f.ProposalHeld)
        plan = Plan([booking(), notice("never", "slow")])
        return await on.play(plan=plan, tools=tools, person=propose)


async def jumped(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """Somebody asks for another plan from outside, with an id, as often as it takes to be answered."""

    def plan(context: PlanningContext) -> Plan:
        return Plan([CHARGE] if context.is_replanning else [booking(), notice("never", "slow")])

    async def jump(run: RunHandle, state: RunState) -> None:
        if state.status in ("planning", "running") and state.revision > 0:
            assert await run.replan("the customer has called", id="call-1") in ("ACCEPTED", "PROCESSING")

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, tools=slow_booking(on, f.ReplanRequested), person=jump)


async def undone_on_request(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A person has an effect taken back in the middle of a plan, which goes on."""

    async def recall(run: RunHandle, state: RunState) -> None:
        for entry in state.ledger:
            if entry.step == RESERVE.id and entry.state == "committed" and state.status == "running":
                await run.compensate(entry.operation, undo=True, reason="sold to somebody else", by="bo")

    with stage(journal, folder, kill_at=kill_at) as on:

        @tool(effect="read")
        async def wait_for_it(*, context: ToolContext) -> None:
            await fact_of(on.engine.run(context.run_id), f.CompensationCompleted)

        plan = Plan([RESERVE, CHARGE, Step("pause", "wait_for_it"), SHIP])
        return await on.play(plan=plan, tools=[wait_for_it], person=recall)


LEAVING: tuple[Scenario, ...] = (
    fifteen_ready,
    kept_in_flight,
    left_in_flight,
    stopped_in_flight,
    proposed_in_flight,
    jumped,
    undone_on_request,
)
