"""How each field of the state is kept; a test fails if one is missing, or is of another type."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from .. import facts as f
from ..approvals import Approval
from ..breakpoints import Breakpoints
from ..budget import Budget
from ..children import Parent
from ..errors import ReplanAnswer
from ..fairness import Priority
from ..family import Child
from ..goal import Goal
from ..held import Held
from ..ledger import Committed, Operation, Undo
from ..opinions import Review
from ..plan import Author, Step
from ..planning import Asker, SignalEntry
from ..run import FinalStatus, PartKind, Run
from ..waits import Wait
from .parts import Borrowed, Controls, Entries, Frames, Mail, Members, Outcome, Rows, Values
from .pieces import Part
from .revisions import Revisions

_VALUES: Mapping[str, Any] = {
    "version": int,
    "epoch": int,
    "goal": Goal,
    "planner": str,
    "mode": f.Mode,
    "key": str,
    "lineage": str,
    "priority": Priority,
    "tags": dict[str, str],
    "parent": Parent | None,
    "limits": f.Limits,
    "catalog": str,
    "revision": int,
    "author": Author | None,
    "output": dict[str, Any] | None,
    "compensates": bool,
    "accepted_at": int,
    "foreseen_from": int,
    "observed": int,
    "recheck": bool,
    "undo_running": str,
    "started_by": str,
    "owed": f.ReplanRequested | None,
    "asking": Asker | None,
    "asked": f.PlanRequested | None,
    "proposal": f.PlanProposed | None,
    "held": Held | None,
    "plan_retry_at": float | None,
    "replans": int,
    "refused": int,
    "last_refusal": f.ProposalRejected | None,
    "refused_alike": int,
    "planning_failures": int,
    "news": int,
    "under_review": Held | None,
    "breakpoints": Breakpoints | None,
    "gaps": tuple[f.Gap, ...],
    "exit": f.ExitReached | None,
    "goal_found": f.GoalFound | None,
    "started_at": float,
    "budgets": tuple[Budget, ...],
    "tokens": int,
    "cost": float,
    "spent": f.BudgetSpent | None,
    "paused": f.RunPaused | None,
    "broken": f.Failure | None,
    "stuck": str,
    "stuck_on": f.Failure | None,
    "unhelped": str,
    "cancelling": bool,
    "unwinding": f.UnwindingBegan | None,
    "taken_back": Parent | None,
    "final": FinalStatus | None,
}

_ENTRIES: Mapping[str, Any] = {
    "done": str,
    "unmet": int,
    "needed_by": list[str],
    "ready": None,
    "guarded": tuple[str, ...],
    "running": Operation,
    "backoff": Operation,
    "unknown": Operation,
    "closed": Operation,
    "attempts": int,
    "next_n": int,
    "tail_n": int,
    "undos": Undo,
    "undo_requests": str,
    "calls": int,
    "skipped": str,
    "approvals": Approval,
    "verdicts": str,
    "jumps": tuple[str, ReplanAnswer],
    "replan_marks": tuple[int, str],
    "board": Any,
    "reviews": Review,
    "rounds": tuple[int, int],
    "consulting": f.ConsultationRequested,
    "opinions": f.OpinionGiven,
    "questions": f.QuestionAsked,
    "waits": Wait,
    "stops": f.Failure | None,
    "injected": str,
    "family": Child,
}

_MEMBERS: Mapping[str, Any] = {
    "order": str,
    "tail_again": str,
    "orphans": str,
    "askers": Asker,
    "refusals": str,
    "failures": f.Failure,
    "signals": SignalEntry,
    "signal_ids": str,
    "passed": str,
    "released": str,
    "missing": tuple[PartKind, str],
}


def _steps(run: Run, keys: list[str]) -> list[Any]:
    steps = run.steps
    return [steps[key] for key in keys]


def _ledger(run: Run, keys: list[str]) -> list[Any]:
    ledger = run.ledger
    return [ledger[key] for key in keys]


def _undos(run: Run, keys: list[str]) -> list[Any]:
    undos = run.undos
    return [undos[key] for key in keys]


def _children(run: Run, keys: list[str]) -> list[Any]:
    family = run.family
    return [family[key] for key in keys]


def _results(run: Run, steps: list[str]) -> list[Any]:
    ledger, done = run.ledger, run.done
    return [ledger[done[step]].receipt.result for step in steps]


PARTS: tuple[Part, ...] = (
    Values(_VALUES),
    Outcome(f.Failure),
    Rows("steps", Step, varied=("input", "needs", "retry", "default")),
    Rows("ledger", Committed, varied=("input", "receipt")),
    *(Entries(name, type_) for name, type_ in _ENTRIES.items()),
    *(Members(name, type_) for name, type_ in _MEMBERS.items()),
    Revisions(),
    Mail("mail", SignalEntry, deque),
    Borrowed("started", _steps, Step),
    Borrowed("results", _results, Any),
    Borrowed("reversible", _ledger),
    Borrowed("strays", _ledger),
    Borrowed("undos_open", _undos),
    Borrowed("parked", _undos),
    Borrowed("children", _children),
    Frames(),
    Controls(),
)
"""In the order they are read: what lends comes before what borrows."""

FIELDS = frozenset(("id", *_VALUES, *(part.name for part in PARTS if part.name != Values.name)))
"""The fields that are kept; the id is known to whoever reads."""
