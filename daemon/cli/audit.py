"""``midcourse audit``: what happened, offline and read-only."""

from __future__ import annotations

import click

from .lazy import Lazy, LazyGroup

_COMMANDS = {
    "facts": Lazy("audit_facts:facts", "Print the facts of a run."),
    "at": Lazy("audit_facts:at", "Show a run as it was at a version or time."),
    "diff": Lazy("audit_why:diff", "Compare two revisions of a plan."),
    "why": Lazy("audit_why:why", "Follow the causes of a step or a revision."),
    "engine": Lazy("audit_facts:engine", "Print what is no fact of any run: refused signals."),
    "verify": Lazy("audit_verify:verify", "Prove that nothing was altered."),
}


@click.group(cls=LazyGroup, commands=_COMMANDS)
def audit() -> None:
    """Read what happened, and prove that nothing was altered.

    All of it works on the store alone, beside a running engine or without one, and changes nothing.
    """
