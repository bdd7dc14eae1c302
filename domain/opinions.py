"""Opinions: what reviewers say of steps and plans, and judges of requirements.

All are asked the same way, and answer the same: who is asked, about what, and what they said are facts. A
question that is open is asked again by the next process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from .facts.opinions import Kind
from .goal import Goal, Requirement
from .plan import Plan, Step
from .planning import LedgerEntry
from .receipt import Receipt

VERDICTS: Final[Mapping[Kind, tuple[str, ...]]] = {
    "step": ("ok", "step", "plan"),
    "plan": ("ok", "refuse"),
    "requirement": ("ok", "gap"),
}
PERSON: Final = "person"
"""The reviewer that is a person: nobody is called, and the question waits on the attention list."""
JUDGE: Final = "judge"
"""The name under which an engine has its judge of requirements."""
FAILED: Final = "failed"
"""The verdict of one who could not be asked: it is never taken for a good one."""


class Opinion(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a reviewer or a judge answers.

    Args:
        verdict: of a step ``ok``; ``step`` to have it done again, undone first where it can be; ``plan`` for
            another plan. Of a plan ``ok`` or ``refuse``. Of a requirement ``ok`` or ``gap``.
        reason: why.
        problems: of a plan that is refused, what its planner is told; the reason, if it is left out.
        cites: of a requirement that is met, keys of the operations in the ledger that show it.
    """

    verdict: str
    reason: str = ""
    problems: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()


class Consultation(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a reviewer or a judge is asked.

    Args:
        run_id: the run.
        kind: ``step``, ``plan`` or ``requirement``.
        goal: what the run is for.
        ledger: committed operations in order of commitment.
        step: the step, of a review of one; its ``input`` as it was rendered.
        receipt: what the step left behind.
        round: how often its step was done, from 1.
        plan: the proposed tail, of a review of a plan.
        requirement: the requirement, of a judgement.
    """

    run_id: str
    kind: Kind
    goal: Goal
    ledger: tuple[LedgerEntry, ...]
    step: Step | None = None
    receipt: Receipt | None = None
    round: int = 1
    plan: Plan | None = None
    requirement: Requirement | None = None


class Review(msgspec.Struct, gc=False):
    """A step that is done and waits for its review.

    Args:
        step: the step.
        operation: what it has committed.
        who: its reviewer.
        round: how often it was done.
        most: rounds after which a person chooses.
        allowed: how many rounds it has at first, and after a reset.
        escalated: why a person has to choose; empty while none has to.
    """

    step: str
    operation: str
    who: str
    round: int
    most: int
    allowed: int
    escalated: str = ""

    @property
    def key(self) -> str:
        """The name of the question about it."""
        return f"review/{self.operation}/{self.round}"


def answer_of(value: Any) -> Opinion:
    """Return what a reviewer answered as an opinion: a text is a verdict, ``True`` and ``None`` are ok."""
    if isinstance(value, Opinion):
        return value
    if value is None or value is True:
        return Opinion("ok")
    if isinstance(value, str):
        return Opinion(value)
    raise TypeError(f"answered {value!r}; return an Opinion, or its verdict")
