"""What planners are shown in these tests."""

from __future__ import annotations

from typing import Any

from midcourse.domain.goal import Goal
from midcourse.domain.planning import PlanningContext
from midcourse.domain.tools import Catalog


def context(**changes: Any) -> PlanningContext:
    """Return a context in which nothing has happened yet.

    Args:
        changes: fields that are to be otherwise.
    """
    fields: dict[str, Any] = {
        "run_id": "run", "goal": Goal("a goal"), "epoch": 1, "revision": 0, "is_replanning": False,
        "reason": "", "board": {}, "signals": (), "ledger": (), "constraints": (), "executed": (),
        "superseded": (), "failures": (), "excluded": frozenset(), "next_id": 0, "tools": Catalog(),
    }  # fmt: skip
    return PlanningContext(**{**fields, **changes})
