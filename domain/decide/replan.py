"""The one way to ask for a new plan, whatever asks."""

from __future__ import annotations

from .. import facts as f
from ..ids import digest
from ..run import Run


def request_replan(run: Run, cause: str, reason: str, step: str = "", tool: str = "") -> list[f.Fact]:
    """Return the facts of a request for a new plan.

    One that is owed already serves several requests. A plan by a person is never replaced by itself. The same reason
    on the same state, or one request too many, is *stuck* and waits for a person.
    """
    if run.owed is not None or run.unwinding is not None:
        return []
    if run.author == "human" and cause != "person":
        message = (
            f"a plan by a person never replans by itself; {cause} at step {step!r} asked for it: {reason}"
        )
        return [f.UnwindingBegan("failed", f.Failure("replan_refused", message, step, tool))]
    mark = state_digest(run, cause, reason, tool)
    before = run.replan_digests.get(mark)
    if before is not None:
        stuck = f"stuck: {reason!r} was asked for at version {before} on the same state"
        return [f.ReplanRequested(cause, reason, mark, step), f.RunStuck(stuck)]
    if run.replans >= run.limits.replans:
        spent = f"stuck: the budget of {run.limits.replans} replans is spent; last asked: {reason!r}"
        return [f.ReplanRequested(cause, reason, mark, step), f.RunStuck(spent)]
    return [f.ReplanRequested(cause, reason, mark, step)]


def state_digest(run: Run, cause: str, reason: str, tool: str) -> str:
    """Return what two requests for a plan must share to be the same lap."""
    effects = [[entry.key, entry.state] for entry in run.ledger.values() if entry.effect != "read"]
    return digest([cause, reason, tool, effects, run.board, run.signal_count])
