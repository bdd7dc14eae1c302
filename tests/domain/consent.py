"""Messages of people who agree or do not, and catalogs under an authority."""

from __future__ import annotations

from typing import Any

from midcourse.domain import messages as m
from midcourse.domain.authority import ApprovalRule, Authority
from midcourse.domain.tools import Catalog

from .kit import TOOLS, Story, Telling

ALICE, BOB = "token:alice", "token:bob"


def under(**authority: Any) -> Catalog:
    """The tools of the kit, used under an authority."""
    return Catalog(TOOLS.values(), Authority(**authority))


def asks_for(**rule: Any) -> Catalog:
    """The tools of the kit, where one rule asks for approval."""
    return under(approvals=(ApprovalRule(**rule),))


def subject(story: Story, of: str = "") -> str:
    """The name of the approval of a step, or of the plan."""
    return story.run.approvals[of].subject


def approves(of: str = "", by: str = ALICE, *, named: str = "") -> Telling:
    """Approve of a step, or the plan, or of what has a name."""
    return lambda story: m.ApproveSubject(at=story.at, actor=by, subject=named or subject(story, of))


def denies(of: str = "", reason: str = "too dear", by: str = ALICE) -> Telling:
    return lambda story: m.DenySubject(at=story.at, actor=by, subject=subject(story, of), reason=reason)
