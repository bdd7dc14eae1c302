"""What a newcomer hands in wrongly is refused with words that help, and leaves no run that cannot be read."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from midcourse import (
    Engine,
    Goal,
    InvalidInputError,
    Limits,
    OutcomeUnknownError,
    Plan,
    RequestReplan,
    Step,
    ToolDefinitionError,
    tool,
)
from midcourse.domain.facts import OutcomeUnknown
from midcourse.testing import TrialEngine, scripted_tool, wait_for_fact

PLAN = Plan((Step(tool_name="add", input={"a": 1}),))


@tool(effect="read")
def add(a: int) -> int:
    """Add."""
    return a


def never() -> Any:
    return scripted_tool("add", lambda _context, **_: asyncio.Event().wait(), arguments=["a"])


@pytest.mark.parametrize(
    ("goal", "options", "said"),
    [
        ("g", {"key": 42}, "key is 42"),
        ("g", {"key": 0}, "key is 0"),
        ("g", {"tags": {"customer": 7}}, "tags is"),
        ("g", {"tags": []}, "tags is"),
        (5, {}, "goal is 5"),
        ({"a": 1}, {}, "goal is"),
        (Goal("g", ["a"]), {}, "goal.inputs is"),  # type: ignore[arg-type]
        ("g", {"limits": 0}, "limits is 0"),
        ("g", {"limits": Limits(replans=-1)}, "limits.replans is -1"),
        ("g", {"by": 5}, "by is 5"),
        ("g", {"plan": [Step(tool_name="add")]}, "plan is"),
    ],
)
async def test_a_start(goal: Any, options: dict[str, Any], said: str) -> None:
    async with TrialEngine(tools=[add]) as engine:
        with pytest.raises(InvalidInputError) as refused:
            await engine.start(goal, **({"plan": PLAN} | options))
        assert str(refused.value).startswith(said)
        assert (await engine.runs()).runs == []
        assert (await (await engine.start("g", plan=PLAN, key="")).outcome(timeout_s=10)).result == 1


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda run: run.signal(5), "name is 5"),
        (lambda run: run.signal("a", id=5), "id is 5"),
        (lambda run: run.signal("a", relevant="no"), "relevant is 'no'"),
        (lambda run: run.signal("a", by=5), "by is 5"),
        (lambda run: run.cancel(5), "reason is 5"),
        (lambda run: run.replan(5), "reason is 5"),
        (lambda run: run.settle("o", happened=1, reason=5), "reason is 5"),
        (lambda run: run.propose([], epoch=1), "plan is []"),
    ],
)
async def test_a_request(ask: Callable[[Any], Any], said: str) -> None:
    async with TrialEngine(tools=[never()]) as engine:
        run = await engine.start("g", plan=PLAN)
        version = (await run.state()).version
        with pytest.raises(InvalidInputError) as refused:
            await ask(run)
        assert str(refused.value).startswith(said)
        assert (await run.state()).version == version
        await run.cancel()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Engine("memory:", tools=add), "hand in a list"),  # type: ignore[arg-type]
        (lambda: Engine("memory:", planners=[add]), "hand them in by name"),  # type: ignore[arg-type]
        (lambda: tool(retry=3)(lambda: 1), r"write RetryPolicy\(max_attempts=3\)"),  # type: ignore[call-overload]
        (lambda: tool("charge"), "a name goes in name="),  # type: ignore[call-overload]
        (lambda: tool(undo="x", name="charge")(lambda: 1), "add effect='reversible', or drop undo"),
    ],
)
def test_a_definition(make: Callable[[], Any], said: str) -> None:
    with pytest.raises((InvalidInputError, ToolDefinitionError), match=said):
        make()


def test_the_updates_of_a_request_for_a_replan() -> None:
    with pytest.raises(TypeError, match="maps names to JSON values"):
        RequestReplan("no", updates=["a"])  # type: ignore[arg-type]


async def test_a_run_that_comes_to_wait_for_a_person_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    work = scripted_tool("add", OutcomeUnknownError("the line is dead"), 2, arguments=["a"])
    with caplog.at_level(logging.WARNING, "midcourse.actors"):
        async with TrialEngine(tools=[work]) as engine:
            run = await engine.start("g", plan=PLAN)
            operation = (await wait_for_fact(run, OutcomeUnknown)).fact.operation
            await run.signal("more")
            item = (await engine.attention())[0].items[0]
            assert item.detail.endswith("the line is dead")
            await run.settle(operation, happened=3)
            await run.outcome(timeout_s=10)
    said = [record.getMessage() for record in caplog.records if "waits for a person" in record.getMessage()]
    assert len(said) == 1
    for part in (run.id, operation, "the line is dead", item.remedy, "engine.attention()"):
        assert part in said[0]
