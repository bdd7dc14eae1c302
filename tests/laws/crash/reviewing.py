"""Scenarios in which steps and plans are reviewed, and requirements counted."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from midcourse import (
    Authority,
    Consultation,
    Goal,
    Opinion,
    Plan,
    PlanningContext,
    Requirement,
    ReviewRule,
    RunHandle,
    RunState,
    Step,
    ToolError,
    tool,
)
from midcourse.examples.order.calls import KillAt
from midcourse.store import Journal

from .running import CHARGE, RESERVE, SHIP, TELL
from .stage import stage

HELLO = Step("told", "notify", {"customer": "ada", "text": "hello"})


def _reviewed(step: Any, by: str = "quality") -> Any:
    return msgspec.structs.replace(step, review=by)


def strict(about: Consultation) -> Opinion:
    """The first try is never good enough."""
    return Opinion("step", "once more") if about.round == 1 else Opinion("ok")


async def done_again(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A reversible step is undone and done again after its review; a person finds the next one good."""

    async def look(run: RunHandle, state: RunState) -> None:
        if any(item.kind == "review" and item.subject == CHARGE.id for item in state.attention):
            await run.review(CHARGE.id, "ok", by="ada")

    plan = Plan([_reviewed(RESERVE), _reviewed(CHARGE, "person"), SHIP, TELL])
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=plan, person=look, reviewers={"quality": strict})


async def becomes_a_plan(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A notice that should be done again cannot be taken back: another plan follows it."""

    def plan(context: PlanningContext) -> Plan:
        return Plan([CHARGE] if context.is_replanning else [RESERVE, _reviewed(HELLO)])

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, reviewers={"quality": strict})


async def plan_waits_for_review(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A step fails while another is being reviewed by a rule: the next plan is made once that is over."""
    is_asked = asyncio.Event()

    @tool(idempotent=True)
    async def broken(order: str) -> None:
        raise ToolError(f"no courier for {order}", retryable=False, no_effect=True)

    def plan(context: PlanningContext) -> Plan:
        if context.is_replanning:
            assert len(context.askers) == 2
            return Plan([CHARGE, SHIP])
        courier = Step("courier", "broken", {"order": "42"}, needs=())
        return Plan([msgspec.structs.replace(RESERVE, needs=()), courier])

    async def note(_run: RunHandle, state: RunState) -> None:
        if state.replan_reason:
            is_asked.set()

    async def slow(_about: Consultation) -> Opinion:
        await is_asked.wait()
        return Opinion("step", "the wrong shelf")

    rules = Authority(reviews=(ReviewRule(tool="reserve", by="slow"),))
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(
            planner=plan, tools=[broken], person=note, authority=rules, reviewers={"slow": slow}
        )


async def plan_refused(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A plan is refused by its reviewer, and the next one is not."""

    def plan(context: PlanningContext) -> Plan:
        return Plan([RESERVE, CHARGE, SHIP] if context.refusals else [SHIP])

    def careful(about: Consultation) -> Opinion:
        paid = about.plan is not None and any(step.id == CHARGE.id for step in about.plan.steps)
        return Opinion("ok") if paid else Opinion("refuse", "nobody has paid")

    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, reviewers={"careful": careful}, plan_reviewers=["careful"])


async def covered(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """Requirements without evidence ask for a plan that has it; one of them is judged."""

    def plan(context: PlanningContext) -> Plan:
        return Plan([SHIP, TELL] if context.gaps else [RESERVE, CHARGE])

    def judge(about: Consultation) -> Opinion:
        told = tuple(entry.operation for entry in about.ledger if entry.tool == "user__notify")
        return Opinion("ok", cites=told) if told else Opinion("gap", "nobody was told")

    goal = Goal(
        "deliver",
        {},
        (
            Requirement(id="sent", text="it is on its way", evidence={"operation": "ship*"}),
            Requirement(id="told", text="the customer knows", evidence={"judge": "Does the customer know?"}),
        ),
    )
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(planner=plan, goal=goal, reviewers={"judge": judge})
