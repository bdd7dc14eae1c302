"""An engine takes a run up: what was in flight is lost, what is owed is ordered again."""

from __future__ import annotations

from .. import facts as f
from .. import messages as m
from ..briefing import brief
from ..orders import CancelAttempt, CancelPlanning, MakePlan, Order
from ..run import Run
from ..tools import Catalog
from . import compensation, guiding, stuck
from .decision import Decision
from .opinions import orders_of
from .outcomes import can_probe, probe_of
from .reports import lose_with_process


def activate(run: Run, message: m.Activate, catalog: Catalog) -> Decision:
    """Bring a run back to life in a new process."""
    facts: list[f.Fact] = [] if run.final is not None else _parts(run, message, catalog)
    orders: list[Order] = []
    running = [each for each in run.running.values() if each.key not in run.children]
    lost = [lose_with_process(run, operation, catalog) for operation in running]
    if run.undo_running:
        lost.append(compensation.lose_with_process(run.undos[run.undo_running], catalog))
    for each in (*lost, *_ask_probes_again(run, catalog)):
        facts += each.facts
        orders += each.orders
    must_wait = any(isinstance(fact, f.AttemptLost | f.OutcomeUnknown) for fact in facts)
    if (
        run.asked is not None
        and not must_wait
        and run.catalog == catalog.digest
        and run.planner in message.planners
    ):
        if run.asked.epoch != run.epoch:
            facts.append(f.PlanRequested(run.epoch, run.planner, run.asked.reason))
        orders.append(MakePlan(run.planner, brief(run, catalog)))
    for asked in run.consulting.values():
        if asked.kind == "stuck":
            orders.append(stuck.order_of(run, asked, catalog))
        else:
            orders += orders_of(run, asked)
    if run.children:
        orders += guiding.orders_again(run)
    return Decision(facts, orders)


def _parts(run: Run, message: m.Activate, catalog: Catalog) -> list[f.Fact]:
    """Compare what the run needs with what this engine has."""
    facts: list[f.Fact] = []
    for kind, name in sorted(run.missing):
        if name in message.planners if kind == "planner" else catalog.has(name):
            facts.append(f.PartRestored(kind, name))
    if run.planner and run.planner not in message.planners and ("planner", run.planner) not in run.missing:
        facts.append(f.PartMissing("planner", run.planner))
    if run.catalog != catalog.digest:
        facts.append(f.CatalogChanged(catalog.digest))
    return facts


def _ask_probes_again(run: Run, catalog: Catalog) -> list[Decision]:
    """Order the probes that are owed; where a tool has none any more, it is for a person to settle."""
    decisions = []
    for operation in run.unknown.values():
        if not operation.probing:
            continue
        if can_probe(catalog.get(operation.tool)):
            decisions.append(Decision((), (probe_of(operation),)))
        else:
            why = f"tool {operation.tool!r} is not registered, or has no probe any more"
            decisions.append(Decision((f.ProbeFailed(operation.key, operation.attempt, why),)))
    return decisions


def catch_up(run: Run, _message: m.CatchUp, _catalog: Catalog) -> Decision:
    """Another process wrote to the run: send the orders it could not send. To repeat them does no harm."""
    orders: list[Order] = []
    if run.unwinding is not None:
        orders += stop_orders(run, run.unwinding.failure.message)
    elif run.asked is None:
        orders.append(CancelPlanning(run.epoch))
    if run.children:
        orders += guiding.guides(run, run.paused.reason if run.paused is not None else "")
    return Decision((), orders)


def stop_orders(run: Run, reason: str) -> list[Order]:
    """Return the orders that ask everything in flight to stop; undos are shielded, child runs come next."""
    orders: list[Order] = [
        CancelAttempt(each.key, each.attempt, reason)
        for each in run.running.values()
        if each.key not in run.children
    ]
    return [*orders, CancelPlanning(run.epoch)]
