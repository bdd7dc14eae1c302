"""Scenarios of control steps: what they call is durable call by call, in bodies and in plans in plans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from midcourse import (
    Breakpoints,
    Plan,
    PlanningContext,
    Receipt,
    RetryPolicy,
    RunHandle,
    RunState,
    Step,
    ToolContext,
    ToolError,
    tool,
)
from midcourse.domain.control import PlanStep
from midcourse.domain.plan_file import PlanFile
from midcourse.examples.order.calls import KillAt
from midcourse.examples.order.tools import receipt_of
from midcourse.store import Journal

from .replanning import ask
from .running import CHARGE, RESERVE
from .stage import stage

MANY = [1, 2, 1]
"""How many lamps each item takes; two of them ask for the same."""


def call(tool: str, id: str = "", **input: Any) -> dict[str, Any]:
    return {"tool_name": tool, "input": input, **({"id": id} if id else {})}


def reserve_and_tell(many: int | str = "{{item}}") -> list[dict[str, Any]]:
    return [
        call("reserve", "taken", sku="lamp", quantity=many),
        call("notify", "said", customer="ada", text=f"{{{{taken.quantity}}}} of {many}"),
    ]


def each(id: str, over: list[int], **terms: Any) -> Step:
    return Step(id, "map", {"over": over, "do": reserve_and_tell(), **terms})


async def mapped(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A map of three items, two at a time, each of two effects; what follows reads their results in order."""
    count = Step("last", "notify", {"customer": "bob", "text": "{{all.count}} lists"})
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan([each("all", MANY, concurrency=2), count]))


