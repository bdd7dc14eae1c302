"""An engine takes a run up: what was in flight is lost, what is owed is ordered again."""

from __future__ import annotations

from .. import facts as f
from .. import messages as m
from ..briefing import brief
from ..orders import CancelAttempt, CancelPlanning, MakePlan, Order, Probe
from ..run import Run
from ..tools import Catalog
from . import compensation
from .decision import Decision
from .reports import lose_with_process


def activate(run: Run, message: m.Activate, catalog: Catalog) -> Decision:
    """Bring a run back to life in a new process."""
    facts: list[f.Fact] = list(_parts(run, message, catalog))
    orders: list[Order] = []
    for operation in run.running.values():
        lost = lose_with_process(run, operation, message.at, catalog)
        facts += lost.facts
        orders += lost.orders
    if run.undo_running:
        undo = run.undos[run.undo_running]
        report = m.ReportLost(
            at=message.at, operation=undo.key, attempt=undo.attempt, why="the process ended"
        )
        lost = compensation.lose(run, report, catalog)
        facts += lost.facts
        orders += lost.orders
    orders += resume(run, catalog)
    if run.asked is not None and run.catalog == catalog.digest:
        if run.asked.epoch == run.epoch:
            orders.append(MakePlan(run.asked.planner, brief(run, catalog)))
        else:
            facts.append(f.PlanRequested(run.epoch, run.asked.planner, run.asked.reason))
            orders.append(MakePlan(run.asked.planner, brief(run, catalog)))
    return Decision(facts, orders)


def _parts(run: Run, message: m.Activate, catalog: Catalog) -> list[f.Fact]:
    facts: list[f.Fact] = []
    for name, kind in run.missing.items():
        present = name in message.planners if kind == "planner" else catalog.get(name) is not None
        if present:
            facts.append(f.PartRestored("planner" if kind == "planner" else "tool", name))
    if (
        run.planner
        and run.planner not in message.planners
        and run.planner not in run.missing
        and not run.final
    ):
        facts.append(f.PartMissing("planner", run.planner))
    if run.catalog != catalog.digest and not run.final:
        facts.append(f.CatalogChanged(catalog.digest))
    return facts


def resume(run: Run, catalog: Catalog) -> list[Order]:
    """Return the orders for probes that are owed; repeating them does no harm."""
    return [
        Probe(operation.key, operation.attempt, operation.tool, operation.input)
        for operation in run.unknown.values()
        if operation.probing and (spec := catalog.get(operation.tool)) is not None and spec.has_probe
    ]


def catch_up(run: Run, _message: m.CatchUp, catalog: Catalog) -> Decision:
    """Another process wrote to the run: send the orders it could not send."""
    return Decision((), cancel_in_flight(run) if run.unwinding else [])


def cancel_in_flight(run: Run) -> list[Order]:
    """Return the orders that ask everything in flight to stop; undos are shielded."""
    reason = run.unwinding.failure.message if run.unwinding else "cancelled"
    orders: list[Order] = [CancelAttempt(each.key, each.attempt, reason) for each in run.running.values()]
    if run.asked is not None or run.unwinding is not None:
        orders.append(CancelPlanning(run.epoch))
    return orders
