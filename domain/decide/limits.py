"""Budgets and pauses: what keeps a run from beginning anything more, though its plan says so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from .. import facts as f
from .. import messages as m
from ..budget import Budget, Usage, first_reached, raised
from ..errors import InvalidInputError, MessageRefused
from ..orders import Order
from ..run import Run
from ..tools import Catalog
from . import guiding
from .decision import NOTHING, Decision
from .people import refuse_ended

SPENDING: Final[frozenset[type[m.Message]]] = frozenset(
    (
        m.ReportSuccess,
        m.ReportFailure,
        m.ReportReplan,
        m.ReportSuspended,
        m.ReportLost,
        m.ReportChild,
        m.ProposePlan,
        m.AnswerNoPlan,
        m.AnswerGoalReached,
        m.ReportPlanningFailure,
    )
)
"""The messages that may tell what was used up."""


def check_budgets(budgets: Iterable[Budget], catalog: Catalog) -> None:
    """Look whether budgets can be used with the policies of an engine.

    Raises:
        InvalidInputError: one limits nothing, limits it at what is no limit, or names an unknown policy.
    """
    for budget in budgets:
        budget.check()
        if budget.policy and budget.policy not in catalog.policies:
            known = ", ".join(sorted(catalog.policies)) or "none"
            raise InvalidInputError(
                f"budget policy {budget.policy!r} is not registered with this engine (registered: {known})"
            )


def with_usage(run: Run, message: Any, decision: Decision) -> Decision:
    """Add what a call has used up to what its report amounts to; an answer that is told again counts once."""
    if message.spent is None or not decision.facts:
        return decision
    step = ""
    if isinstance(message, m.Report):
        entry = run.operation(message.operation) or run.ledger.get(message.operation)
        step = entry.step if entry is not None else ""
    used = f.UsageRecorded(message.spent.tokens, message.spent.cost, step)
    return msgspec.structs.replace(decision, facts=(*decision.facts, used))


def usage(run: Run, at: float) -> Usage:
    """Return what a run has spent at a time, in seconds since the epoch."""
    return Usage(sum(run.calls.values()), run.replans, run.tokens, run.cost, max(0.0, at - run.started_at))


def stop_where_spent(run: Run, catalog: Catalog, at: float) -> tuple[f.Fact, ...]:
    """Return the facts that stop a run whose budget is spent, where it would begin something more."""
    if not run.is_spending:
        return ()
    reached = first_reached(
        run.budgets,
        usage(run, at),
        catalog.policies,
        begins_step=bool(run.ready),
        begins_plan=run.wants_plan,
        serves_replan=run.owed is not None,
    )
    if reached is None:
        return ()
    spent = f.BudgetSpent(reached.measure, reached.why, reached.then)
    if reached.then == "fail":
        return (spent, f.UnwindingBegan("failed", f.Failure("budget", reached.why)))
    return (spent, f.RunPaused(reached.why, "budget"))


def pause_children(run: Run, facts: Iterable[f.Fact]) -> list[Order]:
    """Return the orders by which a pause among facts reaches the child runs."""
    if not run.children:
        return []
    reasons = (fact.reason for fact in facts if isinstance(fact, f.RunPaused))
    return [order for reason in reasons for order in guiding.guides(run, reason)]


def pause(run: Run, message: m.PauseRun, _catalog: Catalog) -> Decision:
    """Begin nothing more; what is under way ends and is recorded. Undoing waits as well."""
    refuse_ended(run, "pause")
    if run.paused is not None:
        return NOTHING
    paused = (f.RunPaused(message.reason or "paused on request"),)
    return Decision(paused, pause_children(run, paused))


def unpause(run: Run, message: m.UnpauseRun, _catalog: Catalog) -> Decision:
    """Go on where the run was paused, unless the budget that paused it is spent still."""
    refuse_ended(run, "unpause")
    if run.paused is None:
        return NOTHING
    if run.spent is not None and run.paused.by == "budget":
        raise MessageRefused(
            f"run {run.id} is paused because {run.spent.why}; change its budget, which lets it go on, "
            "or cancel it"
        )
    return Decision((f.RunUnpaused(message.reason),), guiding.guides(run, ""))


def change_budget(run: Run, message: m.ChangeBudget, catalog: Catalog) -> Decision:
    """Have other limits hold from here on; a run that its budget has paused goes on."""
    refuse_ended(run, "other budget")
    check_budgets((message.budget,), catalog)
    facts: list[f.Fact] = [f.BudgetChanged(raised(run.budgets, message.budget), message.reason)]
    if run.paused is not None and run.paused.by == "budget":
        facts.append(f.RunUnpaused("its budget was changed"))
        return Decision(facts, guiding.guides(run, ""))
    return Decision(facts)
