"""A life in which plans are left while steps are in flight, people have to agree, and effects are recalled.

Its tools ask for approval, have limits, or ask for another plan after every call; its steps drain, stop or
go on when their plan is left; people jump, have effects undone, approve and deny.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.approvals import PLAN
from midcourse.domain.authority import ApprovalRule, Authority, ToolLimit
from midcourse.domain.briefing import open_steps
from midcourse.domain.evolve import evolve
from midcourse.domain.goal import Goal
from midcourse.domain.ids import undo_key
from midcourse.domain.plan import Author, OnReplan, Plan, Step
from midcourse.domain.readiness import is_dag
from midcourse.domain.run import Run
from midcourse.domain.tools import Catalog, ToolSpec

from .life import NONE, Ending, Life, Shape, step
from .world import SPECS, World

STARTER, COLLEAGUE, STRANGER = "host:ann", "host:bob", "web:eve"
MOST_NOTICES = 4
AUTHORITY = Authority(
    deny=("unpack",),
    approvals=(
        ApprovalRule(tool="ship"),
        ApprovalRule(tool="charge", when="input.amount > 5"),
        ApprovalRule(tool="release", when="input.item == 1"),
    ),
    limits=(ToolLimit(tool="notify", calls_per_run=MOST_NOTICES),),
    approvers=("host:*",),
)
WATCH = ToolSpec("user__watch", effect="read", replans="what was seen may change everything")
PLACE = ToolSpec("user__place", effect="reversible", undo="user__remove", idempotent=True, replans="it moved")
REMOVE = ToolSpec("user__remove", idempotent=True)
HOLD = ToolSpec("user__hold", effect="read")
WIDER_SPECS = (*SPECS, WATCH, PLACE, REMOVE, HOLD)
WIDER = Catalog(WIDER_SPECS, AUTHORITY)
NARROWER = Catalog(
    (spec for spec in WIDER_SPECS if spec.name not in ("user__ship", "user__place")), AUTHORITY
)

WIDER_STEPS = (
    *(step(tool, n) for tool in ("look", "watch", "place", "reserve") for n in (0, 1)),
    *(step(tool, n) for tool in ("charge", "pack", "notify") for n in (0, 1)),
    *(
        step(tool, n, on_replan=mode)
        for tool in ("reserve", "charge", "ship", "notify", "place")
        for n in (0, 1)
        for mode in ("adopt", "cancel")
    ),
    *(step(tool, 0, again=True, on_replan="adopt") for tool in ("reserve", "charge", "notify")),
    *(step("ship", 1, when_unapproved=unapproved) for unapproved in ("fail", "skip")),
    step("ship", 0, when_unapproved="default", default={"id": "none"}),
    step("charge", 1, amount=7, when_unapproved="skip"),
    step("charge", 0, amount=9),
)  # fmt: skip


class Wider(Life):
    """Adds to what can happen; the laws of a smaller life hold, and some more."""

    def __init__(self) -> None:
        super().__init__()
        self.catalog = WIDER
        self.world = World(WIDER)

    def check(self) -> None:
        super().check()
        approvals_are_used_as_given("run", self.facts)

    def check_quickly(self) -> None:
        super().check_quickly()
        run = self.run
        if run.final is not None:
            assert not run.approvals, "an ended run asks nobody"
            assert not run.orphans
            assert not run.strays, "an effect that no plan wants was forgotten"

    # -- the start

    def begin(self, tail: Sequence[Step], shape: Shape, by: Author, mode: f.Mode) -> None:
        goal = Goal("deliver", {"to": ("Oslo",)})
        plan = self.plan(tail, shape) if by == "human" else None
        terms: dict[str, Any] = {"mode": mode, "limits": f.Limits(12, 4, 2)}
        self.tell(
            m.StartRun(at=self.at, actor=STARTER, goal=goal, lineage="run", plan=plan, planner="p", **terms)
        )
        if self.process.planning is not None:
            self.planner_proposes(tail, shape)

    # -- plans

    def plan(self, tail: Sequence[Step], shape: Shape, undo: int = 0, undoes: int = NONE) -> Plan:
        """Make a plan that does not end before the end of the life, and whose undos may be left in flight."""
        plan = super().plan(tail, shape, undo, undoes)
        mode: OnReplan = ("drain", "adopt", "cancel")[len(self.facts) % 3]
        steps = [replace(each, on_replan=mode) if each.undoes else each for each in plan.steps]
        needs = None if shape == "sequence" else ()
        hold = Step(f"H{len(self.facts)}", HOLD.name, {"item": 0}, needs, on_replan="adopt")
        return replace(plan, steps=(*steps, hold))

    def keeping(self, plan: Plan, keep: int, relist: int) -> Plan:
        """The same plan, which keeps some of the steps in flight and lists some of the done ones again.

        ``keep`` says by its bits which of those that it may keep, ``relist`` which of the done ones; with its
        lowest bit come those that failed, too.
        """
        needs = () if is_dag(plan.steps) else None
        kept = [self.run.steps[each] for place, each in enumerate(open_steps(self.run)) if keep >> place & 1]
        again = [self.run.steps[each] for place, each in enumerate(self.run.done) if relist >> place & 1]
        failed = [self.run.steps[each] for each in self._failed()] if relist & 1 else []
        steps = (*again, *(replace(each, needs=needs) for each in kept), *failed, *plan.steps)
        return replace(plan, steps=steps)

    def _failed(self) -> list[str]:
        """The steps of the present plan that ended without a receipt."""
        steps = dict.fromkeys(operation.step for operation in self.run.closed.values())
        return [step for step in steps if step in self.run.steps and step not in self.run.done]

    def planner_keeps(self, plan: Plan, keep: int, relist: int) -> None:
        self.report(m.ProposePlan(at=self.at, epoch=self._answered(), plan=self.keeping(plan, keep, relist)))

    # -- attempts

    @property
    def in_hand(self) -> list[int]:
        """The places of the attempts that end before the end of the life."""
        return [
            place for place, order in enumerate(self.process.attempts.values()) if order.tool != HOLD.name
        ]

    def attempt_ends(self, which: int, ending: Ending) -> None:
        places = self.in_hand
        super().attempt_ends(places[which % len(places)] if places else which, ending)

    # -- people

    def jump(self, token: str, id: str, reason: str, *, foreign: bool) -> None:
        """Ask for a plan from outside. What was answered once stays answered."""
        known = dict(self.run.jumps)
        token = self.run.revision_token if token == "present" else token
        self.person(m.RequestReplan(at=self.at, reason=reason, revision_token=token, id=id), foreign=foreign)
        assert known == {jump: self.run.jumps[jump] for jump in known}

    def person_has_an_effect_undone(self, which: int, *, foreign: bool) -> None:
        """Nobody wants to have undone what they see is undone, though an undo of it was waived."""
        seen = [entry.key for entry in self.run.standing()]
        keys = [key for key in seen if not self.world.has_happened(undo_key(key))]
        if not keys:
            return
        wanted = m.RequestCompensation(at=self.at, operation=keys[which % len(keys)], reason="not wanted")
        self.person(wanted, foreign=foreign)

    def person_answers(self, which: int, who: str, *, approves: bool, foreign: bool) -> None:
        subjects = [each.subject for each in self.run.approvals.values()]
        common: dict[str, Any] = {"at": self.at, "actor": who, "subject": subjects[which % len(subjects)]}
        self.person(m.ApproveSubject(**common) if approves else m.DenySubject(**common), foreign=foreign)


def approvals_are_used_as_given(run_id: str, facts: Sequence[f.Fact]) -> None:
    """What needs somebody's consent begins with it, for these arguments, in this revision; limits hold."""
    run = Run(run_id)
    for fact in facts:
        if isinstance(fact, f.ApprovalGiven):
            assert fact.by == COLLEAGUE, "the one who started it, or a stranger, approved"
        if isinstance(fact, f.StepStarted) and _needs_consent(run, fact):
            approval = run.approvals[fact.step]
            assert approval.by == COLLEAGUE
            assert (approval.revision, approval.digest) == (run.revision, fact.digest)
        if isinstance(fact, f.PlanAccepted) and run.mode == "interactive" and fact.author == "planner":
            assert run.approvals[PLAN].by == COLLEAGUE
            assert run.approvals[PLAN].digest == fact.digest
        if isinstance(fact, f.StepStarted):
            assert run.author == "human" or fact.tool != "user__unpack", "planners may not use it"
        evolve(run, fact)
        assert run.calls.get("user__notify", 0) <= MOST_NOTICES


def _needs_consent(run: Run, fact: f.StepStarted) -> bool:
    if fact.tool == "user__ship":
        return True
    if fact.tool == "user__charge" and fact.input["amount"] > 5:
        return True
    if fact.tool == "user__release" and fact.input["item"] == 1:
        return True
    return run.mode == "interactive" and run.author == "planner" and fact.effect == "irreversible"
