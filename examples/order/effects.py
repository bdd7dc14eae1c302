"""What exists in the outside world: stock, routes, and the effects that calls have had."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from sqlite3 import Connection, Row

from msgspec import Struct

from midcourse.examples.order.answers import Mode, Route

SCHEMA = """
CREATE TABLE IF NOT EXISTS stock (sku TEXT PRIMARY KEY, on_hand INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS routes (
    mode TEXT NOT NULL, destination TEXT NOT NULL, price_cents INTEGER NOT NULL, days INTEGER NOT NULL,
    PRIMARY KEY (mode, destination)
);
CREATE TABLE IF NOT EXISTS effects (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL UNIQUE, subject TEXT NOT NULL,
    detail TEXT NOT NULL, amount INTEGER NOT NULL, operation TEXT NOT NULL, undone_by TEXT
);
"""


class Effect(Struct, frozen=True):
    """One thing a call brought about.

    `subject` is what it is about (a sku, an order, a customer, or the id of the effect it takes back);
    `amount` counts pieces for stock and cents for money; `undone_by` is the operation that took it back.
    """

    kind: str
    id: str
    subject: str
    detail: str
    amount: int
    operation: str
    undone_by: str | None

    @property
    def stands(self) -> bool:
        """Whether nothing took it back."""
        return self.undone_by is None


class Effects:
    """The tables of things that exist. Changes need an open transaction, which the caller owns."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def stock_up(self, stock: Mapping[str, int], routes: Iterable[Route]) -> None:
        """Add what is not there yet; what is already known stays as it is."""
        for sku, on_hand in stock.items():
            self._connection.execute("INSERT OR IGNORE INTO stock VALUES (?, ?)", (sku, on_hand))
        for route in routes:
            self._connection.execute(
                "INSERT OR IGNORE INTO routes VALUES (?, ?, ?, ?)",
                (route.mode, route.destination, route.price_cents, route.days),
            )

    def add(self, kind: str, subject: str, *, operation: str, amount: int = 0, detail: str = "") -> str:
        """Write an effect down and return its id, which counts up for each kind."""
        count: int = self._one("SELECT count(*) FROM effects WHERE kind = ?", kind)[0]
        effect_id = f"{kind}-{count + 1}"
        self._connection.execute(
            "INSERT INTO effects (kind, id, subject, detail, amount, operation) VALUES (?, ?, ?, ?, ?, ?)",
            (kind, effect_id, subject, detail, amount, operation),
        )
        return effect_id

    def mark_undone(self, effect_id: str, *, operation: str) -> None:
        """Note which operation took the effect back."""
        self._connection.execute("UPDATE effects SET undone_by = ? WHERE id = ?", (operation, effect_id))

    def standing(self, kind: str, effect_id: str) -> Effect | None:
        """The effect with this id, if it exists and was not undone."""
        return next((effect for effect in self.all(kind) if effect.id == effect_id and effect.stands), None)

    def all(self, kind: str | None = None) -> list[Effect]:
        """Every effect in the order it happened, undone ones included."""
        rows = self._connection.execute(
            "SELECT kind, id, subject, detail, amount, operation, undone_by FROM effects "
            "WHERE ?1 IS NULL OR kind = ?1 ORDER BY number",
            (kind,),
        )
        return [Effect(*row) for row in rows]

    def free_stock(self, sku: str) -> int:
        """Pieces of a sku that can be reserved; an unknown sku has none."""
        return self.stock_left().get(sku, 0)

    def stock_left(self) -> dict[str, int]:
        """What is on hand of each sku and not reserved."""
        rows = self._connection.execute(
            "SELECT sku, on_hand - (SELECT coalesce(sum(amount), 0) FROM effects "
            "WHERE kind = 'reservation' AND subject = sku AND undone_by IS NULL) FROM stock ORDER BY sku"
        )
        return dict(rows.fetchall())

    def refunded_cents(self, charge_id: str) -> int:
        """What was given back of a charge so far."""
        total: int = self._one(
            "SELECT coalesce(sum(amount), 0) FROM effects WHERE kind = 'refund' AND subject = ?", charge_id
        )[0]
        return total

    def routes_to(self, destination: str) -> dict[Mode, Route]:
        """The routes to a destination, by mode."""
        rows = self._connection.execute(
            "SELECT mode, destination, price_cents, days FROM routes WHERE destination = ? ORDER BY mode",
            (destination,),
        )
        return {row[0]: Route(*row) for row in rows}

    def _one(self, statement: str, *parameters: str) -> Row:
        row: Row = self._connection.execute(statement, parameters).fetchone()
        return row
