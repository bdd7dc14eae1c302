"""The tools of the order example on a real engine: each verb, refusals, conflicts, cancelling, probes."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from midcourse import Engine, Outcome, Plan, PlanningContext, Step, ToolContext, tool
from midcourse.domain import facts as f
from midcourse.examples.order.calls import Call
from midcourse.examples.order.scenario import CITY, ISLAND, NOWHERE, prepare
from midcourse.examples.order.tools import order_tools
from midcourse.examples.order.world import Summary, World

ADA = "ada@example.org"
UNTOUCHED = Summary(stock_left={"lamp": 10}, taken_cents=0, shipments=[], messages=[])
RESERVE = Step("reserved", "reserve", {"sku": "lamp", "quantity": 2})
CHARGE = Step("charged", "charge", {"order": "42", "amount_cents": 15000})


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with World(tmp_path / "world.db") as world:
        prepare(world)
        yield world


@pytest.fixture
async def engine(world: World, tmp_path: Path) -> AsyncIterator[Engine]:
    async with Engine(f"sqlite:///{tmp_path / 'orders.db'}", tools=order_tools(world)) as engine:
        yield engine


async def carried_out(engine: Engine, *steps: Step) -> Outcome:
    return await (await engine.start("a plan by a person", plan=Plan(steps))).outcome()


def verbs(world: World) -> list[str]:
    return [call.verb for call in world.calls()]


async def test_every_verb_leaves_a_typed_receipt(engine: Engine, world: World) -> None:
    outcome = await carried_out(
        engine,
        RESERVE,
        CHARGE,
        Step("", "announce", {"customer": ADA, "text": "soon"}),
        Step("sent", "ship_sea", {"order": "42", "destination": ISLAND}),
        Step(
            "", "refund_difference", {"order": "42", "paid_cents": 3000, "due_cents": "{{sent.price_cents}}"}
        ),
        Step("", "notify", {"customer": ADA, "text": "{{sent.shipment_id}} by {{sent.mode}}"}),
        Step("", "send_correction", {"customer": ADA, "text": "{{charged.charge_id}}"}),
    )
    assert outcome.completed
    assert {entry.tool.removeprefix("user__"): entry.receipt.result["kind"] for entry in outcome.ledger} == {
        "reserve": "reservation",
        "charge": "charge",
        "announce": "message",
        "ship_sea": "shipment",
        "refund_difference": "refund",
        "notify": "message",
        "send_correction": "message",
    }
    assert [entry.receipt.resources[0].id for entry in outcome.ledger if entry.effect == "reversible"] == [
        "reservation-1",
        "charge-1",
        "shipment-1",
    ]
    assert world.summary() == Summary(
        stock_left={"lamp": 8},
        taken_cents=13200,
        shipments=[f"order 42 by sea to {ISLAND}"],
        messages=["soon", "shipment-1 by sea", "charge-1"],
    )
    assert [call.operation for call in world.calls()] == [entry.operation for entry in outcome.ledger]


async def test_a_refusal_fails_at_once_and_what_was_done_is_undone(engine: Engine, world: World) -> None:
    too_many = Step("", "reserve", {"sku": "lamp", "quantity": 11})
    outcome = await carried_out(engine, RESERVE, CHARGE, too_many)
    assert outcome.status == "failed"
    assert outcome.failure is not None
    assert outcome.failure.message == "cannot reserve 11 of 'lamp': 8 are free"
    assert verbs(world) == ["reserve", "charge", "reserve", "refund", "release"]
    assert world.summary() == UNTOUCHED


async def test_a_refund_beyond_the_charge_fails(engine: Engine, world: World) -> None:
    amounts = {"order": "42", "paid_cents": 20000, "due_cents": 0}
    outcome = await carried_out(engine, RESERVE, CHARGE, Step("", "refund_difference", amounts))
    assert outcome.failure is not None
    assert "15000 cents are left of it" in outcome.failure.message
    assert world.summary() == UNTOUCHED


async def test_a_refused_route_under_a_plan_by_a_person_is_no_replan(engine: Engine, world: World) -> None:
    nowhere = Step("", "ship_sea", {"order": "42", "destination": NOWHERE})
    outcome = await carried_out(engine, RESERVE, nowhere)
    assert outcome.failure is not None
    assert outcome.failure.kind == "replan_refused"
    assert "sea does not deliver to Bouvet Island; no carrier does" in outcome.failure.message
    assert verbs(world) == ["reserve", "ship_sea", "release"]


async def test_cancelled_in_the_middle_everything_is_undone_once(world: World, tmp_path: Path) -> None:
    waiting = asyncio.Event()

    @tool(effect="read")
    async def wait_for_pickup(*, context: ToolContext) -> None:
        waiting.set()
        await asyncio.Event().wait()

    plan = Plan(
        [
            RESERVE,
            CHARGE,
            Step("", "ship_express", {"order": "42", "destination": CITY}),
            Step("", "notify", {"customer": ADA, "text": "on its way"}),
            Step("", "wait_for_pickup"),
            Step("", "send_correction", {"customer": ADA, "text": "never sent"}),
        ]
    )
    tools = [*order_tools(world), wait_for_pickup]
    async with Engine(f"sqlite:///{tmp_path / 'orders.db'}", tools=tools) as engine:
        run = await engine.start("a plan by a person", plan=plan)
        await waiting.wait()
        await run.cancel("the customer changed her mind")
        outcome = await run.outcome()
    assert outcome.status == "cancelled"
    assert verbs(world)[4:] == ["cancel_shipment", "refund", "release"]
    assert world.summary() == Summary({"lamp": 10}, 0, [], ["on its way"])
    assert world.duplicates() == []
    assert {entry.tool: entry.state for entry in outcome.ledger}["user__notify"] == "committed"


@pytest.mark.parametrize("amount", [16000, "{{input.amount}}"])
async def test_a_second_charge_of_another_amount_is_a_conflict(
    world: World, tmp_path: Path, amount: Any
) -> None:
    """Told when it is proposed, where the amount can be seen then, else when its turn comes."""

    def careless(context: PlanningContext) -> list[Step]:
        destination = ISLAND if context.revision == 0 else CITY
        ship = Step("", "ship_express", {"order": "42", "destination": destination})
        refused = any(failure.kind == "conflict" for failure in context.failures) or asked.count(amount) > 0
        asked.append(15000 if context.revision == 0 or refused else amount)
        return [Step("", "charge", {"order": "42", "amount_cents": asked[-1]}), ship]

    asked: list[Any] = []
    engine = Engine(
        f"sqlite:///{tmp_path / 'orders.db'}", tools=order_tools(world), planners={"careless": careless}
    )
    async with engine:
        run = await engine.start(goal_with(amount=16000))
        facts = [record.fact async for record in run.facts()]
    conflicts = [fact for fact in facts if isinstance(fact, f.ProposalRejected) and fact.code == "conflict"]
    failures = [fact for fact in facts if isinstance(fact, f.StepFailed) and fact.failure.kind == "conflict"]
    assert (len(conflicts), len(failures)) == ((1, 0) if amount == 16000 else (0, 1))
    assert asked == [15000, amount, 15000]
    assert isinstance(facts[-1], f.RunCompleted)
    assert verbs(world) == ["charge", "ship_express", "ship_express"]
    assert world.summary().taken_cents == 15000


def goal_with(**inputs: Any) -> Any:
    from midcourse import Goal

    return Goal("Deliver order 42", inputs)


# A payment provider that knows no keys: what is not known must be asked, and never simply tried again.

FORGETFUL = """
import asyncio, json, sys
from pathlib import Path
from midcourse import Engine, Plan, Step
from midcourse.examples.order.calls import KillAt
from midcourse.examples.order.scenario import prepare
from midcourse.examples.order.tools import order_tools
from midcourse.examples.order.world import World

