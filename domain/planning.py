"""What a planner is told: the run as it is, without anything it could change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from .facts import Failure, Gap
from .goal import Goal
from .plan import Author, GoalReached, NoPlan, Plan, Step
from .receipt import Receipt
from .tools import Catalog, Effect


class LedgerEntry(msgspec.Struct, frozen=True, gc=False):
    """A committed operation, as planners and people see it.

    Args:
        operation: its key.
        step: the step that committed it.
        tool: full name of the tool.
        input: the rendered arguments.
        receipt: what it left behind.
        effect: the contract in force when it ran.
        state: ``committed``, ``undoing`` or ``undone``.
        takes_back: the operation a planned undo took back.
        version: version of the fact that committed it.
    """

    operation: str
    step: str
    tool: str
    input: Mapping[str, Any]
    receipt: Receipt
    effect: Effect
    state: str
    takes_back: str
    version: int


class SignalEntry(msgspec.Struct, frozen=True, gc=False):
    """A signal the run received."""

    name: str
    payload: Any
    version: int


class Asker(msgspec.Struct, frozen=True):
    """Something that asked for the plan that is owed.

    Args:
        cause: ``tool``, ``failure``, ``precondition``, ``person``, …
        reason: why.
        step: the step that asked, or is asked about.
        tool: its tool.
        input_digest: digest of its arguments; the same call may well ask again.
    """

    cause: str
    reason: str
    step: str = ""
    tool: str = ""
    input_digest: str = ""


class OpenOperation(msgspec.Struct, frozen=True):
    """A step in flight that a plan may keep by listing it again, unchanged.

    Args:
        step: the step as its plan has it.
        operation: its key.
        input: its arguments as they were rendered; a plan may list either.
        effect: the contract in force when it began.
    """

    step: Step
    operation: str
    input: Mapping[str, Any]
    effect: Effect


class StepSummary(msgspec.Struct, frozen=True, gc=False):
    """A step by its id and the full name of its tool."""

    id: str
    tool_name: str


class RevisionEntry(msgspec.Struct, frozen=True, gc=False):
    """A revision of the plan, as planners see it.

    Args:
        revision: its number.
        author: who wrote it.
        reason: why it was made.
        kept: ids of the steps that kept their places.
        added: the steps of its tail.
        superseded: the steps of the plan before that it left.
        undone: operations it took back.
    """

    revision: int
    author: Author
    reason: str
    kept: tuple[str, ...]
    added: tuple[StepSummary, ...]
    superseded: tuple[StepSummary, ...]
    undone: tuple[str, ...]


class PlanningContext(msgspec.Struct, frozen=True):
    """Everything a planning call may look at.

    Args:
        run_id: the run.
        goal: text and inputs.
        epoch: the version its answer is judged by.
        revision: number of the present plan; 0 before the first.
        is_replanning: whether there was a plan before.
        reason: why a plan is asked for.
        board: named values left for planning, the latest of each.
        signals: signals since the last accepted plan.
        ledger: committed operations in order of commitment.
        constraints: those of them that cannot be undone.
        executed: steps that keep their positions, in plan order.
        superseded: steps of the present plan that have not run, without those that are open.
        failures: every failure so far, oldest first.
        refusals: what was wrong with the answers refused since the last accepted plan.
        askers: what asked for this plan, first to last.
        open_operations: steps in flight that a plan may keep; what comes of those it leaves out is undone,
            or becomes a constraint.
        revisions: the revisions of the plan so far, oldest first; of many, the latest.
        gaps: requirements of the goal that had no evidence when that was last looked at.
        excluded: full names of tools to leave out of this one plan, if there is a plan without them.
        next_id: the number from which new step ids are free (``E{next_id}``).
        tools: the catalog.
    """

    run_id: str
    goal: Goal
    epoch: int
    revision: int
    is_replanning: bool
    reason: str
    board: Mapping[str, Any]
    signals: tuple[SignalEntry, ...]
    ledger: tuple[LedgerEntry, ...]
    constraints: tuple[LedgerEntry, ...]
    executed: tuple[Step, ...]
    superseded: tuple[Step, ...]
    failures: tuple[Failure, ...]
    excluded: frozenset[str]
    next_id: int
    tools: Catalog
    refusals: tuple[str, ...] = ()
    askers: tuple[Asker, ...] = ()
    open_operations: tuple[OpenOperation, ...] = ()
    gaps: tuple[Gap, ...] = ()
    revisions: tuple[RevisionEntry, ...] = ()

    @property
    def blacklist(self) -> tuple[tuple[str, str], ...]:
        """Tool and argument digest of the calls that asked for this plan: a warning not to repeat them."""
        return tuple((each.tool, each.input_digest) for each in self.askers if each.input_digest)

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The goal's inputs."""
        return self.goal.inputs

    def committed(self, tool: str) -> tuple[LedgerEntry, ...]:
        """Return the standing (not undone) operations of a tool, by full or bare name."""
        return tuple(
            entry
            for entry in self.ledger
            if entry.state == "committed" and tool in (entry.tool, entry.tool.partition("__")[2])
        )


class Planner(Protocol):
    """Makes plans. It is handed a context and answers; it never touches a run."""

    async def plan(self, context: PlanningContext) -> Plan | NoPlan | GoalReached:
        """Return the new tail, or say that there is none or that nothing is left to do."""
        ...
