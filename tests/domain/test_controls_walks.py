"""Random plans of control steps, and random things that happen to them: every run comes to an end."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.breakpoints import Breakpoints
from midcourse.domain.evolve import fold
from midcourse.domain.facts import Limits
from midcourse.domain.plan import Plan, Step
from midcourse.domain.receipt import Receipt
from midcourse.domain.summary import wake_at
from midcourse.domain.tools import Catalog
from midcourse.domain.view import view

from .kit import TOOLS, Story, given
from .tellings import (
    fails,
    injects,
    later,
    planning_fails,
    proposes,
    releases,
    settles,
    start,
    succeeds,
    taken_up,
)

MOST = 600
"""Things that happen in a life; none needs half as many."""


def call(random: Random, *, roots: tuple[str, ...] = ()) -> dict[str, Any]:
    tool = random.choice(("look", "reserve", "look", "notify", "plan__small", "plan__graph"))
    read = f"{{{{{random.choice(roots)}}}}}" if roots and random.random() < 0.7 else random.randrange(3)
    return {"tool_name": tool, "input": {"n": read}}


def body(random: Random, name: str, roots: tuple[str, ...], *, may_exit: bool = False) -> Any:
    if random.random() < 0.5:
        return call(random, roots=roots)
    steps = [{"id": f"{name}x{n}", **call(random, roots=roots)} for n in range(random.randint(1, 3))]
    if random.random() < 0.3:
        steps.append({"id": f"{name}w", "tool_name": "wait", "input": {"for_s": random.choice((1, 2))}})
    if may_exit and random.random() < 0.3:
        status = random.choice(("success", "error"))
        steps.append({"id": f"{name}e", "tool_name": "exit", "input": {"status": status}})
    return steps


def any_step(random: Random, name: str) -> Step:
    kind = random.choice(("call", "call", "map", "map", "reduce", "decide", "filter", "wait", "exit"))
    over = [random.randrange(4) for _ in range(random.randint(0, 4))]
    input: dict[str, Any]
    if kind == "call":
        made = call(random)
        return Step(name, made["tool_name"], made["input"])
    if kind == "map":
        input = {
            "over": over,
            "concurrency": random.randint(1, 3),
            "do": body(random, name, ("item", "index")),
        }
    elif kind == "reduce":
        input = {"over": over, "do": body(random, name, ("item", "accumulator")), "initial": 0}
    elif kind == "decide":
        gate = {"expr": random.choice(("true", "false", "input.n == 1"))}
        input = {"if": gate, "then": body(random, name, (), may_exit=True)}
        if random.random() < 0.5:
            input["else"] = body(random, f"{name}o", (), may_exit=True)
    elif kind == "filter":
        input = {"over": over, "where": {"expr": random.choice(("item > 1", "index < 2", "item.x > 1"))}}
    elif kind == "wait":
        input = {"for_s": random.choice((1, 5))}
    else:
        when = {"value": random.choice((0, 1)), "op": "eq", "to": 1}
        input = {"status": random.choice(("success", "error")), "when": when}
    return Step(name, kind, input)


def steps_of(random: Random, prefix: str) -> list[Step]:
    steps = [any_step(random, f"{prefix}{n}") for n in range(random.randint(1, 5))]
    if random.random() < 0.4:
        ids = [step.id for step in steps]
        return [
            Step(each.id, each.tool_name, each.input, random.sample(ids[:n], min(n, random.randint(0, 2))))
            for n, each in enumerate(steps)
        ]
    return steps


def plans(random: Random) -> Catalog:
    """Plans to be called: one in order, and a graph that waits, maps and may leave."""
    leave = {
        "status": random.choice(("success", "error")),
        "when": {"expr": random.choice(("true", "false"))},
    }
    small = Plan([Step("A", "look"), Step("X", "exit", leave), Step("B", "look", {"n": "{{input.n}}"})])
    loop = {"over": [1, 2, 3], "concurrency": 2, "do": {"tool_name": "look", "input": {"n": "{{item}}"}}}
    graph = Plan(
        [
            Step("A", "look", needs=()),
            Step("M", "map", loop, needs=()),
            Step("W", "wait", {"for_s": 3}, needs=()),
            Step("X", "exit", leave, needs=("A",)),
            Step("B", "look", needs=("M", "W")),
        ],
        output={"n": "{{input.n}}"},
    )
    return Catalog(TOOLS.values(), plans={"plan__small": small, "plan__graph": graph})


def happens(story: Story, random: Random) -> None:
    """Let one thing happen that brings the run on, or takes it back to what is durable."""
    run = story.run
    if random.random() < 0.05:
        story.when(taken_up("p"))
    elif run.stops:
        step = random.choice([*run.stops])
        story.when(random.choice((releases(step), injects(step, random.randrange(3)))))
    elif run.running and random.random() < 0.9:
        step = random.choice([operation.step for operation in run.running.values()])
        ends = (succeeds(step, 1), succeeds(step, [2]), succeeds(step, 3), fails(step, no_effect=True))
        story.when(random.choice((*ends, fails(step, no_effect=True, retry_after_s=1.0), *ends[:3])))
    elif run.unknown and not run.running:
        step = next(iter(run.unknown.values())).step
        story.when(settles(step, happened=random.random() < 0.5))
    elif run.undo_running:
        undo = run.undos[run.undo_running]
        story.when(m.ReportSuccess(at=story.at, operation=undo.key, attempt=undo.attempt, receipt=Receipt()))
    elif run.asked is not None:
        prefix = f"R{run.revision}s"
        story.when(proposes(*steps_of(random, prefix)) if random.random() < 0.9 else planning_fails())
    elif (at := wake_at(run)) is not None:
        story.when(later(max(0.0, at - story.at)))
    elif not run.running:
        pytest.fail(f"nothing can happen any more: {view(run).status}, {run.unmet}, {run.ready}")


@pytest.mark.parametrize("seed", range(300))
def test_every_run_comes_to_an_end(seed: int) -> None:
    random = Random(seed)
    terms: dict[str, Any] = {"limits": Limits(replans=3, steps_at_once=random.choice((None, 1, 2)))}
    if random.random() < 0.3:
        terms["breakpoints"] = Breakpoints(random.choice(((), ("*",), ("E1", "*/do.*"))), on_error=True)
    author = random.random() < 0.5
    begin = start(*steps_of(random, "E"), **terms) if author else start(**terms)
    story = given(begin, tools=plans(random))
    for _ in range(MOST):
        if (story.run.final is not None and not story.run.undos_open) or story.run.stuck:
            break
        happens(story, random)
        assert len(story.run.running) <= (story.run.limits.steps_at_once or MOST)
    else:
        pytest.fail("it does not end")
    again = fold("run", story.facts)
    assert view(again) == view(story.run)
    assert not (story.run.final and (story.run.running or story.run.stops))
    effects = [fact.operation for fact in story.facts if isinstance(fact, f.StepCompleted)]
    assert len(effects) == len(set(effects))
    if story.run.final == "completed" and story.run.exit is None:
        assert not story.run.unmet
