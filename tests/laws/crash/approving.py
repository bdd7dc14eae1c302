"""Scenarios in which a person is asked: steps and plans that are approved, or denied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from midcourse import (
    ApprovalRule,
    Authority,
    Plan,
    PlanningContext,
    RetryPolicy,
    RunHandle,
    RunState,
    Step,
    ToolContext,
    ToolError,
    tool,
)
from midcourse.examples.order.calls import KillAt
from midcourse.examples.order.tools import receipt_of
from midcourse.store import Journal

from .replanning import ASK, ask
from .running import CHARGE, RESERVE, SHIP, TELL
from .stage import stage


def asks_for(*tools: str) -> Authority:
    """Have people asked about some tools."""
    return Authority(approvals=tuple(ApprovalRule(tool=name) for name in tools), approvers=("host:*",))


async def approve_all(run: RunHandle, state: RunState) -> None:
    for approval in state.approvals:
        await run.approve(approval.subject, by="ada")


async def deny_all(run: RunHandle, state: RunState) -> None:
    for approval in state.approvals:
        await run.deny(approval.subject, by="ada", reason="not today")


async def approved_step(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """Two steps wait for approval, and get it."""
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(
            plan=Plan([RESERVE, CHARGE, SHIP, TELL]),
            person=approve_all,
            authority=asks_for("charge", "ship_*"),
        )


async def denied_step(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A step is denied approval, so what was done before is undone."""
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(
            plan=Plan([RESERVE, CHARGE, SHIP]), person=deny_all, authority=asks_for("ship_*")
        )


async def skipped_step(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A step that is denied approval is skipped, another has a result instead of its effect."""
    with stage(journal, folder, kill_at=kill_at) as on:
        tell = Step("told", "notify", {**TELL.input, "text": "skip this"}, when_unapproved="skip")
        ship = Step(
            "booking", "ship_sea", SHIP.input, when_unapproved="default", default={"shipment_id": "none"}
        )
        return await on.play(
            plan=Plan([RESERVE, tell, ship, Step("again", "notify", TELL.input)]),
            person=lambda run, state: (
                approve_all(run, state) if "again" in _asked(state) else deny_all(run, state)
            ),
            authority=asks_for("notify", "ship_*"),
        )


def _asked(state: RunState) -> set[str]:
    return {approval.step for approval in state.approvals}


async def approved_retry(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A step that was approved fails once, and is not asked about again."""
    with stage(journal, folder, kill_at=kill_at) as on:

        @tool(idempotent=True, retry=RetryPolicy(initial_s=0.004))
        async def flaky(customer: str, *, context: ToolContext) -> Any:
            if context.attempt == 1:
                raise ToolError("busy, come back later")
            return receipt_of(on.world.notify(customer, "at last", operation=context.operation))

        return await on.play(
            plan=Plan([RESERVE, Step("flaky", "flaky", {"customer": "ada"})]),
            tools=[flaky],
            person=approve_all,
            authority=asks_for("flaky"),
        )


async def plan_denied_then_approved(
    journal: Journal, folder: Path, kill_at: KillAt | None = None
) -> list[Any]:
    """In interactive mode a plan is denied, and the next is approved with its irreversible steps."""

    def plan(context: PlanningContext) -> Plan:
        if context.refusals:
            return Plan([RESERVE, SHIP, TELL], reason="second")
        return Plan([CHARGE, SHIP], reason="first")

    async def answer(run: RunHandle, state: RunState) -> None:
        for approval in state.approvals:
            if approval.plan is not None and approval.plan.reason == "first":
                await run.deny(approval.subject, by="ada", reason="do not charge")
            else:
                await run.approve(approval.subject, by="ada")

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, person=answer, authority=asks_for(), mode="interactive")


async def planned_undo_approved(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A plan takes an effect back, which needs approval, so the plan waits for it."""

    def plan(context: PlanningContext) -> Plan:
        if not context.is_replanning:
            return Plan([RESERVE, CHARGE, ASK])
        return Plan([SHIP, TELL], undo=[entry.operation for entry in context.committed("reserve")])

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, tools=[ask], person=approve_all, authority=asks_for("release"))
