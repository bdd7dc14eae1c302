"""What a completed operation leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


class Resource(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Something that now exists outside because of an operation.

    Args:
        kind: what it is, such as ``payment``.
        id: its name in the outside system.
        amount: how much of it, where that makes sense.
        version: the outside system's version of it.
    """

    kind: str
    id: str
    amount: float | None = None
    version: str | None = None


class Receipt(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The recorded outcome of a completed operation.

    Args:
        result: the JSON value later steps may refer to.
        resources: what exists outside because of it.
        undo_input: the exact input of the undo tool; ``None`` derives it from input and receipt.
        observed_at: when the outside world reported it, in seconds since the epoch.
    """

    result: Any = None
    resources: tuple[Resource, ...] = ()
    undo_input: Mapping[str, Any] | None = None
    observed_at: float | None = None
