"""What becomes of steps in flight when another plan is asked for: ``drain``, ``cancel`` or ``adopt``.

``drain`` needs nothing: the planner is asked once they are known. ``cancel`` asks them to stop. ``adopt``
does not wait: the new plan either lists an open step again, unchanged, and it goes on in its new place; or
what comes of it is undone where it can be, and is a constraint where it cannot.
"""

from __future__ import annotations

from .. import facts as f
from ..briefing import open_steps
from ..ledger import Operation
from ..orders import CancelAttempt
from ..plan import Plan, Step
from ..run import Run
from .decision import NOTHING, Decision


def stop_next(run: Run, owed: f.ReplanRequested) -> Decision:
    """Ask the next attempt to stop whose step says so."""
    for operation in run.running.values():
        if (
            operation.on_replan == "cancel"
            and not operation.is_stopping
            and operation.key not in run.children
        ):
            token = (operation.key, operation.attempt, owed.reason)
            return Decision((f.AttemptStopRequested(*token),), (CancelAttempt(*token),), operation.version)
    return NOTHING


def adopted(run: Run, plan: Plan) -> dict[str, Operation]:
    """Return the open operations that a plan keeps, by step."""
    if not run.running:
        return {}
    can_be_kept = open_steps(run)
    return {
        step.id: can_be_kept[step.id]
        for step in plan.steps
        if step.id in can_be_kept and not changes(run, step, can_be_kept[step.id])
    }


def changes(run: Run, step: Step, operation: Operation) -> str:
    """Return what a plan changes in a step that is in flight, or nothing where it keeps it as it is."""
    present = run.steps[step.id]
    if step.tool_name != present.tool_name:
        return f"its tool (it is {present.tool_name})"
    if step.input not in (present.input, operation.input):
        return f"its input (it is {dict(operation.input)!r})"
    if (step.operation, step.undoes) not in ((present.operation, present.undoes), ("", "")):
        return "the operation it means"
    return ""
