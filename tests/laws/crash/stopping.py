"""Scenarios in which a run is cancelled at awkward moments, undos give up, and approvals come to nothing."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Any

from midcourse import (
    MidcourseError,
    Plan,
    PlanningContext,
    Receipt,
    RequestReplan,
    RetryPolicy,
    RunHandle,
    RunState,
    Step,
    ToolContext,
    ToolError,
    tool,
)
from midcourse.actors.testing.crash import Scenario
from midcourse.domain import facts as f
from midcourse.examples.order.calls import KillAt
from midcourse.examples.order.tools import receipt_of
from midcourse.store import Journal

from .approving import asks_for
from .leaving import ASK, fact_of
from .replanning import ask
from .running import CHARGE, RESERVE, SHIP, TELL_NOBODY
from .stage import stage
from .undoing import BOOK, BROKEN, broken, shelf


async def cancelled_in_a_thread(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A tool that works in a thread hears of the cancel by its heartbeat; what was done is undone."""

    @tool(effect="read")
    def count_stock(*, context: ToolContext) -> None:
        while True:
            context.heartbeat()
            threading.Event().wait(0.002)

    async def cancel(run: RunHandle, state: RunState) -> None:
        if state.status == "running" and state.steps[2].state in ("running", "backoff"):
            await run.cancel("it takes too long")

    with stage(journal, folder, kill_at=kill_at) as on:
        plan = Plan([RESERVE, CHARGE, Step("count", "count_stock"), TELL_NOBODY])
        return await on.play(plan=plan, tools=[count_stock], person=cancel)


async def cancelled_while_undoing(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A cancel comes while an undo waits for another try: it is recorded, and undoing goes on."""

    async def cancel(run: RunHandle, state: RunState) -> None:
        if any(undo.state == "backoff" for undo in state.undos):
            with contextlib.suppress(MidcourseError):  # it may have ended meanwhile
                await run.cancel("never mind")

    with stage(journal, folder, kill_at=kill_at) as on:
        plan = Plan([RESERVE, BOOK, CHARGE, BROKEN])
        return await on.play(
            plan=plan, tools=[broken, *shelf(on.world, fails=2, back_off_s=0.03)], person=cancel
        )


async def undo_fails_three_times(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A plan takes three effects back; one undo fails three times: two are done, the third is parked."""
    with stage(journal, folder, kill_at=kill_at) as on:

        @tool(effect="reversible", undo="unpin", idempotent=True)
        async def pin(sku: str, *, context: ToolContext) -> Receipt:
            return receipt_of(on.world.reserve(sku, 1, operation=context.operation))

        @tool(idempotent=True, retry=RetryPolicy(initial_s=0.002, max_attempts=3))
        async def unpin(receipt: Receipt) -> None:
            raise ToolError(f"{receipt.resources[0].id} is stuck", no_effect=True)

        def plan(context: PlanningContext) -> Plan:
            if context.is_replanning:
                return Plan(
                    [SHIP], undo=[entry.operation for entry in context.ledger if entry.effect != "read"]
                )
            return Plan(
                [RESERVE, Step("pin", "pin", {"sku": "lamp"}), CHARGE, Step("asked", "user__ask", ASK.input)]
            )

        return await on.play(planner=plan, tools=[ask, pin, unpin])


async def approved_then_changed(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A step is approved while another plan is owed, which changes its arguments: it is asked about again."""
    with stage(journal, folder, kill_at=kill_at) as on:

        async def plan(context: PlanningContext) -> Plan:
            if not context.is_replanning:
                return Plan(
                    [Step("booking", "ship_sea", {"order": "42", "destination": "Bergen"}, needs=()), ASK]
                )
            await fact_of(on.engine.run(context.run_id), f.ApprovalGiven)
            return Plan([RESERVE, Step("booking", "ship_sea", {"order": "42", "destination": "Oslo"})])

        async def approve(run: RunHandle, state: RunState) -> None:
            if state.replan_reason or state.revision > 1:
                for approval in state.approvals:
                    await run.approve(approval.subject, by="ada")

        return await on.play(planner=plan, tools=[ask], person=approve, authority=asks_for("ship_*"))


async def asked_in_circles(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """Two tools ask for a plan with the other one, for ever: the run is stuck, and the cycle is named."""

    @tool(effect="read")
    async def by_land() -> None:
        raise RequestReplan("there is no road", no_effect=True)

    @tool(effect="read")
    async def by_sea() -> None:
        raise RequestReplan("there is no water", no_effect=True)

    def plan(context: PlanningContext) -> Plan:
        way = "by_sea" if "user__by_land" in context.excluded else "by_land"
        return Plan([Step("", "reserve", RESERVE.input), Step("", way)])

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, tools=[by_land, by_sea])


STOPPING: tuple[Scenario, ...] = (
    cancelled_in_a_thread,
    cancelled_while_undoing,
    undo_fails_three_times,
    approved_then_changed,
    asked_in_circles,
)
