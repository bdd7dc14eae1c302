"""The order as a plan by a person: to Oslo it is delivered; to Longyearbyen it fails, and is undone.

Beside it, `midcourse demo` has planners deliver the same orders: they plan anew, and get there by sea.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from midcourse.examples._midcourse import midcourse
from midcourse.examples.order.kit import Kit

PLAN = Path(__file__).parent / "order" / "by_hand.yaml"
DELIVERED, FAILED = 0, 1


def main() -> int:
    """Order the same for two places."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Kit(folder) as kit:
            for order, destination, expected in (("42", "Oslo", DELIVERED), ("43", "Longyearbyen", FAILED)):
                inputs = {"order": order, "customer": "ada@example.org", "destination": destination}
                code, _ = midcourse(
                    "plan", "run", str(PLAN), json.dumps(inputs), "--quiet", "--key", f"order-{order}",
                    config=kit.config, store=folder / "orders.db",
                )  # fmt: skip
                if code != expected:
                    return 1
            summary = kit.world.summary()
            print(f"lamps left: {summary.stock_left['lamp']}, taken: {summary.taken_cents / 100:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
