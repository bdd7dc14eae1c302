"""Child runs, on their own side: they heed their parent, and tell it how they end."""

from __future__ import annotations

from .. import facts as f
from .. import messages as m
from ..budget import Spent
from ..children import Kept
from ..errors import MessageRefused
from ..run import Run
from ..summary import attention
from ..tools import Catalog
from . import guiding
from .decision import NOTHING, Decision
from .recovery import stop_orders


def guided(run: Run, message: m.GuideRun, _catalog: Catalog) -> Decision:
    """Stop, pause or go on, as the parent says; what a person paused, only a person unpauses."""
    if run.final is not None:
        return NOTHING
    if message.stop:
        if run.unwinding is not None:
            return NOTHING
        failure = f.Failure("cancelled", message.stop)
        facts = (f.CancelRequested(message.stop), f.UnwindingBegan("cancelled", failure))
        return Decision(facts, stop_orders(run, message.stop))
    if message.pause:
        pauses = run.paused is None and run.unwinding is None
        return (
            Decision((f.RunPaused(message.pause, "parent"),), guiding.guides(run, message.pause))
            if pauses
            else NOTHING
        )
    if run.paused is not None and run.paused.by == "parent":
        return Decision((f.RunUnpaused("its parent goes on"),), guiding.guides(run, ""))
    return NOTHING


def take_back(run: Run, message: m.TakeBackRun, _catalog: Catalog) -> Decision:
    """Undo what this run did, though it may be complete; what is parked is tried again."""
    if run.parent is None:
        raise MessageRefused(f"run {run.id} is no child run; compensate its operations, or cancel it")
    known = run.taken_back
    if known is not None and (known.operation, known.attempt) == (message.operation, message.attempt):
        return NOTHING
    facts: list[f.Fact] = [f.TakeBackRequested(message.operation, message.attempt, message.reason)]
    if run.unwinding is None:
        facts.append(f.UnwindingBegan("cancelled", f.Failure("taken_back", message.reason)))
    facts += [f.CompensationRetried(undo.key, message.reason) for undo in run.parked.values()]
    return Decision(facts, stop_orders(run, message.reason))


def report_of(run: Run, at: float) -> m.ReportChild | None:
    """Return what a child run tells its parent as it stands now; ``None`` while there is nothing to tell."""
    heir = run.taken_back or run.parent
    if heir is None or run.undos_open:
        return None
    if run.final is None:
        waits = "; ".join(f"{item.subject}: {item.detail}" for item in attention(run))
        if run.taken_back is None or not (run.parked or run.unknown) or not waits:
            return None
        return m.ReportChild(
            at=at,
            operation=heir.operation,
            attempt=heir.attempt,
            child=run.id,
            status="parked",
            failure=waits,
        )
    failure = run.outcome if isinstance(run.outcome, f.Failure) else None
    reason = failure.message if failure is not None else str(run.outcome or "")
    return m.ReportChild(
        at=at,
        operation=heir.operation,
        attempt=heir.attempt,
        child=run.id,
        status=run.final,
        result=run.outcome if run.final == "completed" else None,
        failure="" if run.final == "completed" else reason,
        empty_data=failure is not None and failure.empty_data,
        kept=kept(run),
        spent=Spent(run.tokens, run.cost) if run.tokens or run.cost else None,
    )


def kept(run: Run) -> tuple[Kept, ...]:
    """Return the irreversible effects of a run, and of the runs below it."""
    own = [
        Kept(entry.key, entry.step, entry.tool, entry.input, entry.receipt)
        for entry in run.ledger.values()
        if entry.effect == "irreversible" and entry.state == "committed"
    ]
    return (*own, *(each for child in run.family.values() for each in child.kept))
