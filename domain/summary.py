"""A run at a glance: its status, what waits for a person, and when it must be looked at again."""

from __future__ import annotations

from typing import Literal

import msgspec

from .run import Run

Status = Literal[
    "planning", "running", "waiting", "attention", "compensating", "completed", "failed", "cancelled"
]
FINAL: frozenset[Status] = frozenset(("completed", "failed", "cancelled"))

AttentionKind = Literal["unknown_outcome", "stuck", "parked_compensation", "missing_tool", "missing_planner"]


class Attention(msgspec.Struct, frozen=True):
    """Something of a run that only a person can settle.

    Args:
        kind: what sort of thing it is.
        subject: the operation, tool or planner it is about; the reason, where a run is stuck.
        detail: what happened.
        remedy: what a person can do.
    """

    kind: AttentionKind
    subject: str
    detail: str
    remedy: str


def attention(run: Run) -> list[Attention]:
    """Return everything of a run that waits for a person."""
    items = [
        Attention("unknown_outcome", key, f"nobody knows what became of {operation.tool} ({operation.step})",
                  "settle it: happened, with its receipt, or not happened, with a reason")
        for key, operation in run.unknown.items() if not operation.probing
    ]  # fmt: skip
    items += [
        Attention(
            "parked_compensation", key, undo.failure.message if undo.failure else "", "retry or waive it"
        )
        for key, undo in run.parked.items()
    ]
    items += [
        Attention("missing_planner", name, f"planner {name!r} is not registered",
                  "open the store with an engine that has it")
        if kind == "planner" else
        Attention("missing_tool", name, f"tool {name!r} is not registered",
                  "open the store with an engine that has it")
        for name, kind in run.missing.items()
    ]  # fmt: skip
    if run.stuck:
        items.append(Attention("stuck", run.stuck, run.owed.reason if run.owed else run.stuck,
                               "propose a plan, send a signal with what is new, or cancel"))  # fmt: skip
    return items


def needs_attention(run: Run) -> bool:
    """Whether anything waits for a person; cheaper than listing it."""
    if run.stuck or run.parked or run.missing:
        return True
    return bool(run.unknown) and any(not operation.probing for operation in run.unknown.values())


def status(run: Run) -> Status:
    """Return where a run stands."""
    if run.undos_open:
        return "compensating"
    if run.final is not None:
        return run.final
    busy = bool(run.running)
    if not busy and needs_attention(run):
        return "attention"
    if run.unwinding is not None:
        return "compensating"
    if run.owed is not None or run.revision == 0:
        return "planning"
    if not busy and (run.backoff or run.unknown):
        return "waiting"
    return "running"


def wake_at(run: Run) -> float | None:
    """Return when something falls due by itself, in seconds since the epoch, or ``None``."""
    times = [operation.retry_at for operation in run.backoff.values()]
    times += (
        [undo.retry_at for undo in run.undos_open.values() if undo.state == "backoff"]
        if run.undos_open
        else ()
    )
    if run.plan_retry_at is not None and run.final is None:
        times.append(run.plan_retry_at)
    return min(times, default=None)


def is_dormant(run: Run) -> bool:
    """Whether nothing of a run is in flight in this process, so that it need not be kept in memory."""
    if run.running or run.undo_running or run.asked is not None:
        return False
    return not any(operation.probing for operation in run.unknown.values())
