"""Child runs, on the side of their parent: started, stopped, heard of, taken back.

A child is an attempt that another run makes: its operation is in flight while the child runs, its end is
the report of that attempt, and its undo is that the child undoes what it did. So replans, cancellation, the
ledger and compensation treat it as they treat every operation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import facts as f
from .. import ids
from .. import messages as m
from ..child_terms import read_terms
from ..children import MAX_DEPTH, PLAN_AND_EXECUTE, choose_planner, terms_digest
from ..errors import InvalidInputError, MessageRefused
from ..evolve.children import receipt_of
from ..family import Child
from ..goal import Goal
from ..ledger import Operation
from ..plan import Step
from ..receipt import Receipt
from ..run import Run
from ..tools import Catalog
from .decision import NOTHING, Decision
from .delivery import check_requirements
from .guiding import order_of
from .limits import check_budgets
from .outcomes import is_late
from .reports import report_failure, report_success

# --------------------------------------------------------------------------------------------------- starting


def started(
    run: Run, step: Step, key: str, input: Mapping[str, Any], catalog: Catalog, at: float
) -> f.ChildStarted:
    """Return the start of the child run that a step is.

    Raises:
        InvalidInputError: its input is none; the text says what is wrong and what is allowed.
    """
    terms = read_terms(input)
    goal = Goal(terms.query, terms.inputs, terms.requirements)
    planner = _checked(run, goal, terms.planner, None, terms.limits, catalog)
    attempt = run.attempts.get(key, 0) + 1
    return f.ChildStarted(
        ids.child_id(at, run.id, key, attempt), key, attempt, step.id, goal, planner, None, terms.limits,
        depth=_depth(run),
    )  # fmt: skip


def begin(run: Run, message: m.BeginChild, catalog: Catalog) -> Decision:
    """Start a child run for a tool, once; asked again, it is the same child."""
    owner = run.running.get(message.operation)
    if owner is None or owner.attempt != message.attempt:
        raise MessageRefused(
            f"run {run.id}: attempt {message.attempt} of {message.operation!r} is not in flight as the step "
            "of a plan, and starts no child run"
        )
    goal = message.goal
    input: dict[str, Any] = {"query": goal.text, "inputs": goal.inputs}
    digest = terms_digest(goal, message.planner, message.plan)
    key = ids.child_key(owner.key, message.name or digest)
    known = run.family.get(key)
    if known is not None and not _is_void(known, owner):
        if known.digest != digest:
            raise MessageRefused(
                f"run {run.id}: {owner.tool} has started a child run {message.name!r} for something else; "
                "name the other one differently"
            )
        return NOTHING
    if run.is_unwanted(owner) or owner.is_stopping:
        raise MessageRefused(
            f"run {run.id}: the plan of {owner.step!r} is being left; it starts no child run"
        )
    planner = _checked(run, goal, message.planner, message.plan, message.limits, catalog)
    attempt = run.attempts.get(key, 0) + 1
    child = f.ChildStarted(
        ids.child_id(message.at, run.id, key, attempt), key, attempt, owner.step, goal, planner, message.plan,
        message.limits, owner.key, digest, input, _depth(run),
    )  # fmt: skip
    return Decision((child,), (order_of(run, child),), owner.version)


def _is_void(child: Child, owner: Operation) -> bool:
    """Whether a child came to nothing under an earlier step of the same operation."""
    return child.state in ("failed", "cancelled") and child.first < owner.first


def _depth(run: Run) -> int:
    return 1 + (run.parent.depth if run.parent is not None else 0)


def _checked(run: Run, goal: Goal, planner: str, plan: Any, limits: f.Limits, catalog: Catalog) -> str:
    """Return the planner of a child run, once nothing is known to keep it from starting."""
    if _depth(run) > MAX_DEPTH:
        raise InvalidInputError(
            f"{PLAN_AND_EXECUTE}: runs nest {MAX_DEPTH} deep at most, and this one is as deep as that; "
            "carry its goal out with steps of its own"
        )
    if not goal.text:
        raise InvalidInputError(f"{PLAN_AND_EXECUTE}: the goal of a child run needs a text, and has none")
    if plan is None or planner:
        planner = choose_planner(planner, run.planner, catalog.planners)
    check_requirements(goal, planner, catalog)
    check_budgets(limits.budgets, catalog)
    return planner


# -------------------------------------------------------------------------------------------------- reporting


def report(run: Run, report: m.ReportChild, catalog: Catalog) -> Decision:
    """A child run has ended: its end is that of the attempt that it is."""
    if report.operation in run.undos:
        return _report_undo(run, report)
    child = run.children.get(report.operation)
    if child is None or child.run != report.child or report.status == "parked":
        return NOTHING
    operation = run.running[report.operation]
    failure = f"child run {child.run} {_ended(report)}" if report.status != "completed" else ""
    result = report.result if child.of else None
    ended = f.ChildEnded(
        child.run, child.operation, child.attempt, report.status, result, failure, report.kept
    )
    if child.of:
        return Decision((ended,), (), operation.version)
    rest = _end_step(run, operation, report, failure, catalog)
    return Decision((ended, *rest.facts), rest.orders, operation.version)


def _ended(report: m.ReportChild) -> str:
    how = "failed" if report.status == "failed" else "was cancelled"
    return f"{how}: {report.failure}".removesuffix(": ")


def _end_step(
    run: Run, operation: Operation, report: m.ReportChild, message: str, catalog: Catalog
) -> Decision:
    if report.status == "completed":
        receipt = receipt_of(report.child, report.result)
        success = m.ReportSuccess(
            at=report.at, operation=operation.key, attempt=operation.attempt, receipt=receipt
        )
        return report_success(run, success, catalog)
    kind = "child"
    if operation.is_stopping:
        kind = "timeout" if is_late(operation, report.at) else "cancelled"
    failure = f.Failure(kind, message, empty_data=report.empty_data)
    failed = m.ReportFailure(
        at=report.at, operation=operation.key, attempt=operation.attempt, failure=failure, no_effect=True
    )
    return report_failure(run, failed, catalog)


# ----------------------------------------------------------------------------------------------- taking back


def _report_undo(run: Run, report: m.ReportChild) -> Decision:
    """A child run that takes back what it did has done so, or waits for a person."""
    undo = run.undos[report.operation]
    if run.ledger[undo.of].state == "undone":
        return NOTHING
    if report.status != "parked":
        receipt = Receipt({"run": report.child, "status": report.status})
        return Decision((f.CompensationCompleted(undo.key, report.attempt, receipt),), (), undo.version)
    if undo.state != "running" or undo.attempt != report.attempt:
        return NOTHING
    message = f"child run {report.child} could not undo all it did: {report.failure}"
    return Decision(
        (f.CompensationParked(undo.key, f.Failure("undo", message, tool=undo.tool)),), (), undo.version
    )
