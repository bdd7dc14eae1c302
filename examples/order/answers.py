"""What the outside world answers to a call: a typed result, or a refusal that says why."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

Mode: TypeAlias = Literal["express", "sea"]


class Route(Struct, frozen=True):
    """A way to deliver to a destination, with its price and duration."""

    mode: Mode
    destination: str
    price_cents: int
    days: int


class Reservation(Struct, frozen=True, tag="reservation", tag_field="kind"):
    """Stock set aside for an order."""

    reservation_id: str
    sku: str
    quantity: int


class Release(Struct, frozen=True, tag="release", tag_field="kind"):
    """Reserved stock given back."""

    release_id: str
    reservation_id: str
    quantity: int


class Charge(Struct, frozen=True, tag="charge", tag_field="kind"):
    """Money taken from the customer."""

    charge_id: str
    order: str
    amount_cents: int


class Refund(Struct, frozen=True, tag="refund", tag_field="kind"):
    """Money given back, all or part of one charge."""

    refund_id: str
    charge_id: str
    amount_cents: int


class Shipment(Struct, frozen=True, tag="shipment", tag_field="kind"):
    """A booking with a carrier."""

    shipment_id: str
    order: str
    mode: Mode
    destination: str
    price_cents: int


class Cancellation(Struct, frozen=True, tag="cancellation", tag_field="kind"):
    """A booking taken back."""

    cancellation_id: str
    shipment_id: str


class Message(Struct, frozen=True, tag="message", tag_field="kind"):
    """A message to the customer. It cannot be taken back, only followed by a correction."""

    message_id: str
    customer: str
    text: str


Answer: TypeAlias = Reservation | Release | Charge | Refund | Shipment | Cancellation | Message


class WorldError(Exception):
    """The world did not do what was asked, and nothing changed in it."""


class KeyConflictError(WorldError):
    """An operation key came a second time with other content."""

    def __init__(self, operation: str, recorded: str, given: str) -> None:
        super().__init__(
            f"operation {operation!r} was already used for {recorded}, and now comes with {given}; "
            "use a new key for a new intent"
        )
        self.operation = operation


class OutOfStockError(WorldError):
    """More was asked for than is free."""

    def __init__(self, sku: str, quantity: int, free: int) -> None:
        super().__init__(f"cannot reserve {quantity} of {sku!r}: {free} are free")
        self.free = free


class DestinationRestrictedError(WorldError):
    """The carrier does not deliver there. `options` holds the routes that exist, possibly none."""

    def __init__(self, mode: Mode, destination: str, options: tuple[Route, ...]) -> None:
        known = ", ".join(f"{route.mode} ({route.price_cents} cents, {route.days} days)" for route in options)
        super().__init__(
            f"{mode} does not deliver to {destination}; "
            + (f"choose {known}" if known else "no carrier does")
        )
        self.destination = destination
        self.options = options


class NothingToUndoError(WorldError):
    """What should be undone or refunded does not exist, or no longer stands."""

    def __init__(self, kind: str, subject: str) -> None:
        super().__init__(f"there is no {kind} {subject!r} that still stands")


class RefundTooLargeError(WorldError):
    """More should be given back than is left of the charge."""

    def __init__(self, charge_id: str, amount_cents: int, left_cents: int) -> None:
        super().__init__(
            f"cannot refund {amount_cents} cents of {charge_id!r}: {left_cents} cents are left of it"
        )
        self.left_cents = left_cents
