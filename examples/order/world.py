"""The outside world of the order example: a warehouse, a payment provider, carriers, a mailbox.

It keeps its own SQLite file, apart from the engine's store, and stands for services somebody else runs:

- Every call carries an operation key. The same key with the same content gets the recorded answer, with other
  content a conflict; an unknown key acts. (`payments_ignore_keys` makes payments act every time.)
- Every call is written down, repeated and refused ones too, so that an effect that happened twice shows.
- A call is one durable transaction: after a crash it has happened, with its record, or it has not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from msgspec import Struct

from midcourse.examples.order import effects as tables
from midcourse.examples.order.answers import (
    Answer,
    Cancellation,
    Charge,
    DestinationRestrictedError,
    Message,
    Mode,
    NothingToUndoError,
    OutOfStockError,
    Refund,
    RefundTooLargeError,
    Release,
    Reservation,
    Route,
    Shipment,
)
from midcourse.examples.order.calls import Call, Calls, Duplicate, KillAt
from midcourse.examples.order.effects import Effect, Effects


class Summary(Struct, frozen=True):
    """The world in a few lines, without keys and ids: equal for a crashed run and an uncrashed one."""

    stock_left: dict[str, int]
    taken_cents: int
    shipments: list[str]
    messages: list[str]


class World:
    """The world behind one file. Any number of threads and processes may use it at once.

    Args:
        path: the SQLite file; it is created when missing.
        payments_ignore_keys: this payment provider does not know operation keys: a repeated charge or refund
            really happens again.
        kill_at: where this process kills itself with SIGKILL, for crash tests.
    """

    def __init__(
        self, path: Path, *, payments_ignore_keys: bool = False, kill_at: KillAt | None = None
    ) -> None:
        self.payments_ignore_keys = payments_ignore_keys
        self._calls = Calls(path, schema=tables.SCHEMA, kill_at=kill_at)
        self._effects = Effects(self._calls.connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; a call in another thread is waited for."""
        self._calls.close()

    def stock_up(self, *, stock: Mapping[str, int], routes: Iterable[Route]) -> None:
        """Put goods on the shelf and open routes. What is already known stays as it is."""
        with self._calls.transaction():
            self._effects.stock_up(stock, routes)

    def reserve(self, sku: str, quantity: int, *, operation: str) -> Reservation:
        """Set stock aside. Raises OutOfStockError."""

        def act() -> Reservation:
            free = self._effects.free_stock(sku)
            if quantity > free:
                raise OutOfStockError(sku, quantity, free)
            made = self._effects.add("reservation", sku, amount=quantity, operation=operation)
            return Reservation(made, sku, quantity)

        arguments = {"sku": sku, "quantity": quantity}
        return self._calls.receive("reserve", arguments, act, operation=operation, answer_type=Reservation)

    def release(self, reservation_id: str, *, operation: str) -> Release:
        """Give reserved stock back. Raises NothingToUndoError."""

        def act() -> Release:
            reservation = self._take_back("reservation", reservation_id, operation)
            made = self._effects.add(
                "release", reservation_id, amount=reservation.amount, operation=operation
            )
            return Release(made, reservation_id, reservation.amount)

        arguments = {"reservation_id": reservation_id}
        return self._calls.receive("release", arguments, act, operation=operation, answer_type=Release)

    def charge(self, order: str, amount_cents: int, *, operation: str) -> Charge:
        """Take money from the customer."""

        def act() -> Charge:
            made = self._effects.add("charge", order, amount=amount_cents, operation=operation)
            return Charge(made, order, amount_cents)

        return self._calls.receive(
            "charge",
            {"order": order, "amount_cents": amount_cents},
            act,
            operation=operation,
            answer_type=Charge,
            ignores_keys=self.payments_ignore_keys,
        )

    def refund(self, charge_id: str, *, operation: str) -> Refund:
        """Give back all that is left of a charge, which then stands no longer. Raises NothingToUndoError."""

        def act() -> Refund:
            charge = self._take_back("charge", charge_id, operation)
            left_cents = charge.amount - self._effects.refunded_cents(charge_id)
            return self._pay_back(charge_id, left_cents, operation)

        return self._receive_refund("refund", {"charge_id": charge_id}, act, operation)

    def refund_difference(self, order: str, amount_cents: int, *, operation: str) -> Refund:
        """Give back a part of what was charged for an order.

        Raises:
            NothingToUndoError: the order has no charge that stands.
            RefundTooLargeError: less than `amount_cents` is left of the charge.
        """

        def act() -> Refund:
            charge = self._charge_for(order)
            left_cents = charge.amount - self._effects.refunded_cents(charge.id)
            if amount_cents > left_cents:
                raise RefundTooLargeError(charge.id, amount_cents, left_cents)
            return self._pay_back(charge.id, amount_cents, operation)

        arguments = {"order": order, "amount_cents": amount_cents}
        return self._receive_refund("refund_difference", arguments, act, operation)

    def ship_express(self, order: str, destination: str, *, operation: str) -> Shipment:
        """Book an express delivery. Raises DestinationRestrictedError, with the options that exist."""
        return self._ship("express", order, destination, operation)

    def ship_sea(self, order: str, destination: str, *, operation: str) -> Shipment:
        """Book sea freight. Raises DestinationRestrictedError, with the options that exist."""
        return self._ship("sea", order, destination, operation)

    def cancel_shipment(self, shipment_id: str, *, operation: str) -> Cancellation:
        """Take a booking back. Raises NothingToUndoError."""

        def act() -> Cancellation:
            self._take_back("shipment", shipment_id, operation)
            return Cancellation(
                self._effects.add("cancellation", shipment_id, operation=operation), shipment_id
            )

        arguments = {"shipment_id": shipment_id}
        return self._calls.receive(
            "cancel_shipment", arguments, act, operation=operation, answer_type=Cancellation
        )

    def notify(self, customer: str, text: str, *, operation: str) -> Message:
        """Send a message to the customer; it cannot be taken back."""
        return self._send("notify", "message", customer, text, operation)

    def send_correction(self, customer: str, text: str, *, operation: str) -> Message:
        """Send a message that sets an earlier one right; it cannot be taken back either."""
        return self._send("send_correction", "correction", customer, text, operation)

    def probe(self, operation: str) -> Answer | None:
        """The recorded answer of an operation, or None when it has had no effect. Not a call."""
        return self._calls.probe(operation)

    def calls(self) -> list[Call]:
        """Every call in the order it was received."""
        return self._calls.all()

    def duplicates(self) -> list[Duplicate]:
        """The operations that had their effect more than once. Must be empty."""
        return self._calls.duplicates()

    def effects(self) -> list[Effect]:
        """Every effect in the order it happened; `stands` tells which were not undone."""
        with self._calls.reading():
            return self._effects.all()

    def summary(self) -> Summary:
        """Stock left, money taken less refunds, bookings that stand, messages sent."""
        with self._calls.reading():
            stock_left, effects = self._effects.stock_left(), self._effects.all()
        signs = {"charge": 1, "refund": -1}
        return Summary(
            stock_left=stock_left,
            taken_cents=sum(signs.get(effect.kind, 0) * effect.amount for effect in effects),
            shipments=[effect.detail for effect in effects if effect.kind == "shipment" and effect.stands],
            messages=[effect.detail for effect in effects if effect.kind in {"message", "correction"}],
        )

    def _ship(self, mode: Mode, order: str, destination: str, operation: str) -> Shipment:
        def act() -> Shipment:
            routes = self._effects.routes_to(destination)
            if mode not in routes:
                raise DestinationRestrictedError(mode, destination, tuple(routes.values()))
            price_cents = routes[mode].price_cents
            detail = f"order {order} by {mode} to {destination}"
            made = self._effects.add(
                "shipment", order, detail=detail, amount=price_cents, operation=operation
            )
            return Shipment(made, order, mode, destination, price_cents)

        arguments = {"order": order, "destination": destination}
        return self._calls.receive(f"ship_{mode}", arguments, act, operation=operation, answer_type=Shipment)

    def _send(self, verb: str, kind: str, customer: str, text: str, operation: str) -> Message:
        def act() -> Message:
            return Message(
                self._effects.add(kind, customer, detail=text, operation=operation), customer, text
            )

        arguments = {"customer": customer, "text": text}
        return self._calls.receive(verb, arguments, act, operation=operation, answer_type=Message)

    def _receive_refund(
        self, verb: str, arguments: Mapping[str, object], act: Callable[[], Refund], operation: str
    ) -> Refund:
        return self._calls.receive(
            verb,
            arguments,
            act,
            operation=operation,
            answer_type=Refund,
            ignores_keys=self.payments_ignore_keys,
        )

    def _pay_back(self, charge_id: str, amount_cents: int, operation: str) -> Refund:
        made = self._effects.add("refund", charge_id, amount=amount_cents, operation=operation)
        return Refund(made, charge_id, amount_cents)

    def _charge_for(self, order: str) -> Effect:
        for effect in self._effects.all("charge"):
            if effect.subject == order and effect.stands:
                return effect
        raise NothingToUndoError("charge for order", order)

    def _take_back(self, kind: str, effect_id: str, operation: str) -> Effect:
        effect = self._effects.standing(kind, effect_id)
        if effect is None:
            raise NothingToUndoError(kind, effect_id)
        self._effects.mark_undone(effect_id, operation=operation)
        return effect
