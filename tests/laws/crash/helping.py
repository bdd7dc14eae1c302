"""Scenarios in which a run is stuck, and a handler helps it on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from midcourse import Consultation, NoPlan, Opinion, Plan, PlanningContext, Step
from midcourse.examples.order.calls import KillAt
from midcourse.store import Journal

from .replanning import ASK, ask
from .running import RESERVE, SHIP
from .stage import stage


async def stuck_then_helped(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """There is no plan, until the second handler has looked the address up; the first does not know it."""

    def plan(context: PlanningContext) -> Plan | NoPlan:
        if not context.is_replanning:
            return Plan([RESERVE, ASK, SHIP])
        if "address" not in context.board:
            return NoPlan("nobody knows where it is to go")
        to = {"order": "42", "destination": context.board["address"]}
        return Plan([Step("booking", "ship_sea", to)])

    def silent(_about: Consultation) -> None:
        return None

    async def look_up(about: Consultation) -> Opinion:
        assert about.context is not None
        return Opinion("plan", "the customer has moved", updates={"address": "Oslo"})

    handlers = {"silent": silent, "look_up": look_up}
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, tools=[ask], on_stuck=handlers)
