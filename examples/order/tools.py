"""The tools of the order example: the outside world's services, as the engine sees them.

Payments are plain functions, which the engine runs in threads; the others are coroutines. All of them pass
the operation key on, so a service that knows keys can tell a repeat from a new intent.
"""

from __future__ import annotations

import msgspec

from midcourse import Receipt, RequestReplan, Resource, Tool, ToolContext, tool
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
)
from midcourse.examples.order.world import World


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

    @tool(effect="reversible", undo="release", identity=["sku", "quantity"], idempotent=True)
    async def reserve(sku: str, quantity: int, *, context: ToolContext) -> Receipt:
        """Set stock aside for the order."""
        return receipt_of(world.reserve(sku, quantity, operation=context.operation))

    @tool(effect="irreversible", idempotent=True)
    async def release(receipt: Receipt, *, context: ToolContext) -> Release:
        """Give reserved stock back."""
        return world.release(_resource_id(receipt), operation=context.operation)

    return [reserve, release]


def payment_tools(world: World) -> list[Tool]:
    """`charge`, what takes it back, `refund`, and `refund_difference`.

    A provider that ignores operation keys makes them unsafe to repeat; it can still be asked what it did.
    """
    knows_keys = not world.payments_ignore_keys

    def probe(operation: str) -> Receipt | None:
        answer = world.probe(operation)
        return None if answer is None else receipt_of(answer)

    @tool(effect="reversible", undo="refund", identity=["order"], idempotent=knows_keys, probe=probe)
    def charge(order: str, amount_cents: int, *, context: ToolContext) -> Receipt:
        """Take the price of the order from the customer."""
        return receipt_of(world.charge(order, amount_cents, operation=context.operation))

    @tool(effect="irreversible", idempotent=knows_keys, probe=probe)
    def refund(receipt: Receipt, *, context: ToolContext) -> Refund:
        """Give back all that is left of a charge."""
        return world.refund(_resource_id(receipt), operation=context.operation)

    @tool(effect="irreversible", idempotent=knows_keys, probe=probe)
    def refund_difference(order: str, paid_cents: int, due_cents: int, *, context: ToolContext) -> Refund:
        """Give back what the customer paid for a delivery beyond what it costs."""
        return world.refund_difference(order, paid_cents - due_cents, operation=context.operation)

    return [charge, refund, refund_difference]


def shipping_tools(world: World) -> list[Tool]:
    """`ship_express`, `ship_sea`, and what takes either back, `cancel_shipment`."""

    @tool(effect="reversible", undo="cancel_shipment", idempotent=True)
    async def ship_express(order: str, destination: str, *, context: ToolContext) -> Receipt:
        """Book an express delivery; where that is restricted, ask for a plan with the routes that exist."""
        try:
            return receipt_of(world.ship_express(order, destination, operation=context.operation))
        except DestinationRestrictedError as refusal:
            options = {route.mode: msgspec.to_builtins(route) for route in refusal.options}
            raise RequestReplan(
                str(refusal), updates={"shipping_options": options}, no_effect=True
            ) from refusal

    @tool(effect="reversible", undo="cancel_shipment", idempotent=True)
    async def ship_sea(order: str, destination: str, *, context: ToolContext) -> Receipt:
        """Book sea freight."""
        return receipt_of(world.ship_sea(order, destination, operation=context.operation))

    @tool(effect="irreversible", idempotent=True)
    async def cancel_shipment(receipt: Receipt, *, context: ToolContext) -> Cancellation:
        """Take a booking back."""
        return world.cancel_shipment(_resource_id(receipt), operation=context.operation)

    return [ship_express, ship_sea, cancel_shipment]


def notification_tools(world: World) -> list[Tool]:
    """`notify` and `send_correction`; what was sent stays sent."""

    @tool(effect="irreversible", idempotent=True)
    async def notify(customer: str, text: str, *, context: ToolContext) -> Message:
        """Send the customer a message."""
        return world.notify(customer, text, operation=context.operation)

    @tool(effect="irreversible", idempotent=True)
    async def send_correction(customer: str, text: str, *, context: ToolContext) -> Message:
        """Send the customer a message that sets an earlier one right."""
        return world.send_correction(customer, text, operation=context.operation)

    return [notify, send_correction]


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


def _resource_id(receipt: Receipt) -> str:
    if not receipt.resources:
        raise ValueError(
            "the receipt names no resource, so there is nothing to take back; settle it with one"
        )
    return receipt.resources[0].id