async def mapped_one_fails(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """The second item fails for good, so what the first one did is undone."""

    @tool(effect="read")
    async def check(quantity: int) -> None:
        if quantity > 1:
            raise ToolError("one at a time", retryable=False, no_effect=True)

    body = [call("check", quantity="{{item}}", id="checked"), *reserve_and_tell()]
    with stage(journal, folder, kill_at=kill_at) as on:
        step = Step("all", "map", {"over": MANY, "do": body})
        return await on.play(plan=Plan([RESERVE, step]), tools=[check])


async def mapped_anew(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """Another plan is made when one item is done: what it has in common with the first is not done again."""
    with stage(journal, folder, kill_at=kill_at) as on:

        @tool(effect="read")
        async def doubt(quantity: int, *, context: ToolContext) -> int:
            if quantity > 1 and "answer" not in context.board:
                await ask.function(question="other items?")
            return quantity

        def plan(context: PlanningContext) -> Plan:
            over = [3, 1, 2] if context.is_replanning else [1, 2]
            body = [
                call("doubt", "sure", quantity="{{item}}"),
                call("reserve", "taken", sku="lamp", quantity="{{item}}"),
            ]
            return Plan([Step("", "map", {"over": over, "do": body}), CHARGE])

        return await on.play(planner=plan, tools=[doubt])


async def reduced(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """Each call of a reduce is made with the result of the one before."""
    body = call("notify", customer="ada", text="{{index}} {{item}} after {{accumulator}}")
    step = Step("all", "reduce", {"over": MANY, "do": body, "initial": "nothing"})
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan([step, CHARGE]))


async def decided(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A branch of two effects, which what follows reads; the other branch cannot even be rendered."""
    branch = {
        "if": {"expr": "stock.quantity > 1"},
        "then": reserve_and_tell(1),
        "else": call("notify", customer="{{stock.no.such}}", text="never"),
    }
    last = Step("last", "notify", {"customer": "bob", "text": "{{way.branch}}"})
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan([RESERVE, Step("way", "decide", branch), last]))


def inner_plan(*steps: PlanStep, **output: Any) -> PlanFile:
    return PlanFile(
        identifier="inner", name="Inner", description="Inner.", steps=steps, output=output or None
    )


MAP = PlanStep(id="all", tool_name="map", input={"over": "{{input.many}}", "do": reserve_and_tell()})


async def called(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A plan is called twice; it maps over what it is given, and its output is what its caller reads."""
    inner = inner_plan(MAP, many="{{all.count}}")
    steps = [
        Step("first", "plan__inner", {"many": [1, 2]}),
        Step("second", "plan__inner", {"many": [1]}),
        Step("last", "notify", {"customer": "bob", "text": "{{first.many}} and {{second.many}}"}),
    ]
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan(steps), plans=[inner])


async def called_and_left(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A plan that is called ends by an exit in its middle, and its caller goes on."""
    leave = PlanStep(
        id="leave", tool_name="exit", input={"status": "success", "output": {"n": "{{all.count}}"}}
    )
    never = PlanStep(id="never", tool_name="notify", input={"customer": "ada", "text": "never"})
    with stage(journal, folder, kill_at=kill_at) as on:
        steps = [Step("first", "plan__inner", {"many": [1]}), CHARGE]
        return await on.play(plan=Plan(steps), plans=[inner_plan(MAP, leave, never)])


async def ended_early(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """An exit with an error beside a step in flight: both effects are undone."""
    exit_ = Step("leave", "exit", {"status": "error", "message": "too late"}, needs=("stock",))
    steps = [Step("stock", "reserve", RESERVE.input, needs=()), Step("pay", "charge", CHARGE.input), exit_]
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan(steps))


async def asked(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A person is asked for every item of a map, one question at a time, and answers."""

    async def answer(run: RunHandle, state: RunState) -> None:
        for item in state.attention:
            if item.kind == "question":
                await run.answer(item.subject, {"name": f"for {item.detail}"}, by="ada")

    question = {"prompt": "{{item}}", "output_schema": {"properties": {"name": {"type": "string"}}}}
    body = [
        {"id": "name", "tool_name": "ask", "input": question},
        call("notify", "said", customer="{{name.answer.name}}", text="hello"),
    ]
    step = Step("all", "map", {"over": ["a", "b"], "concurrency": 2, "do": body})
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan([step, CHARGE]), person=answer, mode="interactive")


async def waited(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """Items of a map wait for a time and for a signal before they act."""

    async def tell(run: RunHandle, state: RunState) -> None:
        if any(step.state == "waiting" for step in state.steps):
            await run.signal("go", "now", id="go-1")

    body = [
        {"id": "soon", "tool_name": "wait", "input": {"for_s": 0.001}},
        {"id": "told", "tool_name": "wait", "input": {"signal": "go", "timeout_s": 0.05}},
        call("notify", "said", customer="ada", text="{{item}}"),
    ]
    step = Step("all", "map", {"over": ["a", "b"], "do": body})
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(plan=Plan([step]), person=tell)


async def retried(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A call in a body has a retry policy of its own, in place of its tool's, which allows no second try."""
    with stage(journal, folder, kill_at=kill_at) as on:

        @tool(idempotent=True, retry=RetryPolicy(max_attempts=1))
        async def flaky(customer: str, *, context: ToolContext) -> Receipt:
            if context.attempt < 3:
                raise ToolError("busy, come back later", no_effect=True)
            return receipt_of(on.world.notify(customer, "at last", operation=context.operation))

        retry = {"max_attempts": 5, "initial_s": 0.001}
        body = {**call("flaky", customer="{{item}}"), "retry": retry}
        step = Step("all", "map", {"over": ["ada", "bob"], "do": body})
        return await on.play(plan=Plan([step, CHARGE]), tools=[flaky])


async def debugged(journal: Journal, folder: Path, kill_at: KillAt | None = None) -> list[Any]:
    """A person gives one item of a map its result, and puts another in the place of a failure."""

    @tool(idempotent=True)
    async def broken(sku: str) -> None:
        raise ToolError(f"no {sku}", retryable=False, no_effect=True)

    async def look(run: RunHandle, state: RunState) -> None:
        for item in state.attention:
            if item.kind == "breakpoint":
                await run.inject(item.subject, {"quantity": "by hand"}, by="ada")

    steps = [each("all", [1, 2]), Step("odd", "broken", {"sku": "lamp"}), CHARGE]
    with stage(journal, folder, kill_at=kill_at) as on:
        return await on.play(
            plan=Plan(steps), tools=[broken], person=look,
            breakpoints=Breakpoints(("all/do.1/taken",), on_error=True),
        )  # fmt: skip
