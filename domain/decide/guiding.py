"""The orders by which child runs are started, stopped, paused and let go on."""

from __future__ import annotations

import msgspec

from .. import facts as f
from ..children import Parent
from ..family import Child
from ..ledger import Operation
from ..orders import GuideChild, Order, StartChild
from ..run import Run
from .decision import NOTHING, Decision
from .outcomes import is_late


def order_of(run: Run, child: f.ChildStarted) -> StartChild:
    """Return the order that starts a child run."""
    parent = Parent(run.id, child.operation, child.attempt, child.step, child.depth)
    pause = run.paused.reason if run.paused is not None else ""
    return StartChild(
        child.child, parent, run.lineage, child.goal, child.planner, child.plan, child.limits, run.mode,
        run.started_by, pause, run.priority,
    )  # fmt: skip


def stop_next(run: Run, at: float) -> Decision:
    """Ask the next child run to stop whose parent ends, whose plan is left or whose time is over."""
    for child in run.children.values():
        if not child.stop and (why := _why_stop(run, child, run.running[child.operation], at)):
            fact = f.AttemptStopRequested(child.operation, child.attempt, why)
            return Decision((fact,), (_guide(run, child, stop=why),), run.running[child.operation].version)
    return NOTHING


def _why_stop(run: Run, child: Child, operation: Operation, at: float) -> str:
    if run.unwinding is not None:
        return run.unwinding.failure.message
    if run.owed is not None and operation.on_replan == "cancel":
        return run.owed.reason
    if is_late(operation, at):
        return f"it took longer than the timeout_s of step {operation.step}"
    return f"step {operation.step}, which started it, has failed" if child.of in run.closed else ""


def _guide(run: Run, child: Child, *, stop: str = "", pause: str = "") -> GuideChild:
    return GuideChild(child.run, _parent_of(run, child), stop, pause)


def _parent_of(run: Run, child: Child) -> Parent:
    return Parent(run.id, child.operation, child.attempt, child.step, child.depth)


def guides(run: Run, pause: str) -> list[Order]:
    """Return the orders that tell all child runs how things stand.

    Args:
        run: their parent.
        pause: why they are to begin nothing; empty where they may go on.
    """
    return [_guide(run, child, stop=child.stop, pause=pause) for child in run.children.values()]


def orders_again(run: Run) -> list[Order]:
    """Return the orders about child runs that are owed, for an engine that has just taken their parent up."""
    pause = run.paused.reason if run.paused is not None else ""
    orders: list[Order] = []
    for child in run.children.values():
        if child.stop:
            orders.append(_guide(run, child, stop=child.stop))
            continue
        assert child.terms is not None  # noqa: S101 - they are kept until the child has ended
        order = order_of(run, child.terms)
        orders.append(msgspec.structs.replace(order, pause=pause))
    return orders
