"""A run read from its records: its state, and what that does not keep, its revisions and their reasons."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from ..domain import facts as f
from ..domain.diff import diff
from ..domain.evolve import evolve
from ..domain.plan import Step
from ..domain.run import Run
from ..domain.view import view
from ..store import CorruptRecordError, Record

_START = "start"


class Revision(msgspec.Struct, frozen=True):
    """A plan that was accepted, and how it differs from the one before.

    Args:
        revision: its number, from 1.
        version: version of the fact that accepted it.
        at: when, in seconds since the epoch.
        actor: who caused it.
        author: ``human`` or ``planner``.
        epoch: the epoch it was planned from.
        asked: what asked for it: ``start``, or the cause and reason of the request; empty for a person's own.
        reason: its own reason.
        kept: executed steps, in their old positions.
        added: the new tail.
        superseded: steps that will not run, or not again.
        failed: ids of those among them that have failed.
        same: ids of superseded steps and of added ones that only name them anew.
        undone: operations it takes back.
        stability: how many steps differ between old and new plan.
        cost: the planner's own estimate.
    """

    revision: int
    version: int
    at: float
    actor: str
    author: str
    epoch: int
    asked: str
    reason: str
    kept: tuple[Step, ...]
    added: tuple[Step, ...]
    superseded: tuple[Step, ...]
    failed: tuple[str, ...]
    same: tuple[tuple[str, str], ...]
    undone: tuple[str, ...]
    stability: int
    cost: float | None


class Rejection(msgspec.Struct, frozen=True):
    """A proposal that did not become a revision.

    Args:
        version: version of the fact that rejected it.
        at: when, in seconds since the epoch.
        epoch: the epoch it was planned from.
        code: ``stale``, ``invalid``, ``conflict``, ``replaced``, ``authority`` or ``denied``.
        problems: why.
    """

    version: int
    at: float
    epoch: int
    code: str
    problems: tuple[str, ...]


class History:
    """The fold of a run's records.

    Args:
        run_id: the run.

    Attributes:
        run: the state after the last record taken.
        revisions: accepted plans, oldest first.
        rejections: refused proposals, oldest first.
        started_at: time of the first record, in seconds since the epoch.
        updated_at: time of the last record, in seconds since the epoch.
    """

    def __init__(self, run_id: str) -> None:
        self.run = Run(run_id)
        self.revisions: list[Revision] = []
        self.rejections: list[Rejection] = []
        self.started_at = self.updated_at = 0.0
        self._asked = _START
        self._failed = set[str]()

    def take(self, record: Record) -> None:
        """Take the next record up.

        Raises:
            CorruptRecordError: it does not follow from those before.
        """
        if record.version != self.run.version + 1:
            raise CorruptRecordError(
                self.run.id, self.run.version + 1, f"it is missing before version {record.version}"
            )
        try:
            self._note(record)
            evolve(self.run, record.fact)
        except (LookupError, AssertionError, ValueError, TypeError) as error:
            raise CorruptRecordError(
                self.run.id, record.version, f"its {record.topic} does not follow from the records before it"
            ) from error
        self.started_at = self.started_at or record.at
        self.updated_at = record.at

    def take_all(self, records: Iterable[Record]) -> None:
        """Take records up, in order."""
        for record in records:
            self.take(record)

    def document(self) -> dict[str, Any]:
        """Return the run as one JSON value: its state, its times, and how its plan changed."""
        document: dict[str, Any] = msgspec.to_builtins(view(self.run))
        return document | {
            "started_at": self.started_at,
            "updated_at": self.updated_at,
            "revisions": self.revisions,
            "rejections": self.rejections,
        }

    def _note(self, record: Record) -> None:
        """Keep what the fact says beyond the state, before the state moves on."""
        fact = record.fact
        if isinstance(fact, f.ReplanRequested):
            self._asked = f"{fact.cause}: {fact.reason}"
        elif isinstance(fact, f.StepFailed):
            self._failed.add(fact.step)
        elif isinstance(fact, f.PlanAccepted):
            self.revisions.append(self._revision(record, fact))
            self._asked = ""
        elif isinstance(fact, f.ProposalRejected):
            self.rejections.append(Rejection(record.version, record.at, fact.epoch, fact.code, fact.problems))

    def _revision(self, record: Record, fact: f.PlanAccepted) -> Revision:
        proposal, before = self.run.pending, self.run.steps
        if proposal is None:
            raise LookupError("no proposal is pending")
        tail = {step.id: step for step in proposal.plan.steps}
        added = tuple(tail[step] for step in fact.added)
        superseded = tuple(before[step] for step in fact.superseded)
        same = diff(superseded, [step for step in added if step.id not in fact.adopted]).same
        return Revision(
            fact.revision, record.version, record.at, record.actor, fact.author, proposal.epoch,
            "" if fact.author == "human" and self._asked == _START else self._asked, fact.reason,
            tuple(before[step] for step in fact.kept),
            added, superseded, tuple(step for step in fact.superseded if step in self._failed),
            tuple((old.id, new.id) for old, new in same),
            fact.undone, fact.stability, proposal.plan.cost,
        )  # fmt: skip
