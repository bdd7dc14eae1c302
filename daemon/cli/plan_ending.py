"""How a run of a plan ended: its result on standard output, why there is none on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .output import note, say, say_document

if TYPE_CHECKING:
    from ...domain.facts import ExitReached
    from ...domain.plan_file import PlanFile
    from ...domain.run import Run
    from ..resume import Ending
    from .session import Session

FAILED = 1
ERROR_EXIT = 4
"""Exit code if an ``exit`` step with ``status: error`` ended the run."""
ATTENTION = 5
_EXIT = "exit"
"""Kind of the failure of a run that such a step ended."""


def finish(session: Session, plan: PlanFile, ending: Ending, run: Run, reached: ExitReached | None) -> int:
    """Say how a run ended, and return the exit code.

    Args:
        session: the call.
        plan: its plan.
        ending: how it was left.
        run: its state.
        reached: the exit that ended its plan before the last step, if one did.
    """
    code = _exit_code(ending)
    if reached is not None and code not in (0, ERROR_EXIT):
        reached = None
    result = ending.result if plan.output is not None else None
    has_result = code == 0 and plan.output is not None
    if reached is not None:
        result, has_result = reached.output, reached.output is not None
    if session.as_json:
        exit_ = reached and {"step": reached.step, "status": reached.status, "message": reached.message}
        say_document(
            {
                "run": ending.run, "plan": plan.identifier, "status": ending.status, "result": result,
                "exit": exit_, "failure": ending.failure, "attention": ending.attention, "exit_code": code,
            }
        )  # fmt: skip
    elif has_result:
        say(_document(result))
    if code:
        _explain(session, ending, run)
    elif reached is not None and reached.message:
        note(reached.message)
    return code


def _document(value: Any) -> str:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _exit_code(ending: Ending) -> int:
    if ending.status == "completed":
        return 0
    if ending.status == "attention":
        return ATTENTION
    return ERROR_EXIT if ending.failure is not None and ending.failure.kind == _EXIT else FAILED


def _explain(session: Session, ending: Ending, run: Run) -> None:
    """Say on standard error why there is no result, what was undone, and what stands."""
    from .render_attention import attention_lines

    failure = ending.failure
    if failure is not None and ending.status == "cancelled":
        note(f"Error: the run was cancelled: {failure.message}")
    elif failure is not None:
        where = f" at step {failure.step} ({failure.tool})" if failure.step else ""
        how = "ended" if failure.kind == _EXIT else "failed"
        note(f"Error: plan {how}{where}: {failure.message}")
    elif ending.error:
        note(f"Error: the run was let go of: {ending.error}")
    elif ending.status == "attention":
        note(f"The run waits for a person: {session.command_line('runs', 'show', ending.run)}")
    else:
        note(f"Error: the run is {ending.status}")
    for state, text in (("undone", "Undone"), ("committed", "Stands")):
        effects = [
            f"{entry.tool} (step {entry.step})"
            for entry in run.ledger.values()
            if entry.state == state and entry.effect != "read" and not entry.takes_back
        ]
        if effects:
            note(f"{text}: {', '.join(effects)}")
    for line in attention_lines(ending.run, ending.attention):
        note(line)
