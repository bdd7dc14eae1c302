"""Scenarios of control steps: every call inside of them is a durable step of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from midcourse import Plan, RetryPolicy, RunHandle, RunState, Step, tool
from midcourse.domain.control import PlanStep
from midcourse.domain.plan_file import PlanFile
from midcourse.examples.order.calls import KillAt
from midcourse.store import Journal

from .running import CHARGE, RESERVE
from .stage import stage

SAY = {"tool_name": "notify", "input": {"customer": "{{item}}", "text": "hello"}}


async def map_over_items(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """Two effects for every item, two items at a time."""
    more = {"customer": "{{item}}", "text": "and you"}
    body = [{"id": "A", **SAY}, {"id": "B", "tool_name": "notify", "input": more}]
    every = Step("all", "map", {"over": ["ada", "bob", "cay"], "concurrency": 2, "do": body})
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan([RESERVE, every, CHARGE]))


async def map_that_fails(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """One item fails: the others finish, and what was done is undone."""

    @tool(effect="read", retry=RetryPolicy(max_attempts=1))
    async def check(name: str) -> str:
        if name == "bob":
            raise ValueError("not bob")
        return name

    body = {"tool_name": "check", "input": {"name": "{{item}}"}}
    every = Step("all", "map", {"over": ["ada", "bob"], "do": body})
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan([RESERVE, CHARGE, every]), tools=[check])


async def reduced(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """Each call is made with the result of the one before."""

    @tool(effect="read")
    async def add(total: int, item: int) -> int:
        return total + item

    body = {"tool_name": "add", "input": {"total": "{{accumulator}}", "item": "{{item}}"}}
    total = Step("sum", "reduce", {"over": [1, 2, 3], "initial": 0, "do": body})
    tell = Step("told", "notify", {"customer": "ada", "text": "{{sum.result}} in all"})
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan([total, tell]), tools=[add])


async def decided(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A branch is taken once, and the plan ends in it."""
    leave = {"id": "X", "tool_name": "exit", "input": {"status": "success", "output": {"said": "{{A}}"}}}
    branch = [{"id": "A", "tool_name": "notify", "input": {"customer": "ada", "text": "so be it"}}, leave]
    choice = Step("choice", "decide", {"if": {"expr": "size(board) == 0"}, "then": branch})
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan([RESERVE, choice, CHARGE]))


async def asked(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A person answers a question, and what they said is used."""

    async def answer(run: RunHandle, state: RunState) -> None:
        if any(item.kind == "question" for item in state.attention):
            await run.answer("which", {"text": "the blue one"}, by="ada")

    schema = {"properties": {"text": {"type": "string"}}, "required": ["text"]}
    which = Step("which", "ask", {"prompt": "Which one?", "output_schema": schema})
    tell = Step("told", "notify", {"customer": "ada", "text": "{{which.answer.text}}"})
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan([RESERVE, which, tell]), person=answer, mode="interactive")


async def plan_in_a_plan(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A plan called by a step maps over its input."""
    do = {**SAY, "tool_name": "user__notify"}
    every = PlanStep(id="M", tool_name="map", input={"over": "{{input.names}}", "do": do})
    inner = PlanFile(
        identifier="tell_all", name="Tell all", description="Says hello", steps=(every,),
        output={"told": "{{M.count}}"},
    )  # fmt: skip
    call = Step("told", "plan__tell_all", {"names": ["ada", "bob"]})
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan([RESERVE, call, CHARGE]), plans=[inner])
