"""Scenarios in which tools, rules of tools, and broken conditions ask for another plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from midcourse import (
    Plan,
    PlanningContext,
    Step,
    conditional_replan,
    replan_always,
    replan_and_add,
    tool,
)
from midcourse.actors.rules import ReplanDecision
from midcourse.examples.order.calls import KillAt
from midcourse.store import Journal

from .running import CHARGE, RESERVE, SHIP, TELL
from .stage import stage


@tool(effect="read")
async def forecast(port: str) -> dict[str, Any]:
    """Say what the weather is like."""
    return {"port": port, "calm": port != "Oslo"}


async def value_found(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """What a rule computes from a result goes onto the board, and the next plan is made with it."""
    look = replan_and_add(forecast, lambda found: None if found["calm"] else found["port"], name="storm")

    def plan(context: PlanningContext) -> Plan:
        if "storm" in context.board:
            return Plan([CHARGE, Step("told", "notify", {"customer": "ada", "text": "{{board.storm}}"})])
        return Plan([RESERVE, Step("weather", "forecast", {"port": "Oslo"}), SHIP])

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, tools=[look])


async def asked_after_every_call(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A tool after whose every call another plan is made."""

    def plan(context: PlanningContext) -> Plan:
        seen = len(context.committed("forecast"))
        if seen == 2:
            return Plan([SHIP, TELL])
        ports = ("Oslo", "Bergen")
        return Plan([RESERVE, Step("", "forecast", {"port": ports[seen]}), CHARGE])

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, tools=[replan_always(forecast)])


async def rule_that_raises(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A rule that raises is a failure beside a receipt that stands."""

    def decide(found: dict[str, Any]) -> ReplanDecision | None:
        return ReplanDecision("windy") if found["wind"] else None

    def plan(context: PlanningContext) -> Plan:
        if context.failures:
            return Plan([SHIP, TELL], reason=context.failures[-1].message)
        return Plan([RESERVE, Step("weather", "forecast", {"port": "Oslo"}), CHARGE])

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, tools=[conditional_replan(forecast, decide)])


async def condition_broken(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """What a tool finds out says that a step to come cannot work: nobody waits for it to fail."""

    @tool(effect="read", pre={"calm": True})
    async def sail() -> str:
        return "sailed"

    look = replan_and_add(forecast, lambda found: found["calm"], name="calm")

    def plan(context: PlanningContext) -> Plan:
        if context.revision == 0:
            return Plan([RESERVE, Step("weather", "forecast", {"port": "Bergen"}), Step("trip", "sail")])
        if context.revision == 1:
            return Plan([Step("again", "forecast", {"port": "Oslo"}), CHARGE, Step("trip", "sail")])
        return Plan([SHIP, TELL], reason=context.reason)

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, tools=[sail, look])
