"""The one way to ask for a new plan, whatever asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import facts as f
from ..ids import digest
from ..ledger import Operation
from ..run import Run

_NO_UPDATES: Mapping[str, Any] = {}
_ANEW = ("person", "stuck")
"""Causes that ask although a plan is owed: the one who was asked for it has come to an end."""


def request_replan(  # noqa: PLR0913 - what asks says as much
    run: Run,
    cause: str,
    reason: str,
    step: str = "",
    tool: str = "",
    *,
    input_digest: str = "",
    updates: Mapping[str, Any] = _NO_UPDATES,
    committed: Operation | None = None,
    error_type: str = "",
    found: Any = None,
    alike: str = "",
    is_answered: bool = False,
) -> list[f.Fact]:
    """Return the facts of a request for a new plan.

    One that is owed already serves several requests. A plan by a person is never replaced by itself. The same
    reason on the same state, or one request too many, is *stuck* and waits for a person.

    Args:
        run: the run, before the facts that come with the request.
        cause: ``tool``, ``failure``, ``precondition``, ``stuck`` or ``person``.
        reason: why, for planners and people.
        step: the step that asks, or is asked about.
        tool: its tool.
        input_digest: digest of its arguments, once they were rendered.
        updates: values that go onto the board with the request.
        committed: the operation that is committed with it.
        error_type: class of the exception that the step failed with, where there was one.
        found: the result of the call that asks: another one is another reason.
        alike: what makes two requests the same one, in place of a reason that is worded anew each time.
        is_answered: the plan comes with the request, so that nobody has to be asked for it.
    """
    if run.unwinding is not None:
        return []
    if run.owed is not None and cause not in _ANEW:
        return [f.ReplanJoined(cause, reason, step, tool, input_digest)]
    if run.author == "human" and cause != "person":
        where = f" at step {step!r}" if step else ""
        message = f"a plan by a person never replans by itself; {cause}{where} asked for it: {reason}"
        return [f.UnwindingBegan("failed", f.Failure("replan_refused", message, step, tool, cause=cause))]
    mark = _mark(run, cause, alike or reason, tool, {**run.board, **updates}, committed, found)
    requested = f.ReplanRequested(cause, reason, mark, step, tool, input_digest)
    if is_answered:
        return [requested]
    if run.replans >= run.limits.replans:
        spent = f"the budget of {run.limits.replans} replans is spent; last asked: {reason!r}"
        return [requested, f.RunStuck(spent, f.Failure("budget", spent))]
    if mark in run.replan_marks and cause != "person":
        return [requested, f.RunStuck(_lap(run, mark, reason, _told(cause, reason, tool, error_type)))]
    return [requested]


def _mark(
    run: Run,
    cause: str,
    reason: str,
    tool: str,
    board: Mapping[str, Any],
    committed: Operation | None,
    found: Any,
) -> str:
    """Return what two requests for a plan share if the second is just another lap."""
    effects = _effects(run)
    if committed is not None and committed.effect != "read":
        effects.append([committed.key, "committed"])
    return digest([cause, reason, tool, effects, board, run.news, *([] if found is None else [found])])


def state_of(run: Run) -> list[Any]:
    """Return what has to change for a run to have made progress: its effects, its board, its news."""
    return [_effects(run), run.board, run.news]


def _effects(run: Run) -> list[list[str]]:
    return [[entry.key, entry.state] for entry in run.ledger.values() if entry.effect != "read"]


def _told(cause: str, reason: str, tool: str, error_type: str) -> str:
    """Return in words what asked for the plan."""
    name = tool.partition("__")[2] or tool
    if cause == "stuck":
        return f"a handler asked for another plan ({reason})"
    if cause == "coverage":
        return f"the same requirements were open ({reason})"
    if cause == "failure":
        return f"{name} failed with {error_type}: {reason}" if error_type else f"{name} failed: {reason}"
    return f"{name} asked for another plan ({reason})"


def _lap(run: Run, mark: str, reason: str, told: str) -> str:
    version, _ = run.replan_marks[mark]
    reasons = [said for at, said in run.replan_marks.values() if at >= version]
    cycle = f" ({' → '.join([*reasons, reason])})" if len(reasons) > 1 else ""
    return f"{told} at version {version} and again on the same state{cycle}"
