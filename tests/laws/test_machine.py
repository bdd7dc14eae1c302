"""Messages in any order: duplicates, late reports, conflicts, crashes, foreign writers. The laws hold after each."""

from __future__ import annotations

from typing import Any, Literal

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.briefing import open_steps
from midcourse.domain.decide import react, record
from midcourse.domain.errors import MessageRefused
from midcourse.domain.goal import Goal
from midcourse.domain.orders import Execute
from midcourse.domain.plan import Author, GoalReached, NoPlan, Plan, Step
from midcourse.domain.receipt import Receipt
from midcourse.domain.run import Run
from midcourse.domain.summary import needs_attention, wake_at
from midcourse.domain.tools import Catalog

from . import laws
from .replay import replayed
from .world import CATALOG, SPECS, Process, World

Ending = Literal[
    "done", "failed", "refused", "vouched", "lost", "lost_after_effect", "replan", "replan_after_effect"
]
STEP_TOOLS = ("look", "reserve", "charge", "charge", "pack", "ship", "notify")
SMALLER = Catalog(spec for spec in SPECS if spec.name not in ("user__ship", "user__notify"))


@st.composite
def tails(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Steps as a planner may write them, but for what depends on the run."""
    size = draw(st.integers(0, 4))
    is_dag = draw(st.booleans())
    steps: list[dict[str, Any]] = []
    for place in range(size):
        step: dict[str, Any] = {
            "tool_name": draw(st.sampled_from(STEP_TOOLS)),
            "input": {"item": draw(st.integers(0, 1))},
            "again": draw(st.sampled_from((False, False, False, True))),
            "timeout_s": draw(st.sampled_from((None, None, 5.0))),
            "on_replan": draw(st.sampled_from(("drain", "drain", "cancel", "adopt", "adopt"))),
        }
        if step["tool_name"] == "charge":
            step["input"]["amount"] = draw(st.sampled_from((5, 5, 5, 7)))
        if is_dag:
            step["needs"] = draw(st.sets(st.integers(0, place - 1), max_size=2)) if place else ()
        steps.append(step)
    return steps


class Life(RuleBasedStateMachine):
    """One run and all that can happen to it."""

    def __init__(self) -> None:
        super().__init__()
        self.at = 1000.0
        self.facts: list[f.Fact] = []
        self.run = Run("run")
        self.world = World()
        self.process = Process()
        self.catalog = CATALOG
        self.orders_begun: list[Execute] = []
        self.past: list[m.Message] = []
        self.effects: list[Execute] = []

    # -------------------------------------------------------------------------------------------- telling the run

    def tell(self, message: m.Message) -> None:
        try:
            reaction = react(self.run, message, self.catalog)
        except MessageRefused:
            return
        self.facts += [fact for fact, _ in reaction.facts]
        assert self.run.version == len(self.facts)
        begun = self.process.take(reaction.orders)
        laws.intent_is_recorded_before_effect(begun, self.facts)

    def report(self, message: m.Message) -> None:
        self.past.append(message)
        self.tell(message)

    def plan(self, tail: list[dict[str, Any]], undo: int, undoes: int) -> Plan:
        first = len(self.facts) * 10
        steps = [
            Step(**{**step, "id": f"S{first + place}", "needs": _ids(step.get("needs"), first)})
            for place, step in enumerate(tail)
        ]
        candidates = [entry for entry in self.run.standing() if entry.effect == "reversible"]
        if undoes < len(candidates):
            entry = candidates[undoes]
            input = {"item": entry.input["item"]}
            needs = () if any(step.needs is not None for step in steps) else None
            steps.append(Step(f"S{first + 9}", entry.undo, input, needs, undoes=entry.key))
        listed = [
            entry.key for place, entry in enumerate(candidates) if place != undoes and undo >> place & 1
        ]
        return Plan(steps, listed)

    def keeping(self, plan: Plan, keep: int) -> Plan:
        """The same plan, with some of the steps in flight that it may keep."""
        kept = [self.run.steps[step] for place, step in enumerate(open_steps(self.run)) if keep >> place & 1]
        return replace(plan, steps=(*(replace(step, needs=None) for step in kept), *plan.steps))

    # ---------------------------------------------------------------------------------------------------- rules

    @initialize(tail=tails(), by=st.sampled_from(("human", "planner", "planner", "planner")))
    def start(self, tail: list[dict[str, Any]], by: Author) -> None:
        goal = Goal("deliver", {"to": ("Oslo",)})
        plan = self.plan(tail, 0, 9) if by == "human" else None
        limits = f.Limits(replans=6, proposals=3, planning_attempts=2)
        self.tell(m.StartRun(at=self.at, goal=goal, lineage="run", plan=plan, planner="p", limits=limits))

    @precondition(lambda self: self.process.planning is not None)
    @rule(
        tail=tails(),
        undo=st.sampled_from((0, 0, 0, 1, 3, 6)),
        undoes=st.sampled_from((9, 9, 9, 0, 1)),
        keep=st.sampled_from((7, 7, 2, 0)),
    )
    def planner_proposes(self, tail: list[dict[str, Any]], undo: int, undoes: int, keep: int) -> None:
        order, self.process.planning = self.process.planning, None
        assert order is not None
        plan = self.keeping(self.plan(tail, undo, undoes), keep)
        self.report(m.ProposePlan(at=self.at, epoch=order.context.epoch, plan=plan))

    @precondition(lambda self: self.process.planning is not None)
    @rule(answer=st.sampled_from(("no", "no", "give up", "reached", "raises", "raises")))
    def planner_answers_otherwise(self, answer: str) -> None:
        order, self.process.planning = self.process.planning, None
        assert order is not None
        epoch = order.context.epoch
        if answer == "reached":
            self.report(m.AnswerGoalReached(at=self.at, epoch=epoch, answer=GoalReached("so it is")))
        elif answer == "raises":
            failure = f.Failure("planner", "it raised")
            self.report(m.ReportPlanningFailure(at=self.at, epoch=epoch, failure=failure))
        else:
            no = NoPlan("no way", give_up=answer == "give up")
            self.report(m.AnswerNoPlan(at=self.at, epoch=epoch, answer=no))

    @precondition(lambda self: self.process.attempts)
    @rule(
        which=st.integers(0, 5),
        ending=st.sampled_from(
            ("done", "done", "done", "done", "failed", "refused", "vouched", "lost", "lost_after_effect", "replan",
             "replan_after_effect")
        ),
    )  # fmt: skip
    def attempt_ends(self, which: int, ending: Ending) -> None:
        tokens = list(self.process.attempts)
        order = self.process.attempts.pop(tokens[which % len(tokens)])
        self.end(order, ending)

    def end(self, order: Execute, ending: Ending) -> None:
        token: dict[str, Any] = {"at": self.at, "operation": order.operation, "attempt": order.attempt}
        if ending in ("done", "lost_after_effect", "replan_after_effect"):
            self.world.do(order)
            self.effects.append(order)
        receipt = Receipt({"id": order.operation})
        failure = f.Failure("tool_error", f"{order.tool} failed")
        if order.step == "" and ending.startswith("replan"):
            ending = "failed"
        message: m.Report
        match ending:
            case "done":
                message = m.ReportSuccess(**token, receipt=receipt)
            case "failed":
                message = m.ReportFailure(**token, failure=failure, retry_after_s=1.0)
            case "refused":
                message = m.ReportFailure(**token, failure=failure)
            case "vouched":
                message = m.ReportFailure(**token, failure=failure, retry_after_s=0.5, no_effect=True)
            case "replan":
                message = m.ReportReplan(**token, reason="elsewhere", no_effect=True, updates={"x": 1})
            case "replan_after_effect":
                message = m.ReportReplan(**token, reason="something new", receipt=receipt)
            case _:
                cancelled = (order.operation, order.attempt) in self.process.cancelled
                message = m.ReportLost(**token, why="cancelled" if cancelled else "timeout", details=[1])
        self.report(message)

    @precondition(lambda self: self.effects)
    @rule(which=st.integers(0, 20))
    def receipt_arrives_late_or_twice(self, which: int) -> None:
        order = self.effects[which % len(self.effects)]
        token: dict[str, Any] = {"at": self.at, "operation": order.operation, "attempt": order.attempt}
        self.tell(m.ReportSuccess(**token, receipt=Receipt({"id": order.operation, "late": order.attempt})))

    @precondition(lambda self: self.past)
    @rule(which=st.integers(0, 50))
    def message_arrives_again(self, which: int) -> None:
        self.tell(self.past[which % len(self.past)])

    @precondition(lambda self: self.process.probes)
    @rule(can_tell=st.booleans())
    def probe_answers(self, can_tell: bool) -> None:
        token = next(iter(self.process.probes))
        self.probe(self.process.probes.pop(token).operation, token[1], can_tell)

    def probe(self, operation: str, attempt: int, can_tell: bool) -> None:
        happened = self.world.has_happened(operation) if can_tell else None
        receipt = Receipt({"id": operation}) if happened else None
        self.report(
            m.ReportProbe(
                at=self.at, operation=operation, attempt=attempt, happened=happened, receipt=receipt
            )
        )

    @rule(seconds=st.sampled_from((0.5, 3.0, 100.0)))
    def time_passes(self, seconds: float) -> None:
        self.at += seconds
        self.tell(m.Advance(at=self.at))

    @precondition(lambda self: wake_at(self.run) is not None)
    @rule()
    def timer_fires(self) -> None:
        self.at = max(self.at, wake_at(self.run) or 0.0)
        self.tell(m.Advance(at=self.at))

    @rule(
        planners=st.sampled_from((frozenset("p"), frozenset("p"), frozenset())),
        catalog=st.sampled_from((CATALOG, CATALOG, CATALOG, SMALLER)),
        happened=st.integers(0, 7),
    )
    def process_dies(self, planners: frozenset[str], catalog: Catalog, happened: int) -> None:
        for place, order in enumerate(self.process.attempts.values()):
            if happened >> place & 1:
                self.world.do(order)
        self.process = Process()
        self.catalog = catalog
        self.run = replayed("run", self.facts)
        self.tell(m.Activate(at=self.at, planners=planners))

    def person(self, message: m.Message, is_foreign: bool) -> None:
        """Tell the run through its owner, or as another process does: write, and leave the rest to the owner."""
        if not is_foreign:
            self.tell(message)
            return
        try:
            reaction = record(replayed("run", self.facts), message, self.catalog)
        except MessageRefused:
            return
        self.facts += [fact for fact, _ in reaction.facts]
        self.run = replayed("run", self.facts)
        self.tell(m.CatchUp(at=self.at))

    @rule(id=st.sampled_from(("", "a", "b")), relevant=st.booleans(), foreign=st.booleans())
    def signal(self, id: str, relevant: bool, foreign: bool) -> None:
        self.person(
            m.ReceiveSignal(at=self.at, name="news", payload=(1, 2), id=id, relevant=relevant), foreign
        )

    @rule(foreign=st.booleans(), luck=st.integers(0, 3))
    def cancel(self, foreign: bool, luck: int) -> None:
        if luck == 0:
            self.person(m.RequestCancel(at=self.at, reason="enough"), foreign)

    @rule(foreign=st.booleans(), token=st.sampled_from(("", "", "present", "old")), id=st.sampled_from(("", "x")))
    def replan(self, foreign: bool, token: str, id: str) -> None:
        token = self.run.revision_token if token == "present" else token
        self.person(m.RequestReplan(at=self.at, reason="look again", revision_token=token, id=id), foreign)

    @precondition(lambda self: self.run.reversible)
    @rule(foreign=st.booleans(), which=st.integers(0, 3))
    def person_has_an_effect_undone(self, foreign: bool, which: int) -> None:
        keys = list(self.run.reversible)
        message = m.RequestCompensation(at=self.at, operation=keys[which % len(keys)], reason="not wanted")
        self.person(message, foreign)

    @rule(
        tail=tails(),
        undo=st.sampled_from((0, 1, 3)),
        undoes=st.sampled_from((9, 0)),
        foreign=st.booleans(),
        behind=st.sampled_from((0, 0, 0, 1)),
        keep=st.sampled_from((7, 0)),
        luck=st.integers(0, 3),
    )
    def person_proposes(
        self,
        tail: list[dict[str, Any]],
        undo: int,
        undoes: int,
        foreign: bool,
        behind: int,
        keep: int,
        luck: int,
    ) -> None:
        if luck:
            return
        plan = self.keeping(self.plan(tail, undo, undoes), keep)
        epoch = self.run.epoch - behind
        self.person(m.ProposePlan(at=self.at, epoch=epoch, plan=plan, author="human"), foreign)

    @precondition(lambda self: self.run.unknown)
    @rule(foreign=st.booleans(), with_receipt=st.booleans())
    def person_settles(self, foreign: bool, with_receipt: bool) -> None:
        key = next(iter(self.run.unknown))
        happened = self.world.has_happened(key)
        receipt = Receipt({"id": key}) if happened and with_receipt else None
        self.person(
            m.SettleOutcome(at=self.at, operation=key, happened=happened, receipt=receipt, reason="I looked"),
            foreign,
        )

    @precondition(lambda self: self.run.parked)
    @rule(foreign=st.booleans(), waive=st.booleans())
    def person_decides_about_an_undo(self, foreign: bool, waive: bool) -> None:
        key = next(iter(self.run.parked))
        if waive or self.world.has_happened(key):  # nobody retries what they see is undone
            self.person(m.WaiveCompensation(at=self.at, operation=key, reason="let it be"), foreign)
        else:
            self.person(m.RetryCompensation(at=self.at, operation=key, reason="try again"), foreign)

    # ------------------------------------------------------------------------------------------------- the laws

    @invariant()
    def laws_hold(self) -> None:
        laws.state_is_the_fold_of_its_facts(self.run, self.facts)
        laws.replay_obeys("run", self.facts)
        laws.effects_happen_once(self.world)
        laws.ends_are_ends(self.run, self.world)
        if self.facts:
            laws.nothing_hangs(self.run, self.process, self.at)

    def teardown(self) -> None:
        """From wherever it is: once every order is answered, a run has ended or needs a person."""
        for _ in range(200):
            if not self.facts or not self.go_on():
                break
            self.laws_hold()
        else:
            raise AssertionError("it goes on for ever")
        assert not self.facts or self.run.final or needs_attention(self.run)

    def go_on(self) -> bool:
        if self.process.attempts:
            self.end(self.process.attempts.pop(next(iter(self.process.attempts))), "done")
        elif self.process.probes:
            (operation, attempt), _ = self.process.probes.popitem()
            self.probe(operation, attempt, can_tell=True)
        elif self.process.planning is not None:
            epoch, self.process.planning = self.process.planning.context.epoch, None
            self.tell(m.AnswerGoalReached(at=self.at, epoch=epoch, answer=GoalReached()))
        elif (wake := wake_at(self.run)) is not None:
            self.at = wake
            self.tell(m.Advance(at=self.at))
        else:
            return False
        return True


def _ids(needs: Any, first: int) -> tuple[str, ...] | None:
    return None if needs is None else tuple(f"S{first + need}" for need in sorted(needs))


def test_the_laws_hold_whatever_happens_in_whatever_order() -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]  # hypothesis does not annotate it
        Life,
        settings=settings(
            max_examples=150,
            stateful_step_count=40,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
