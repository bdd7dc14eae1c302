"""The child runs of a run, as its state has them."""

from __future__ import annotations

from typing import Any

import msgspec

from .children import ChildState, Kept
from .facts import ChildStarted
from .goal import Goal


class Child(msgspec.Struct, gc=False):
    """A child run as its parent knows it.

    Args:
        run: its id.
        operation: key of the operation that it is.
        attempt: the attempt that it is.
        step: the step it was started for.
        goal: what it is for.
        of: the operation of the tool that started it; empty where the step itself is the child.
        digest: digest of its terms.
        depth: runs above it.
        first: the first attempt of its tool under the step it was started for.
        terms: the fact that began it, until it has ended.
        state: where it stands.
        stop: why it was asked to stop.
        result: what it ended with, once it is completed.
        failure: the message of its failure, or the reason it was cancelled.
        kept: its irreversible effects.
    """

    run: str
    operation: str
    attempt: int
    step: str
    goal: Goal
    of: str
    digest: str
    depth: int
    first: int
    terms: ChildStarted | None
    state: ChildState = "running"
    stop: str = ""
    result: Any = None
    failure: str = ""
    kept: tuple[Kept, ...] = ()
