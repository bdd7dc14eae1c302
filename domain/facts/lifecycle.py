"""Facts about a run as a whole: its start, what it lacks, its endings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from ..children import Parent
from ..fairness import Priority
from ..goal import Goal
from .base import Fact, Failure, Limits, Mode


class RunStarted(Fact):
    """A run exists, started by ``by`` at ``at``, in seconds since the epoch.

    ``catalog`` is the digest of the tool contracts it started with; ``parent`` is the run it is a child of.
    """

    moves_epoch = True
    goal: Goal
    planner: str = ""
    mode: Mode = "autonomous"
    key: str = ""
    lineage: str = ""
    tags: Mapping[str, str] = msgspec.field(default_factory=dict)
    limits: Limits = Limits()
    catalog: str = ""
    by: str = ""
    at: float = 0.0
    priority: Priority = "normal"
    parent: Parent | None = None


class CatalogChanged(Fact):
    """The contracts of the tools are not those the run knew."""

    moves_epoch = True
    catalog: str


class PartMissing(Fact):
    """A tool or planner the run needs is not registered with the engine that owns it."""

    kind: Literal["tool", "planner"]
    name: str


class PartRestored(Fact):
    """A tool or planner that was missing is registered again."""

    kind: Literal["tool", "planner"]
    name: str


class CancelRequested(Fact):
    """Someone asked for the run to be cancelled."""

    reason: str = ""


class UnwindingBegan(Fact):
    """The run will not reach its goal: effects that can be undone are undone, then it ends as ``status``."""

    moves_epoch = True
    status: Literal["failed", "cancelled"]
    failure: Failure


class RunStuck(Fact):
    """The run cannot go on by itself and waits for a person."""

    reason: str
    failure: Failure | None = None


class RunCompleted(Fact):
    """The plan is exhausted and nothing is open."""

    result: Any = None
    reason: str = ""


class RunFailed(Fact):
    """The run ended without reaching its goal."""

    failure: Failure


class RunCancelled(Fact):
    """The run was cancelled and what could be undone is undone."""

    reason: str = ""
