"""The outside world of the order example: keys, records, durability, and a process killed at a commit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from midcourse.examples.order.answers import (
    Charge,
    DestinationRestrictedError,
    KeyConflictError,
    NothingToUndoError,
    OutOfStockError,
    Refund,
    RefundTooLargeError,
    Release,
    Reservation,
    Route,
    Shipment,
)
from midcourse.examples.order.calls import Calls
from midcourse.examples.order.scenario import ADDRESS_CHANGE, CITY, ISLAND, NO_ROUTE, SCENARIOS, SHIP, prepare
from midcourse.examples.order.world import Summary, World

SEA_TO_ISLAND = Route("sea", ISLAND, price_cents=1200, days=21)
UNTOUCHED = Summary(stock_left={"lamp": 10}, taken_cents=0, shipments=[], messages=[])

CALL_IN_PROCESS = """
import sys
from pathlib import Path
from midcourse.examples.order.calls import KillAt
from midcourse.examples.order.world import World

path, moment = sys.argv[1:]
kill_at = None if moment == "never" else KillAt(2, moment)
with World(Path(path), kill_at=kill_at) as world:
    world.stock_up(stock={"lamp": 10}, routes=())
    world.reserve("lamp", 2, operation="op-reserve")
    world.charge("42", 15000, operation="op-charge")
    world.notify("ada@example.org", "paid", operation="op-notify")
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "world.db"


@pytest.fixture
def world(path: Path) -> Iterator[World]:
    with World(path) as world:
        prepare(world)
        yield world


def start_caller(path: Path, moment: str = "never") -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", CALL_IN_PROCESS, str(path), moment], stderr=subprocess.PIPE
    )


def test_same_key_and_content_gets_the_recorded_answer(world: World) -> None:
    first = world.reserve("lamp", 2, operation="op-1")
    again = world.reserve("lamp", 2, operation="op-1")
    assert (first, again) == (Reservation("reservation-1", "lamp", 2),) * 2
    assert world.summary().stock_left == {"lamp": 8}
    assert [(call.verb, call.was_effect) for call in world.calls()] == [("reserve", True), ("reserve", False)]
    assert world.duplicates() == []


def test_same_key_with_other_arguments_is_a_conflict(world: World) -> None:
    world.charge("42", 15000, operation="op-1")
    with pytest.raises(KeyConflictError, match=r"'op-1' was already used for charge .*15000.*16000"):
        world.charge("42", 16000, operation="op-1")
    assert world.summary().taken_cents == 15000
    assert [call.was_effect for call in world.calls()] == [True, False]


def test_same_key_with_another_verb_is_a_conflict(world: World) -> None:
    world.notify("ada@example.org", "hello", operation="op-1")
    with pytest.raises(KeyConflictError):
        world.send_correction("ada@example.org", "hello", operation="op-1")
    assert world.summary().messages == ["hello"]


def test_another_key_with_the_same_content_acts_again(world: World) -> None:
    charges = [world.charge("42", 15000, operation=operation) for operation in ("op-1", "op-2")]
    assert charges == [Charge("charge-1", "42", 15000), Charge("charge-2", "42", 15000)]
    assert world.summary().taken_cents == 30000
    assert world.duplicates() == []


def test_every_call_is_recorded_with_content_outcome_and_process(world: World) -> None:
    world.charge("42", 15000, operation="op-1")
    with pytest.raises(OutOfStockError):
        world.reserve("lamp", 11, operation="op-2")
    charged, refused = world.calls()
    assert (charged.operation, charged.arguments) == ("op-1", '{"amount_cents":15000,"order":"42"}')
    assert '"charge_id":"charge-1"' in charged.outcome
    assert (refused.was_effect, refused.outcome) == (False, "cannot reserve 11 of 'lamp': 10 are free")
    assert {charged.pid, refused.pid} == {os.getpid()}


def test_probe_knows_what_happened_and_only_that(world: World) -> None:
    charge = world.charge("42", 15000, operation="op-1")
    with pytest.raises(OutOfStockError):
        world.reserve("lamp", 11, operation="op-2")
    assert world.probe("op-1") == charge
    assert world.probe("op-2") is None
    assert world.probe("op-3") is None
    assert len(world.calls()) == 2


def test_a_refused_key_may_act_later(world: World) -> None:
    with pytest.raises(DestinationRestrictedError):
        world.ship_express("42", ISLAND, operation="op-1")
    world.stock_up(stock={}, routes=[Route("express", ISLAND, price_cents=9900, days=3)])
    assert world.ship_express("42", ISLAND, operation="op-1").price_cents == 9900
    assert [call.was_effect for call in world.calls()] == [False, True]


def test_released_stock_is_free_again_and_only_once(world: World) -> None:
    reservation = world.reserve("lamp", 4, operation="op-1")
    release = world.release(reservation.reservation_id, operation="undo/op-1")
    assert release == Release("release-1", "reservation-1", 4)
    assert world.summary() == UNTOUCHED
    with pytest.raises(NothingToUndoError, match="no reservation 'reservation-1' that still stands"):
        world.release(reservation.reservation_id, operation="another")
    assert [(effect.id, effect.undone_by) for effect in world.effects()] == [
        ("reservation-1", "undo/op-1"),
        ("release-1", None),
    ]


def test_a_refund_gives_back_what_a_difference_left(world: World) -> None:
    charge = world.charge("42", 15000, operation="op-1")
    assert world.refund_difference("42", 1800, operation="op-2") == Refund("refund-1", "charge-1", 1800)
    assert world.summary().taken_cents == 13200
    with pytest.raises(RefundTooLargeError, match="13200 cents are left"):
        world.refund_difference("42", 13201, operation="op-3")
    assert world.refund(charge.charge_id, operation="undo/op-1") == Refund("refund-2", "charge-1", 13200)
    assert world.summary() == UNTOUCHED
    with pytest.raises(NothingToUndoError):
        world.refund_difference("42", 1, operation="op-4")


