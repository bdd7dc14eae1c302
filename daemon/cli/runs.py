"""``midcourse runs``: the group."""

from __future__ import annotations

import click

from .lazy import Lazy, LazyGroup

_COMMANDS = {
    "list": Lazy("runs_list:list_runs", "List runs, newest first."),
    "show": Lazy("runs_show:show", "Show a run: plan, revisions, ledger, what waits for a person."),
    "watch": Lazy("runs_watch:watch", "Watch a run until it ends."),
    "resume": Lazy("runs_resume:resume", "Carry runs on until they end or need a person."),
    "signal": Lazy("runs_steer:signal", "Tell a run something."),
    "cancel": Lazy("runs_steer:cancel", "Cancel a run, undoing what can be undone."),
    "propose": Lazy("runs_propose:propose", "Replace what is left of a plan by one of yours."),
    "replan": Lazy("runs_steer:replan", "Ask for another plan."),
    "approve": Lazy("runs_approve:approve", "Approve of a step or a plan that waits for it."),
    "deny": Lazy("runs_approve:deny", "Deny a step or a plan the approval it waits for."),
    "pause": Lazy("runs_limits:pause", "Begin nothing more in a run, or in all that fit."),
    "unpause": Lazy("runs_limits:unpause", "Let paused runs go on."),
    "budget": Lazy("runs_limits:budget", "Say what a run may spend."),
    "release": Lazy("runs_release:release", "Let a run go on that is held at a step."),
    "answer": Lazy("runs_approve:answer", "Answer what a step asks."),
    "review": Lazy("runs_approve:review", "Review a step, or choose what becomes of it."),
    "settle": Lazy("runs_steer:settle", "Say what became of an unknown outcome."),
    "compensate": Lazy("runs_steer:compensate", "Undo an operation; retry or waive an undo that gave up."),
    "schedule": Lazy("runs_schedule:schedule", "Start runs at set times."),
}


@click.group(cls=LazyGroup, commands=_COMMANDS)
def runs() -> None:
    """List, show, watch, resume and steer runs."""
