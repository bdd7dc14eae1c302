"""Numbers that JSON has no words for: it would write them as null, and nobody would know."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def not_finite(value: Any, path: str = "") -> str:
    """Return where NaN or an infinity is and what it is, such as ``rates[2] is nan``; empty if there is none.

    Args:
        value: made of what JSON has, as ``msgspec.to_builtins`` returns it.
        path: where the value itself is.
    """
    if isinstance(value, float):
        return "" if math.isfinite(value) else f"{path or 'it'} is {value}"
    if isinstance(value, Mapping):
        parts = ((f"{path}.{name}" if path else str(name), part) for name, part in value.items())
    elif isinstance(value, (list, tuple)):
        parts = ((f"{path}[{index}]", part) for index, part in enumerate(value))
    else:
        return ""
    return next((found for where, part in parts if (found := not_finite(part, where))), "")
