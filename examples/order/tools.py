"""The tools of the order example: the outside world's services, as the engine sees them.

Payments are plain functions, which the engine runs in threads; the others are coroutines. All of them pass
the operation key on, so a service that knows keys can tell a repeat from a new intent, and all have a probe,
so that an outcome nobody saw can be asked for. `pre`, `post`, `cost` and `input` are there for planning by
search; a planner that is a function does without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from midcourse import Receipt, RequestReplan, Resource, Tool, ToolContext, ToolError, tool
from midcourse.examples.order.answers import (
    Answer,
    Cancellation,
    Charge,
    DestinationRestrictedError,
    Message,
    Refund,
    Release,
    Reservation,
    Shipment,
    WorldError,
)
from midcourse.examples.order.world import World

_BOOKING = {"order": "{{input.order}}", "destination": "{{input.destination}}"}


def order_tools(world: World) -> list[Tool]:
    """All tools of the example, bound to one world."""
    return [
        *inventory_tools(world),
        *payment_tools(world),
        *shipping_tools(world),
        *notification_tools(world),
    ]


def inventory_tools(world: World) -> list[Tool]:
    """`reserve` and what takes it back, `release`."""
    probe = probe_of(world)

    @tool(
        effect="reversible",
        undo="release",
        idempotent=True,
        probe=probe,
        post={"reserved": True},
        input={"sku": "{{input.sku}}", "quantity": "{{input.quantity}}"},
    )
    async def reserve(sku: str, quantity: int, *, context: ToolContext) -> Receipt:
        """Set stock aside for the order."""
        with refusals_as_failures():
            return receipt_of(world.reserve(sku, quantity, operation=context.operation))

    @tool(effect="irreversible", idempotent=True, probe=probe)
    async def release(receipt: Receipt, *, context: ToolContext) -> Release:
        """Give reserved stock back."""
        with refusals_as_failures():
            return world.release(_resource_id(receipt), operation=context.operation)

    return [reserve, release]


def payment_tools(world: World) -> list[Tool]:
    """`charge`, what takes it back, `refund`, and `refund_difference`.

    A provider that ignores operation keys makes them unsafe to repeat; it can still be asked what it did.
    """
    knows_keys = not world.payments_ignore_keys
    probe = probe_of(world)

    @tool(
        effect="reversible",
        undo="refund",
        identity=["order"],
        idempotent=knows_keys,
        probe=probe,
        pre={"reserved": True},
        post={"charged": True},
        input={"order": "{{input.order}}", "amount_cents": "{{input.amount_cents}}"},
    )
    def charge(order: str, amount_cents: int, *, context: ToolContext) -> Receipt:
        """Take the price of the order from the customer."""
        with refusals_as_failures():
            return receipt_of(world.charge(order, amount_cents, operation=context.operation))

    @tool(effect="irreversible", idempotent=knows_keys, probe=probe, cost=2)
    def refund(receipt: Receipt, *, context: ToolContext) -> Refund:
        """Give back all that is left of a charge."""
        with refusals_as_failures():
            return world.refund(_resource_id(receipt), operation=context.operation)

    @tool(
        effect="irreversible",
        idempotent=knows_keys,
        probe=probe,
        pre={"shipped_by_sea": True},
        post={"settled": True},
        input={
            "order": "{{input.order}}",
            "paid_cents": "{{input.express_cents}}",
            "due_cents": "{{ship_sea.price_cents}}",
        },
    )
    def refund_difference(order: str, paid_cents: int, due_cents: int, *, context: ToolContext) -> Refund:
        """Give back what the customer paid for a delivery beyond what it costs."""
        with refusals_as_failures():
            return world.refund_difference(order, paid_cents - due_cents, operation=context.operation)

    return [charge, refund, refund_difference]


def shipping_tools(world: World) -> list[Tool]:
    """`ship_express`, `ship_sea`, and what takes either back, `cancel_shipment`.

    Where a carrier does not go, they ask for another plan and leave the routes that exist on the board.
    """
    probe = probe_of(world)

    @tool(
        effect="reversible",
        undo="cancel_shipment",
        idempotent=True,
        probe=probe,
        pre={"charged": True, "notice_due": False, "express_open": True},
        post={"shipped": True, "settled": True},
        input=_BOOKING,
    )
    async def ship_express(order: str, destination: str, *, context: ToolContext) -> Receipt:
        """Book an express delivery."""
        return _booked(lambda: world.ship_express(order, destination, operation=context.operation))

    @tool(
        effect="reversible",
        undo="cancel_shipment",
        idempotent=True,
        probe=probe,
        pre={"charged": True, "sea_open": True},
        post={"shipped": True, "shipped_by_sea": True},
        cost=5,
        input=_BOOKING,
    )
    async def ship_sea(order: str, destination: str, *, context: ToolContext) -> Receipt:
        """Book sea freight."""
        return _booked(lambda: world.ship_sea(order, destination, operation=context.operation))

    @tool(effect="irreversible", idempotent=True, probe=probe)
    async def cancel_shipment(receipt: Receipt, *, context: ToolContext) -> Cancellation:
        """Take a booking back."""
        with refusals_as_failures():
            return world.cancel_shipment(_resource_id(receipt), operation=context.operation)

    return [ship_express, ship_sea, cancel_shipment]


def notification_tools(world: World) -> list[Tool]:
    """`announce`, `notify` and `send_correction`; what was sent stays sent."""
    probe = probe_of(world)

    @tool(
        effect="irreversible",
        idempotent=True,
        probe=probe,
        pre={"charged": True, "notice_due": True},
        post={"notice_due": False, "promised": True},
        input={
            "customer": "{{input.customer}}",
            "text": "Order {{input.order}} will travel to {{input.destination}} by express.",
        },
    )
    async def announce(customer: str, text: str, *, context: ToolContext) -> Message:
        """Tell the customer how the order will travel, before it is booked."""
        with refusals_as_failures():
            return world.notify(customer, text, operation=context.operation)

    @tool(
        effect="irreversible",
        idempotent=True,
        probe=probe,
        pre={"shipped": True, "settled": True},
        post={"told": True},
        input={
            "customer": "{{input.customer}}",
            "text": "Order {{input.order}} travels to {{shipped.destination}} by {{shipped.mode}}.",
        },
    )
    async def notify(customer: str, text: str, *, context: ToolContext) -> Message:
        """Tell the customer how the order travels."""
        with refusals_as_failures():
            return world.notify(customer, text, operation=context.operation)

    @tool(
        effect="irreversible",
        idempotent=True,
        probe=probe,
        pre={"promised": True},
        post={"promised": False},
        input={
            "customer": "{{input.customer}}",
            "text": "Order {{input.order}} cannot be delivered to {{input.destination}}. It is cancelled, "
            "and you get back all you paid.",
        },
    )
    async def send_correction(customer: str, text: str, *, context: ToolContext) -> Message:
        """Send the customer a message that sets an earlier one right."""
        with refusals_as_failures():
            return world.send_correction(customer, text, operation=context.operation)

    return [announce, notify, send_correction]


@contextmanager
def refusals_as_failures() -> Iterator[None]:
    """Fail for good on a refusal: it changed nothing, and the same call would be refused again."""
    try:
        yield
    except WorldError as refusal:
        raise ToolError(str(refusal), retryable=False, no_effect=True) from refusal


def probe_of(world: World) -> Callable[[str], Receipt | None]:
    """What became of an operation, as the world's records have it."""

    def probe(operation: str) -> Receipt | None:
        answer = world.probe(operation)
        return None if answer is None else receipt_of(answer)

    return probe


def receipt_of(answer: Answer) -> Receipt:
    """An answer of the world as a receipt, which names what now exists because of it."""
    match answer:
        case Reservation():
            made = Resource("reservation", answer.reservation_id, answer.quantity)
        case Charge():
            made = Resource("charge", answer.charge_id, answer.amount_cents)
        case Shipment():
            made = Resource("shipment", answer.shipment_id, answer.price_cents)
        case _:
            return Receipt(answer)
    return Receipt(answer, (made,))


def _booked(book: Callable[[], Shipment]) -> Receipt:
    try:
        return receipt_of(book())
    except DestinationRestrictedError as refusal:
        open_routes = {route.mode: msgspec.to_builtins(route) for route in refusal.options}
        routes = {"destination": refusal.destination, "open": open_routes}
        raise RequestReplan(str(refusal), updates={"routes": routes}, no_effect=True) from refusal


def _resource_id(receipt: Receipt) -> str:
    if not receipt.resources:
        raise ValueError(
            "the receipt names no resource, so there is nothing to take back; settle it with one"
        )
    return receipt.resources[0].id
