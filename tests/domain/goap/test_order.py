"""The order that express cannot deliver, planned by search."""

from typing import Any

import pytest

from midcourse.domain.goap import Goap
from midcourse.domain.plan import GoalReached, Plan
from midcourse.domain.tools import ToolSpec

DELIVERED = {"shipped": True, "settled": True, "told": True}
MADE_WHOLE = {"reserved": False, "charged": False, "misinformed": False}
TOOLS = [
    ToolSpec(
        "user__reserve",
        effect="reversible",
        undo="user__release",
        post={"reserved": True},
        input={"sku": "{{input.sku}}"},
    ),
    ToolSpec("user__release", idempotent=True),
    ToolSpec(
        "user__charge",
        effect="reversible",
        undo="user__refund",
        pre={"reserved": True},
        post={"charged": True},
        input={"order": "{{input.order}}", "reservation": "{{reserve.reservation_id}}"},
    ),
    ToolSpec("user__refund", idempotent=True, cost=2.0),
    ToolSpec(
        "user__ship_express",
        effect="reversible",
        undo="user__cancel_shipment",
        pre={"charged": True, "express_refused": False},
        post={"shipped": True, "settled": True},
    ),
    ToolSpec(
        "user__ship_sea",
        effect="reversible",
        undo="user__cancel_shipment",
        pre={"charged": True, "sea_refused": False},
        post={"shipped": True, "shipped_by_sea": True},
        cost=5.0,
    ),
    ToolSpec("user__cancel_shipment", idempotent=True),
    ToolSpec(
        "user__refund_difference",
        pre={"shipped_by_sea": True},
        post={"settled": True},
        input={"charge": "{{charge.charge_id}}", "shipment": "{{ship_sea.shipment_id}}"},
    ),
    ToolSpec(
        "user__notify",
        pre={"shipped": True, "settled": True},
        post={"told": True, "misinformed": True},
        input={"text": "Your order {{input.order}} travels as {{shipped.shipment_id}}."},
    ),
    ToolSpec("user__send_correction", post={"misinformed": False}),
]


@pytest.fixture
def goap() -> Goap:
    return Goap([DELIVERED, MADE_WHOLE], conditions={"express_refused": False, "sea_refused": False})


def names(plan: object) -> list[str]:
    assert isinstance(plan, Plan), plan
    return [step.tool_name.removeprefix("user__") for step in plan.steps]


def test_the_first_plan_takes_express(goap: Goap, context_of: Any) -> None:
    plan = goap.plan(context_of(TOOLS))
    assert names(plan) == ["reserve", "charge", "ship_express", "notify"]
    assert isinstance(plan, Plan)
    assert plan.cost == 4.0
    assert [step.id for step in plan.steps] == ["E0", "E1", "E2", "E3"]


def test_inputs_refer_to_the_steps_of_the_plan(goap: Goap, context_of: Any) -> None:
    plan = goap.plan(context_of(TOOLS, next_id=4))
    assert isinstance(plan, Plan)
    assert [step.input for step in plan.steps] == [
        {"sku": "{{input.sku}}"},
        {"order": "{{input.order}}", "reservation": "{{E4.reservation_id}}"},
        {},
        {"text": "Your order {{input.order}} travels as {{E6.shipment_id}}."},
    ]


def test_a_refusal_on_the_board_leads_to_sea_freight(goap: Goap, context_of: Any, entry_of: Any) -> None:
    ledger = (
        entry_of("E0", "user__reserve", effect="reversible"),
        entry_of("E1", "user__charge", effect="reversible"),
    )
    plan = goap.plan(
        context_of(
            TOOLS,
            ledger=ledger,
            board={"express_refused": True},
            excluded=frozenset({"user__ship_express"}),
            next_id=4,
        )
    )
    assert names(plan) == ["ship_sea", "refund_difference", "notify"]
    assert isinstance(plan, Plan)
    assert plan.undo == ()
    assert plan.steps[1].input == {"charge": "{{E1.charge_id}}", "shipment": "{{E4.shipment_id}}"}
    assert "without user__ship_express" in plan.reason


def test_without_any_route_money_and_goods_go_back_and_the_notice_is_corrected(
    goap: Goap, context_of: Any, entry_of: Any
) -> None:
    ledger = (
        entry_of("E0", "user__reserve", effect="reversible"),
        entry_of("E1", "user__charge", effect="reversible"),
        entry_of("E2", "user__notify"),
    )
    board = {"express_refused": True, "sea_refused": True}
    plan = goap.plan(context_of(TOOLS, ledger=ledger, board=board, next_id=4))
    assert isinstance(plan, Plan)
    assert plan.undo == ("op-E1", "op-E0")
    assert names(plan) == ["send_correction"]
    assert plan.cost == 4.0
    assert plan.reason.startswith("goal 2 of 2 (not reserved, not charged, not misinformed); goal 1 of 2")
    assert "user__ship_express needs express_refused to be false (it is true)" in plan.reason
    assert "; settled cannot become" not in plan.reason


def test_without_a_notice_there_is_nothing_to_correct(goap: Goap, context_of: Any, entry_of: Any) -> None:
    ledger = (entry_of("E0", "user__reserve", effect="reversible"),)
    board = {"express_refused": True, "sea_refused": True}
    plan = goap.plan(context_of(TOOLS, ledger=ledger, board=board))
    assert isinstance(plan, Plan)
    assert (plan.undo, plan.steps) == (("op-E0",), ())


def test_what_was_undone_already_is_not_undone_again(goap: Goap, context_of: Any, entry_of: Any) -> None:
    ledger = (
        entry_of("E0", "user__reserve", effect="reversible", state="undoing"),
        entry_of("E1", "user__charge", effect="reversible", state="undone"),
    )
    board = {"express_refused": True, "sea_refused": True}
    assert isinstance(goap.plan(context_of(TOOLS, ledger=ledger, board=board)), GoalReached)


def test_a_delivered_order_is_reached(goap: Goap, context_of: Any, entry_of: Any) -> None:
    done = ("reserve", "charge", "ship_express", "notify")
    ledger = tuple(entry_of(f"E{n}", f"user__{tool}") for n, tool in enumerate(done))
    answer = goap.plan(context_of(TOOLS, ledger=ledger))
    assert GoalReached("reached: goal 1 of 2 (shipped, settled, told)") == answer


def test_the_values_the_plan_rests_on_are_kept_with_it(goap: Goap, context_of: Any) -> None:
    plan = goap.plan(context_of(TOOLS))
    assert isinstance(plan, Plan)
    assert plan.conditions == {
        "charged": False,
        "express_refused": False,
        "reserved": False,
        "sea_refused": False,
        "settled": False,
        "shipped": False,
        "shipped_by_sea": False,
        "told": False,
    }
