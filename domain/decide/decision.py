"""What a rule answers: facts to append, orders to send once they are durable."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..facts import Fact
from ..orders import Order


class Decision(msgspec.Struct, frozen=True, gc=False):
    """The answer of a rule.

    Args:
        facts: facts to append, in order.
        orders: orders to send after the append.
        cause: version of the fact that led to the first of them, 0 for something from outside. The facts
            after the first were caused by the first.
    """

    facts: Sequence[Fact] = ()
    orders: Sequence[Order] = ()
    cause: int = 0


NOTHING = Decision()
