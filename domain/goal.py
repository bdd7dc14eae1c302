"""What a run is for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


class Goal(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a run is to reach.

    Args:
        text: the goal in words a person understands.
        inputs: JSON values the plan may use as ``{{input.…}}``.
    """

    text: str
    inputs: Mapping[str, Any] = msgspec.field(default_factory=dict)
