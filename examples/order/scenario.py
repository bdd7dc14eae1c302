"""The cases of the order example: what is ordered, what the world has, and what happens on the way."""

from __future__ import annotations

from msgspec import Struct

from midcourse.examples.order.answers import Route
from midcourse.examples.order.world import World


class Order(Struct, frozen=True):
    """What the customer bought, and what was agreed for its delivery."""

    order: str
    customer: str
    sku: str
    quantity: int
    destination: str
    goods_cents: int
    express_cents: int

    @property
    def amount_cents(self) -> int:
        """The price the customer agreed to: the goods, delivered by express."""
        return self.goods_cents + self.express_cents


class Scenario(Struct, frozen=True):
    """One case.

    Args:
        name: its name on the command line.
        order: the order to deliver.
        stock: pieces on hand by sku.
        routes: the routes that exist.
        notice_first: whether the customer hears of the express delivery before it is booked.
        new_destination: where the customer wants it after all, told while a new plan is being made.
    """

    name: str
    order: Order
    stock: dict[str, int]
    routes: tuple[Route, ...]
    notice_first: bool = False
    new_destination: str | None = None

    def inputs(self) -> dict[str, object]:
        """The inputs of the goal."""
        order = self.order
        return {
            "order": order.order,
            "customer": order.customer,
            "sku": order.sku,
            "quantity": order.quantity,
            "destination": order.destination,
            "amount_cents": order.amount_cents,
            "express_cents": order.express_cents,
            "notice_first": self.notice_first,
        }

    def prepare(self, world: World) -> None:
        """Set the world up for this case; a second time changes nothing."""
        world.stock_up(stock=self.stock, routes=self.routes)


_ISLAND = "Longyearbyen"
_CITY = "Oslo"
_ORDER = Order(
    order="42",
    customer="ada@example.org",
    sku="lamp",
    quantity=2,
    destination=_ISLAND,
    goods_cents=120_00,
    express_cents=30_00,
)
_STOCK = {"lamp": 10}
_EXPRESS_TO_CITY = Route("express", _CITY, price_cents=30_00, days=2)
_SEA_TO_CITY = Route("sea", _CITY, price_cents=9_00, days=6)
_SEA_TO_ISLAND = Route("sea", _ISLAND, price_cents=12_00, days=21)

SHIP = Scenario("ship", _ORDER, _STOCK, (_EXPRESS_TO_CITY, _SEA_TO_CITY, _SEA_TO_ISLAND))
NO_ROUTE = Scenario("no_route", _ORDER, _STOCK, (_EXPRESS_TO_CITY, _SEA_TO_CITY), notice_first=True)
ADDRESS_CHANGE = Scenario(
    "address_change",
    _ORDER,
    _STOCK,
    (_EXPRESS_TO_CITY, _SEA_TO_CITY, _SEA_TO_ISLAND),
    new_destination=_CITY,
)
SCENARIOS = {scenario.name: scenario for scenario in (SHIP, NO_ROUTE, ADDRESS_CHANGE)}
