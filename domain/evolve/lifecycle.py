"""What facts about a run as a whole change."""

from __future__ import annotations

from .. import facts as f
from ..run import Run
from .backoff import give_up_backoff


def run_started(run: Run, fact: f.RunStarted) -> None:
    run.goal = fact.goal
    run.planner = fact.planner
    run.mode = fact.mode
    run.key = fact.key
    run.lineage = fact.lineage or run.id
    run.tags = fact.tags
    run.limits = fact.limits
    run.catalog = fact.catalog


def catalog_changed(run: Run, fact: f.CatalogChanged) -> None:
    run.catalog = fact.catalog
    run.asked = None


def part_missing(run: Run, fact: f.PartMissing) -> None:
    run.missing[fact.name] = fact.kind


def part_restored(run: Run, fact: f.PartRestored) -> None:
    run.missing.pop(fact.name, None)


def cancel_requested(run: Run, _fact: f.CancelRequested) -> None:
    run.cancelling = True


def unwinding_began(run: Run, fact: f.UnwindingBegan) -> None:
    run.unwinding = fact
    run.owed = run.asked = run.proposal = run.broken = None
    run.stuck = ""
    run.ready.clear()
    give_up_backoff(run)


def run_stuck(run: Run, fact: f.RunStuck) -> None:
    run.stuck = fact.reason
    run.asked = None
    run.broken = None


def run_completed(run: Run, fact: f.RunCompleted) -> None:
    run.final = "completed"
    run.outcome = fact.result


def run_failed(run: Run, fact: f.RunFailed) -> None:
    run.final = "failed"
    run.outcome = fact.failure


def run_cancelled(run: Run, fact: f.RunCancelled) -> None:
    run.final = "cancelled"
    run.outcome = fact.reason
