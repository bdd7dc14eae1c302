"""What people and other programs ask of a run: signals, cancellation, settling."""

from __future__ import annotations

from .. import facts as f
from .. import messages as m
from ..errors import MessageRefused, SignalInvalid
from ..ids import digest
from ..run import Run
from ..tools import Catalog
from .decision import NOTHING, Decision
from .recovery import stop_orders
from .reports import settle


def receive_signal(run: Run, message: m.ReceiveSignal, catalog: Catalog) -> Decision:
    """Take a signal up, once, if it fits what is declared of it."""
    if message.id and message.id in run.signal_ids:
        return NOTHING
    refuse_ended(run, f"signal {message.name!r}")
    if not message.name:
        raise MessageRefused(f"run {run.id}: a signal needs a name")
    if problems := catalog.signals.problems(message.name, message.payload):
        raise SignalInvalid(run.id, message.name, message.id, digest(message.payload), problems)
    return Decision((f.SignalReceived(message.name, message.payload, message.id, message.relevant),))


def request_cancel(run: Run, message: m.RequestCancel, _catalog: Catalog) -> Decision:
    """Cancel a run, once, with a reason. One that is being undone already ends as what it unwinds to."""
    if run.cancelling or run.final == "cancelled":
        return NOTHING
    refuse_ended(run, "cancel")
    reason = message.reason or "cancelled on request"
    facts: list[f.Fact] = [f.CancelRequested(message.reason)]
    if run.unwinding is None:
        facts.append(f.UnwindingBegan("cancelled", f.Failure("cancelled", reason)))
    return Decision(facts, stop_orders(run, reason))


def settle_outcome(run: Run, message: m.SettleOutcome, _catalog: Catalog) -> Decision:
    """A person says what became of an unknown outcome."""
    operation = run.unknown.get(message.operation)
    if operation is None:
        unknown = ", ".join(run.unknown) or "none"
        raise MessageRefused(
            f"run {run.id}: operation {message.operation!r} {_known(run, message.operation)}; "
            f"there is no unknown outcome to settle (unknown: {unknown})"
        )
    if not message.happened and not message.reason:
        raise MessageRefused(
            f"run {run.id}: saying that {message.operation!r} did not happen permits another attempt "
            "and needs a reason"
        )
    return settle(operation, message.happened, message.receipt, message.reason)


def _known(run: Run, key: str) -> str:
    """Return what is known of an operation whose outcome is not unknown."""
    if key in run.ledger:
        return "is known to have happened"
    if key in run.running or key in run.backoff:
        return "is in flight"
    return "is known not to have happened" if key in run.closed else "was never started"


def refuse_ended(run: Run, what: str) -> None:
    """Refuse a message to a run that has ended."""
    if run.final is not None:
        raise MessageRefused(f"run {run.id} has ended ({run.final}) and takes no {what}")
