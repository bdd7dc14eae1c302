"""The state of a run: what its facts amount to, and what can be read off it."""

from __future__ import annotations

from . import facts as f
from . import ids
from .approvals import PLAN
from .ledger import Committed, Operation
from .run_fields import KEPT_REVISIONS, FinalStatus, PartKind, RunFields

__all__ = ["KEPT_REVISIONS", "FinalStatus", "PartKind", "Run"]


class Run(RunFields):
    """The fold of a run's facts."""

    __slots__ = ()

    def operation(self, key: str) -> Operation | None:
        """Return an operation that was started and is not committed, wherever it stands."""
        return self.running.get(key) or self.backoff.get(key) or self.unknown.get(key) or self.closed.get(key)

    def standing(self) -> list[Committed]:
        """Return the committed operations that are not undone, oldest first."""
        return [entry for entry in self.ledger.values() if entry.state == "committed"]

    def undoing_step(self, key: str) -> str:
        """Return the step in flight that takes an operation back, of whichever plan, or nothing."""
        undo = ids.undo_key(key)
        operation = self.running.get(undo) or self.backoff.get(undo) or self.unknown.get(undo)
        return operation.step if operation is not None else ""

    @property
    def excluded(self) -> frozenset[str]:
        """The tools that asked for the plan that is owed: search planners leave them out of it."""
        return frozenset(each.tool for each in self.askers if each.cause == "tool")

    @property
    def revision_token(self) -> str:
        """The id issued with the present revision: a request that shows it is about this plan alone."""
        return ids.digest([self.id, self.revision, self.accepted_at])

    @property
    def pending(self) -> f.PlanProposed | None:
        """The proposal that comes next: one just made, or one that waits for steps or for approval."""
        if self.proposal is not None:
            return self.proposal
        if self.held is not None:
            return self.held.proposal
        if self.under_review is not None:
            return self.under_review.proposal
        approval = self.approvals.get(PLAN)
        return approval.proposal if approval is not None else None

    @property
    def is_leaving(self) -> bool:
        """Whether no step of the present plan is to be started any more."""
        return self.owed is not None or self.unwinding is not None

    @property
    def is_full(self) -> bool:
        """Whether as many calls of tools are in flight as there may be."""
        at_once = self.limits.steps_at_once
        return at_once is not None and len(self.running) >= at_once

    def is_unwanted(self, operation: Operation) -> bool:
        """Whether an operation belongs to a plan that is being left, or was left."""
        return self.is_leaving or operation.key in self.orphans

    @property
    def is_draining(self) -> bool:
        """Whether something is in flight that has to be known before there is another plan."""
        if self.backoff or self.unknown:
            return True
        return any(operation.on_replan != "adopt" for operation in self.running.values())

    @property
    def is_helped(self) -> bool:
        """Whether a handler is being asked what is to become of it, for it is stuck."""
        return bool(self.consulting) and any(asked.kind == "stuck" for asked in self.consulting.values())

    @property
    def is_probing(self) -> bool:
        """Whether a probe is being asked about an operation."""
        return any(operation.probing for operation in self.unknown.values())

    @property
    def wants_plan(self) -> bool:
        """Whether the planner is to be asked, and nothing but time keeps it from being asked."""
        if self.final is not None or self.unwinding is not None or self.asked is not None or self.stuck:
            return False
        if self.owed is None and (self.revision > 0 or self.goal_found is not None):
            return False
        if self.held is not None or self.under_review is not None or PLAN in self.approvals:
            return False
        if self.is_draining or self.reviews:
            return False
        return not (self.undos_open or self.strays or ("planner", self.planner) in self.missing)

    @property
    def is_spending(self) -> bool:
        """Whether it has steps or plans to begin still, and is not kept from it."""
        if self.final is not None or self.unwinding is not None or self.stuck or self.paused is not None:
            return False
        return bool(self.unmet) or self.owed is not None or (self.revision == 0 and self.goal_found is None)

    @property
    def may_undo(self) -> bool:
        """Whether the next undo may start: one at a time, and none while it is open what there is to undo."""
        if self.undo_running:
            return False
        if self.unwinding is None or self.final is not None:
            return True
        return not (self.running or self.backoff or self.is_probing)
