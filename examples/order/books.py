"""The outside world's own books as a table: what it was asked, and what that brought about."""

from __future__ import annotations

from collections import Counter

from rich.table import Table
from rich.text import Text

from midcourse.examples.order.effects import Effect
from midcourse.examples.order.world import World

_IN_CENTS = frozenset(("charge", "refund", "shipment"))


def books(world: World, *, width: int) -> Table:
    """Every effect with the calls that asked for it; a call beyond the first was answered from the record."""
    calls = Counter(call.operation for call in world.calls())
    times = Counter(call.operation for call in world.calls() if call.was_effect)
    table = Table(box=None, padding=(0, 1), header_style="dim", width=width)
    table.add_column("effect", no_wrap=True)
    table.add_column("of", ratio=1)
    table.add_column("amount", justify="right")
    table.add_column("calls", justify="right")
    table.add_column("effects", justify="right")
    table.add_column("now", no_wrap=True)
    for effect in world.effects():
        happened = times[effect.operation]
        table.add_row(
            effect.id,
            effect.detail or effect.subject,
            _amount(effect),
            str(calls[effect.operation]),
            Text(str(happened), "green" if happened == 1 else "bold red"),
            "stands" if effect.stands else "taken back",
            style="" if effect.stands else "dim",
        )
    return table


def _amount(effect: Effect) -> str:
    if effect.kind in _IN_CENTS:
        return f"{effect.amount / 100:.2f}"
    return f"{effect.amount} pcs" if effect.amount else ""