def test_a_cancelled_shipment_no_longer_stands(world: World) -> None:
    shipment = world.ship_sea("42", ISLAND, operation="op-1")
    assert shipment == Shipment("shipment-1", "42", "sea", ISLAND, 1200)
    assert world.summary().shipments == [f"order 42 by sea to {ISLAND}"]
    world.cancel_shipment(shipment.shipment_id, operation="undo/op-1")
    assert world.summary() == UNTOUCHED


def test_a_correction_follows_the_message_it_cannot_take_back(world: World) -> None:
    world.notify("ada@example.org", "express", operation="op-1")
    world.send_correction("ada@example.org", "no route", operation="op-2")
    assert world.summary().messages == ["express", "no route"]
    assert [effect.kind for effect in world.effects()] == ["message", "correction"]


def test_payments_without_keys_charge_twice_and_it_shows(path: Path) -> None:
    with World(path, payments_ignore_keys=True) as world:
        prepare(world)
        for _ in range(2):
            world.charge("42", 15000, operation="op-charge")
            world.reserve("lamp", 2, operation="op-reserve")
            world.refund_difference("42", 100, operation="op-difference")
        assert world.summary().taken_cents == 30000 - 200
        assert world.summary().stock_left == {"lamp": 8}
        assert [(twice.operation, twice.times) for twice in world.duplicates()] == [
            ("op-charge", 2),
            ("op-difference", 2),
        ]
        assert world.probe("op-charge") == Charge("charge-1", "42", 15000)


def test_a_new_process_sees_the_same_world(world: World, path: Path) -> None:
    charge = world.charge("42", 15000, operation="op-1")
    with World(path) as reopened:
        prepare(reopened)
        assert reopened.charge("42", 15000, operation="op-1") == charge
        assert reopened.summary() == world.summary()
        assert reopened.effects() == world.effects()


def test_threads_that_repeat_one_call_have_one_effect(world: World) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: world.reserve("lamp", 2, operation="op-1"), range(40)))
    assert set(answers) == {Reservation("reservation-1", "lamp", 2)}
    assert sum(call.was_effect for call in world.calls()) == 1
    assert len(world.calls()) == 40


def test_processes_that_open_a_new_file_and_repeat_calls_have_one_effect_each(path: Path) -> None:
    callers = [start_caller(path) for _ in range(4)]
    assert [(caller.communicate()[1], caller.returncode) for caller in callers] == [(b"", 0)] * 4
    with World(path) as world:
        assert [effect.id for effect in world.effects()] == ["reservation-1", "charge-1", "message-1"]
        assert {call.pid for call in world.calls()} == {caller.pid for caller in callers}
        assert len(world.calls()) == 12
        assert world.duplicates() == []


@pytest.mark.parametrize(
    ("moment", "charge"), [("before_commit", None), ("after_commit", Charge("charge-1", "42", 15000))]
)
def test_a_process_killed_at_a_commit_leaves_the_call_whole_or_out(
    path: Path, moment: str, charge: Charge | None
) -> None:
    killed = start_caller(path, moment)
    assert (killed.communicate()[1], killed.returncode) == (b"", -signal.SIGKILL)
    with World(path) as world:
        assert world.probe("op-charge") == charge
        assert world.probe("op-notify") is None
        assert len(world.calls()) == (1 if charge is None else 2)
        again = start_caller(path)
        assert (again.communicate()[1], again.returncode) == (b"", 0)
        assert world.summary() == Summary(
            stock_left={"lamp": 8}, taken_cents=15000, shipments=[], messages=["paid"]
        )
        assert world.duplicates() == []
        assert {call.pid for call in world.calls()} == {killed.pid, again.pid}


def test_commits_are_durable_and_do_not_block_readers(path: Path) -> None:
    calls = Calls(path, schema="", kill_at=None)
    modes = [
        calls.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "journal_mode")
    ]
    calls.close()
    assert modes == [2, "wal"]


def test_ship_offers_the_sea_when_express_is_refused(world: World) -> None:
    with pytest.raises(
        DestinationRestrictedError, match=f"express does not deliver to {ISLAND}; choose sea"
    ) as caught:
        world.ship_express(SHIP.order, SHIP.destination, operation="op-1")
    assert caught.value.options == (SEA_TO_ISLAND,)
    assert SHIP.express_cents - SEA_TO_ISLAND.price_cents == 1800


def test_no_route_has_no_options(path: Path) -> None:
    with World(path) as world:
        prepare(world)
        with pytest.raises(DestinationRestrictedError, match="no carrier does") as caught:
            world.ship_express(NO_ROUTE.order, NO_ROUTE.destination, operation="op-1")
        assert caught.value.options == ()
        with pytest.raises(DestinationRestrictedError):
            world.ship_sea(NO_ROUTE.order, NO_ROUTE.destination, operation="op-2")
        assert world.summary() == UNTOUCHED


def test_the_changed_address_has_express_at_the_agreed_price(path: Path) -> None:
    with World(path) as world:
        prepare(world)
        destination = ADDRESS_CHANGE.new_destination
        assert destination == CITY
        shipment = world.ship_express("44", destination, operation="op-1")
        assert shipment.price_cents == ADDRESS_CHANGE.express_cents


def test_inputs_of_every_scenario_add_up() -> None:
    for scenario in SCENARIOS.values():
        inputs = scenario.inputs()
        assert inputs["amount_cents"] == scenario.goods_cents + scenario.express_cents
        assert inputs["notice_due"] == (scenario is NO_ROUTE)
