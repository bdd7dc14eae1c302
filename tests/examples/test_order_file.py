"""The order as a person's plan file: it fails where the planner's version plans anew, and is undone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import midcourse.examples.order
from midcourse import Engine, Goal
from midcourse.daemon.plans.files import load
from midcourse.examples.order.scenario import prepare
from midcourse.examples.order.tools import order_tools
from midcourse.examples.order.world import World

FILE = Path(midcourse.examples.order.__file__).with_name("order.yaml")
INPUTS: dict[str, Any] = {
    "order": "42", "sku": "lamp", "quantity": 2, "price_cents": 15_000, "customer": "ada",
}  # fmt: skip


@pytest.mark.parametrize(
    ("destination", "status", "undone"),
    [("Oslo", "completed", []), ("Longyearbyen", "failed", ["user__charge", "user__reserve"])],
)
async def test_it_never_plans_anew(tmp_path: Path, destination: str, status: str, undone: list[str]) -> None:
    plan = load(FILE).plan
    assert plan is not None
    with World(tmp_path / "world.db") as world:
        prepare(world)
        store = f"sqlite:///{tmp_path / 'orders.db'}"
        async with Engine(store, tools=order_tools(world)) as engine:
            goal = Goal(plan.name, {**INPUTS, "destination": destination})
            run = await engine.start(goal, plan=plan.plan())
            outcome = await run.outcome()
            state = await run.state()
        assert (outcome.status, state.revision, state.replans) == (status, 1, 0)
        taken_back = {undo.of for undo in state.undos if undo.state == "done"}
        newest_first = reversed(state.ledger)
        assert [entry.tool for entry in newest_first if entry.operation in taken_back] == undone
        assert world.duplicates() == []
