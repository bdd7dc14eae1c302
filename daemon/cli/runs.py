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
    "settle": Lazy("runs_steer:settle", "Say what became of an unknown outcome."),
    "schedule": Lazy("runs_schedule:schedule", "Start runs at set times."),
    "compensate": Lazy("runs_steer:compensate", "Retry or waive an undo that gave up."),
}


@click.group(cls=LazyGroup, commands=_COMMANDS)
def runs() -> None:
    """List, show, watch, resume and steer runs."""
