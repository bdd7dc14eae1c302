"""Reading facts of retired shapes: one pure function for each.

A fact's class knows only its present shape. When a shape changes, the fact's ``schema`` goes up by one and
a function is registered here that turns the JSON object of the old shape into one of the next. Stored
records never change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]
"""Takes the data of a fact in one shape, returns it in the next; pure, and free to change its argument."""

UPCASTERS: Mapping[tuple[str, int], Upcaster] = {}
"""By topic and the retired schema number they read. Every shape so far is a present one."""


def upcast(
    topic: str,
    schema: int,
    data: dict[str, Any],
    *,
    present: int,
    upcasters: Mapping[tuple[str, int], Upcaster],
) -> dict[str, Any]:
    """Return ``data`` in the present shape of its topic.

    Args:
        topic: the stable name of the kind of fact.
        schema: the number of the shape ``data`` has.
        data: the fact as decoded JSON.
        present: the number of the shape to reach.
        upcasters: the functions to go by.

    Raises:
        LookupError: there is no function for one of the shapes on the way.
    """
    for number in range(schema, present):
        step = upcasters.get((topic, number))
        if step is None:
            raise LookupError(f"no upcaster reads {topic} in schema {number}")
        data = step(data)
    return data
