"""Facts about approvals: asked for, given, denied, carried over to another revision, void."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from .base import Fact


class ApprovalRequested(Fact):
    """Something waits for a person's approval: a step with its arguments, or the plan that was proposed.

    It holds what the person sees, and who may approve: so it can be answered where the rules are not known.

    Args:
        subject: its name; no other approval of the run has it.
        digest: digest of the rendered arguments, or of the proposal.
        why: what asks for it.
        step: the step; empty for a plan.
        revision: the revision of the step.
        epoch: the epoch a plan was made from.
        tool: the step's tool.
        input: its rendered arguments.
        approvers: globs of the actors that may approve.
        four_eyes: the one who started the run may not.
    """

    subject: str
    digest: str
    why: str
    step: str = ""
    revision: int = 0
    epoch: int = 0
    tool: str = ""
    input: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    approvers: tuple[str, ...] = ()
    four_eyes: bool = True


class ApprovalGiven(Fact):
    """A person approved; it is used once, by what was seen, and covers its retries."""

    subject: str
    by: str


class ApprovalDenied(Fact):
    """A person did not approve."""

    moves_epoch = True
    subject: str
    by: str
    reason: str = ""


class ApprovalRebound(Fact):
    """A new revision keeps the step unchanged: its approval, given or not, now belongs to that revision."""

    subject: str
    revision: int


class ApprovalVoided(Fact):
    """What was to be approved, or was approved, has changed: the approval is worth nothing any more."""

    subject: str
    why: str
