"""What the results of tools have looked like, read from the facts of a store.

Nothing is kept beside the facts: the newest are read when somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..actors.json_values import is_unreadable
from ..domain import facts as f
from ..domain.shapes import Shape
from ..store import Journal, Record
from ..store.errors import StoreError

MOST_RUNS = 100
MOST_RESULTS = 50
"""Results of one tool, the newest: what it returned long ago it may not return any more."""
_MOST_RECORDS = 5_000


async def observed_shapes(journal: Journal) -> dict[str, Shape]:
    """Return the shapes of the newest results, by the full names of tools.

    Args:
        journal: the store; a run in it that cannot be read is passed over.
    """
    shapes: dict[str, Shape] = {}
    left = _MOST_RECORDS
    for run in (await journal.list(limit=MOST_RUNS)).runs:
        tools: dict[str, str] = {}
        try:
            for record in _records(journal, run.run_id, left):
                left -= 1
                _take(record.fact, tools, shapes)
        except StoreError:
            continue  # `audit verify` says what is wrong with it
        if left <= 0:
            break
    return shapes


def _records(journal: Journal, run_id: str, most: int) -> Iterator[Record]:
    for records in journal.read_batches(run_id):
        yield from records[:most]
        most -= len(records)
        if most <= 0:
            return


def _take(fact: f.Fact, tools: dict[str, str], shapes: dict[str, Shape]) -> None:
    if isinstance(fact, f.StepStarted):
        tools[fact.operation] = fact.tool
    elif isinstance(fact, f.StepCompleted):
        tool = tools.get(fact.operation, "")
        if tool and not is_unreadable(fact.receipt.result):
            shape = shapes.setdefault(tool, Shape())
            if shape.seen < MOST_RESULTS:
                shape.observe(fact.receipt.result)
