"""Both planners solve every case of the order example on a real engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from midcourse import GoalReached
from midcourse.actors.loading import load
from midcourse.domain import facts as f
from midcourse.domain.briefing import brief
from midcourse.domain.tools import Catalog
from midcourse.examples.order.demo import PLANNERS, deliver
from midcourse.examples.order.kit import Kit
from midcourse.examples.order.output import JsonOutput
from midcourse.examples.order.planners import destination_of, open_modes
from midcourse.examples.order.scenario import ADDRESS_CHANGE, NO_ROUTE, SHIP, Scenario
from midcourse.examples.order.world import Summary
from midcourse.store import open_journal


class Facts(JsonOutput):
    """Keeps the facts of the one run it is told about."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[f.Fact] = []

    def fact(self, record: Any) -> bool:
        self.all.append(record.fact)
        return False

    def of(self, kind: type[Any]) -> list[Any]:
        return [fact for fact in self.all if isinstance(fact, kind)]


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    with Kit(tmp_path) as kit:
        yield kit


async def delivered(kit: Kit, scenario: Scenario, planner: str) -> Facts:
    facts = Facts()
    (outcome,) = await deliver(kit, [scenario], planner=planner, output=facts)
    assert outcome.status == "completed"
    return facts


def tools_of(fact: f.PlanProposed) -> list[str]:
    return [step.tool_name.removeprefix("user__") for step in fact.plan.steps]


@pytest.mark.parametrize("planner", PLANNERS)
async def test_a_refused_route_is_replaced_and_what_was_done_stands(kit: Kit, planner: str) -> None:
    facts = await delivered(kit, SHIP, planner)
    assert [tools_of(proposed) for proposed in facts.of(f.PlanProposed)] == [
        ["reserve", "charge", "ship_express", "notify"],
        ["ship_sea", "refund_difference", "notify"],
    ]
    first, second = facts.of(f.PlanAccepted)
    assert (second.kept, second.superseded, second.undone) == (first.added[:2], first.added[2:], ())
    assert facts.of(f.CompensationIssued) == []
    assert kit.world.summary() == Summary(
        stock_left={"lamp": 8},
        taken_cents=132_00,
        shipments=["order 42 by sea to Longyearbyen"],
        messages=["Order 42 travels to Longyearbyen by sea."],
    )
    assert kit.world.duplicates() == []


@pytest.mark.parametrize("planner", PLANNERS)
async def test_without_a_route_all_is_undone_newest_first_and_the_notice_corrected(
    kit: Kit, planner: str
) -> None:
    facts = await delivered(kit, NO_ROUTE, planner)
    first, second = facts.of(f.PlanProposed)
    assert tools_of(first) == ["reserve", "charge", "announce", "ship_express", "notify"]
    assert tools_of(second) == ["send_correction"]
    assert [effect.kind for effect in kit.world.effects()] == [
        "reservation",
        "charge",
        "message",
        "refund",
        "release",
        "correction",
    ]
    assert [undo.cause for undo in facts.of(f.CompensationIssued)] == ["plan", "plan"]
    assert kit.world.summary() == Summary(
        stock_left={"lamp": 10},
        taken_cents=0,
        shipments=[],
        messages=[
            "Order 43 will travel to Bouvet Island by express.",
            "Order 43 cannot be delivered to Bouvet Island. It is cancelled, and you get back all you paid.",
        ],
    )
    assert kit.world.duplicates() == []


@pytest.mark.parametrize("planner", PLANNERS)
async def test_a_plan_made_before_the_address_changed_is_stale(kit: Kit, planner: str) -> None:
    facts = await delivered(kit, ADDRESS_CHANGE, planner)
    signal, rejected = *facts.of(f.SignalReceived), *facts.of(f.ProposalRejected)
    assert (signal.name, signal.payload) == ("address_changed", {"destination": "Oslo"})
    assert rejected.code == "stale"
    assert [tools_of(proposed) for proposed in facts.of(f.PlanProposed)] == [
        ["reserve", "charge", "ship_express", "notify"],
        ["ship_sea", "refund_difference", "notify"],
        ["ship_express", "notify"],
    ]
    assert [accepted.revision for accepted in facts.of(f.PlanAccepted)] == [1, 2]
    assert kit.world.summary() == Summary(
        stock_left={"lamp": 8},
        taken_cents=150_00,
        shipments=["order 44 by express to Oslo"],
        messages=["Order 44 travels to Oslo by express."],
    )
    assert kit.world.duplicates() == []


@pytest.mark.parametrize("planner", PLANNERS)
async def test_the_new_address_is_still_known_when_the_signal_is_old_news(kit: Kit, planner: str) -> None:
    await delivered(kit, ADDRESS_CHANGE, planner)
    async with open_journal(kit.store, read_only=True) as journal:
        run_id = await journal.find_key(ADDRESS_CHANGE.key)
        loaded = await load(journal, run_id or "")
    assert loaded is not None
    context = brief(loaded.run, Catalog(tool.spec for tool in kit.tools))
    assert context.signals == ()
    assert (destination_of(context), open_modes(context)) == ("Oslo", ("express", "sea"))


@pytest.mark.parametrize("planner", PLANNERS)
async def test_planners_find_nothing_left_to_do_once_the_order_is_settled(kit: Kit, planner: str) -> None:
    for scenario in (NO_ROUTE, SHIP):
        await delivered(kit, scenario, planner)
        async with open_journal(kit.store, read_only=True) as journal:
            loaded = await load(journal, await journal.find_key(scenario.key) or "")
        assert loaded is not None
        context = brief(loaded.run, Catalog(tool.spec for tool in kit.tools))
        assert isinstance(await kit.planners[planner].plan(context), GoalReached)
