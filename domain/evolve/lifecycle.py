"""What facts about a run as a whole change."""

from __future__ import annotations

from typing import Any

from .. import facts as f
from ..run import FinalStatus, Run
from .backoff import give_up_backoff


def run_started(run: Run, fact: f.RunStarted) -> None:
    run.accepted_at = run.foreseen_from = run.version
    run.goal = fact.goal
    run.planner = fact.planner
    run.mode = fact.mode
    run.key = fact.key
    run.lineage = fact.lineage or run.id
    run.tags = fact.tags
    run.parent = fact.parent
    run.limits = fact.limits
    run.catalog = fact.catalog
    run.started_by = fact.by
    run.started_at = fact.at
    run.priority = fact.priority
    run.budgets = fact.limits.budgets


def catalog_changed(run: Run, fact: f.CatalogChanged) -> None:
    run.catalog = fact.catalog
    run.asked = None
    run.foreseen_from = run.version


def part_missing(run: Run, fact: f.PartMissing) -> None:
    run.missing.add((fact.kind, fact.name))


def part_restored(run: Run, fact: f.PartRestored) -> None:
    run.missing.discard((fact.kind, fact.name))


def cancel_requested(run: Run, _fact: f.CancelRequested) -> None:
    run.cancelling = True


def unwinding_began(run: Run, fact: f.UnwindingBegan) -> None:
    run.unwinding = fact
    run.owed = run.asked = run.proposal = run.broken = run.asking = run.plan_retry_at = None
    run.held = run.paused = None
    run.askers.clear()
    run.stuck = ""
    run.ready.clear()
    run.waits.clear()
    run.questions.clear()
    run.reviews.clear()
    run.consulting.clear()
    run.under_review = None
    run.stops.clear()
    run.exit = None
    give_up_backoff(run)


def run_stuck(run: Run, fact: f.RunStuck) -> None:
    run.stuck = fact.reason
    run.stuck_on = fact.failure
    run.unhelped = ""
    run.asked = run.broken = run.plan_retry_at = None


def run_completed(run: Run, fact: f.RunCompleted) -> None:
    _end(run, "completed", fact.result)


def run_failed(run: Run, fact: f.RunFailed) -> None:
    _end(run, "failed", fact.failure)


def run_cancelled(run: Run, fact: f.RunCancelled) -> None:
    _end(run, "cancelled", fact.reason)


def _end(run: Run, status: FinalStatus, outcome: Any) -> None:
    run.final = status
    run.outcome = outcome
    run.missing.clear()
