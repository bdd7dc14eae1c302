"""Approvals that a run waits for, or has and not used yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from .facts import ApprovalRequested, PlanProposed

PLAN = ""
"""Stands for the proposed plan where approvals are kept by step."""


class Approval(msgspec.Struct, gc=False):
    """An approval and what it is bound to.

    Args:
        subject: its name.
        step: the step; `PLAN` for a plan.
        revision: the revision of the step.
        epoch: the epoch a plan was made from.
        digest: digest of the rendered arguments, or of the proposal.
        why: what asks for it.
        tool: the step's tool.
        input: its rendered arguments.
        approvers: globs of the actors that may approve.
        four_eyes: the one who started the run may not.
        version: version of the fact that asked for it, or gave it.
        by: who gave it; empty while nobody did.
        proposal: the plan.
    """

    subject: str
    step: str
    revision: int
    epoch: int
    digest: str
    why: str
    tool: str
    input: Mapping[str, Any]
    approvers: tuple[str, ...]
    four_eyes: bool
    version: int
    by: str = ""
    proposal: PlanProposed | None = None

    @classmethod
    def of(cls, fact: ApprovalRequested, version: int, proposal: PlanProposed | None) -> Approval:
        """Return the approval that a fact asks for."""
        return cls(
            fact.subject, fact.step, fact.revision, fact.epoch, fact.digest, fact.why, fact.tool, fact.input,
            fact.approvers, fact.four_eyes, version, "", proposal,
        )  # fmt: skip
