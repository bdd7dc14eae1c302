"""What became of a run."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ..domain.briefing import ledger_entry
from ..domain.facts import Failure
from ..domain.planning import LedgerEntry
from ..domain.run import Run
from ..domain.view import end_failure, end_result
from ..store import CorruptRecordError

FinalStatus = Literal["completed", "failed", "cancelled"]


class Outcome(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """How a run ended.

    Args:
        run_id: the run.
        status: ``completed``, ``failed`` or ``cancelled``.
        result: the result of the last step of a completed run.
        failure: why it did not reach its goal.
        ledger: every committed operation, undone ones included.
        revision: number of the last plan.
        version: version of its last fact.
    """

    run_id: str
    status: FinalStatus
    result: Any
    failure: Failure | None
    ledger: tuple[LedgerEntry, ...]
    revision: int
    version: int

    @property
    def completed(self) -> bool:
        """Whether the run reached its goal."""
        return self.status == "completed"


def outcome_of(run: Run) -> Outcome:
    """Return how a run that has ended did.

    Raises:
        CorruptRecordError: its facts know nothing of an end, whatever the index of the store says.
    """
    if run.final is None:
        raise CorruptRecordError(
            run.id,
            run.version,
            "the index of the store says that the run has ended, and its last fact does not",
        )
    return Outcome(
        run_id=run.id,
        status=run.final,
        result=end_result(run),
        failure=end_failure(run),
        ledger=tuple(ledger_entry(entry) for entry in run.ledger.values()),
        revision=run.revision,
        version=run.version,
    )
