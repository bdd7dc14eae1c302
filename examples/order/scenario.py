"""The cases of the order example: what is ordered, what the world has, and what happens on the way."""

from __future__ import annotations

from msgspec import Struct

from midcourse import Goal
from midcourse.examples.order.answers import Route
from midcourse.examples.order.world import World

ISLAND, CITY, NOWHERE = "Longyearbyen", "Oslo", "Bouvet Island"
STOCK = {"lamp": 10}
ROUTES = (
    Route("express", CITY, price_cents=30_00, days=2),
    Route("sea", CITY, price_cents=9_00, days=6),
    Route("sea", ISLAND, price_cents=12_00, days=21),
)


class Scenario(Struct, frozen=True):
    """One order, and what was agreed for its delivery.

    Args:
        name: its name on the command line.
        order: number of the order.
        destination: where it is to go; express is tried first.
        twist: what goes wrong, in a few words.
        notice_first: whether the customer hears of the express delivery before it is booked.
        new_destination: where the customer wants it after all, told while a new plan is being made.
    """

    name: str
    order: str
    destination: str
    twist: str
    customer: str = "ada@example.org"
    sku: str = "lamp"
    quantity: int = 2
    goods_cents: int = 120_00
    express_cents: int = 30_00
    notice_first: bool = False
    new_destination: str = ""

    @property
    def key(self) -> str:
        """The key of its run: starting it again finds the same run."""
        return f"order-{self.order}"

    def goal(self) -> Goal:
        """What its run is for: the delivery, or else a customer who has lost nothing."""
        return Goal(f"Deliver order {self.order}, or make the customer whole", self.inputs())

    def inputs(self) -> dict[str, object]:
        """The inputs of the goal."""
        return {
            "order": self.order,
            "customer": self.customer,
            "sku": self.sku,
            "quantity": self.quantity,
            "destination": self.destination,
            "amount_cents": self.goods_cents + self.express_cents,
            "express_cents": self.express_cents,
            "notice_due": self.notice_first,
        }


SHIP = Scenario("ship", "42", ISLAND, "express does not go there")
NO_ROUTE = Scenario(
    "no_route", "43", NOWHERE, "nothing goes there, and the customer was told", notice_first=True
)
ADDRESS_CHANGE = Scenario(
    "address_change", "44", ISLAND, "the address changes while a plan is made", new_destination=CITY
)
SCENARIOS = {scenario.name: scenario for scenario in (SHIP, NO_ROUTE, ADDRESS_CHANGE)}


def prepare(world: World) -> None:
    """Put goods on the shelf and open the routes; a second time changes nothing."""
    world.stock_up(stock=STOCK, routes=ROUTES)
