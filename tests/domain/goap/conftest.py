from collections.abc import Callable
from typing import Any

import pytest

from midcourse.domain.goal import Goal
from midcourse.domain.planning import LedgerEntry, PlanningContext
from midcourse.domain.receipt import Receipt
from midcourse.domain.tools import Catalog, ToolSpec

ContextOf = Callable[..., PlanningContext]
EntryOf = Callable[..., LedgerEntry]


@pytest.fixture(scope="session")
def context_of() -> ContextOf:
    """A context over some tools, everything else empty unless given."""

    def make(tools: list[ToolSpec], *, inputs: dict[str, Any] | None = None, **given: Any) -> PlanningContext:
        fields = {
            "run_id": "run",
            "goal": Goal("a goal", inputs or {}),
            "epoch": 1,
            "revision": 0,
            "is_replanning": False,
            "reason": "",
            "board": {},
            "signals": (),
            "ledger": (),
            "constraints": (),
            "executed": (),
            "superseded": (),
            "failures": (),
            "excluded": frozenset(),
            "next_id": 0,
        }
        return PlanningContext(**{**fields, **given, "tools": Catalog(tools)})

    return make


@pytest.fixture(scope="session")
def entry_of() -> EntryOf:
    """A ledger entry; its operation key is `op-` and the step that committed it."""

    def make(
        step: str, tool: str, *, effect: str = "irreversible", state: str = "committed", takes_back: str = ""
    ) -> LedgerEntry:
        return LedgerEntry(f"op-{step}", step, tool, {}, Receipt(), effect, state, takes_back, version=1)  # type: ignore[arg-type]

    return make
