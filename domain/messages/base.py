"""What all messages share."""

from __future__ import annotations

from typing import dataclass_transform

import msgspec

ENGINE = "engine"


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Message(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The base of all messages."""

    at: float
    actor: str = ENGINE
