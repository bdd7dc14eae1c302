"""Opinions: what reviewers say of steps and plans, judges of requirements, and handlers of stuck runs.

All are asked the same way, and answer the same: who is asked, about what, and what they said are facts. A
question that is open is asked again by the next process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from .facts import Failure
from .facts.opinions import Kind
from .goal import Goal, Requirement
from .plan import Plan, Step
from .planning import LedgerEntry, PlanningContext
from .receipt import Receipt

VERDICTS: Final[Mapping[Kind, tuple[str, ...]]] = {
    "step": ("ok", "step", "plan"),
    "plan": ("ok", "refuse"),
    "requirement": ("ok", "gap"),
    "stuck": ("plan", "pass", "fail", "cancel"),
}
PERSON: Final = "person"
"""The reviewer that is a person: nobody is called, and the question waits on the attention list."""
JUDGE: Final = "judge"
"""The name under which an engine has its judge of requirements."""
FAILED: Final = "failed"
"""The verdict of one who could not be asked: it is never taken for a good one."""


class Opinion(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a reviewer, a judge or a handler of stuck runs answers.

    Args:
        verdict: of a step ``ok``; ``step`` to have it done again, undone first where it can be; ``plan`` for
            another plan. Of a plan ``ok`` or ``refuse``. Of a requirement ``ok`` or ``gap``. Of a stuck run
            ``plan`` to have it planned again; ``pass`` to leave it to the next handler, or to a person;
            ``fail`` or ``cancel``, with a reason, to end it.
        reason: why; told to the planner, where a stuck run is planned again.
        problems: of a plan that is refused, what its planner is told; the reason, if it is left out.
        cites: of a requirement that is met, keys of the operations in the ledger that show it.
        updates: of a stuck run that is planned again, JSON values to put on the board first.
    """

    verdict: str
    reason: str = ""
    problems: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()
    updates: Mapping[str, Any] = {}


class Consultation(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a reviewer, a judge or a handler of stuck runs is asked.

    Args:
        run_id: the run.
        kind: ``step``, ``plan``, ``requirement`` or ``stuck``.
        goal: what the run is for.
        ledger: committed operations in order of commitment.
        step: the step, of a review of one; its ``input`` as it was rendered.
        receipt: what the step left behind.
        round: how often its step was done, from 1.
        plan: the proposed tail, of a review of a plan.
        requirement: the requirement, of a judgement.
        stuck: why the run is stuck.
        failure: what went wrong, where it is stuck on a failure.
        context: of a stuck run, what its planner would be told now.
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
    stuck: str = ""
    failure: Failure | None = None
    context: PlanningContext | None = None


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


def answer_of(value: Any, kind: Kind) -> Opinion:
    """Return an answer as an opinion: a text is a verdict, ``True`` and ``None`` are ok.

    Of a stuck run ``None`` is ``pass``.
    """
    if isinstance(value, Opinion):
        return value
    if value is None and kind == "stuck":
        return Opinion("pass")
    if value is None or value is True:
        return Opinion("ok")
    if isinstance(value, str):
        return Opinion(value)
    raise TypeError(f"answered {value!r}; return an Opinion, or its verdict")