folder, call, moment = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
kill_at = KillAt(call, moment) if call else None
plan = Plan((
    Step("", "charge", {"order": "42", "amount_cents": 15000}),
    Step("", "refund_difference", {"order": "42", "paid_cents": 3000, "due_cents": 1200}),
    Step("", "reserve", {"sku": "lamp", "quantity": 11}),
))

async def main():
    with World(folder / "world.db", payments_ignore_keys=True, kill_at=kill_at) as world:
        prepare(world)
        async with Engine(f"sqlite:///{folder / 'orders.db'}", tools=order_tools(world)) as engine:
            run = await engine.start("charge once", plan=plan, key="order-42")
            topics = [record.topic async for record in run.facts()]
            print(json.dumps([(await run.outcome()).status, topics]))

asyncio.run(main())
"""


def forgetful(folder: Path, call: int = 0, moment: str = "") -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", FORGETFUL, str(folder), str(call), moment]
    return subprocess.run(program, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("moment", ["before_commit", "after_commit"])
@pytest.mark.parametrize(("call", "verb"), [(1, "charge"), (2, "refund_difference"), (4, "refund")])
def test_a_provider_without_keys_is_asked_and_nothing_happens_twice(
    tmp_path: Path, call: int, verb: str, moment: str
) -> None:
    killed = forgetful(tmp_path, call, moment)
    assert (killed.returncode, killed.stderr) == (-signal.SIGKILL, "")
    resumed = forgetful(tmp_path)
    assert (resumed.returncode, resumed.stderr) == (0, "")
    status, topics = json.loads(resumed.stdout)
    assert status == "failed"
    assert topics.count("outcome_unknown") == topics.count("outcome_settled") == (verb != "refund")
    with World(tmp_path / "world.db") as world:
        effects = [made.verb for made in world.calls() if made.was_effect]
        assert effects == ["charge", "refund_difference", "refund"]
        assert calls_of(world.calls(), verb) == 1
        assert world.summary() == UNTOUCHED
        assert world.duplicates() == []


def calls_of(calls: list[Call], verb: str) -> int:
    return sum(call.verb == verb for call in calls)
