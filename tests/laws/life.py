"""One run, the world it acts on, the process that carries it, and all that can happen to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from msgspec.structs import replace

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.budget import Budget
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

Shape = Literal["sequence", "all at once", "tree"]
Answer = Literal["no plan", "give up", "reached", "raises"]
Ending = Literal[
    "done", "failed", "refused", "vouched", "lost", "lost_after_effect", "replan", "replan_after_effect",
    "waits", "waits_for_news",
]  # fmt: skip
ENDINGS: tuple[Ending, ...] = get_args(Ending)
NONE = 9
"""No step of the plan takes an effect back."""


def step(tool: str, item: int, **fields: Any) -> Step:
    arguments = {"item": item, "amount": fields.pop("amount", 5)} if tool == "charge" else {"item": item}
    return Step("", tool, arguments, **fields)


ITEM = {"tool_name": "reserve", "input": {"item": "{{item}}"}}
LOOK_AT = {"tool_name": "look", "input": {"item": "{{A.id}}"}}
STEPS = (
    *(step(tool, n) for tool in ("look", "reserve", "charge", "pack", "ship", "notify") for n in (0, 1)),
    *(step(tool, 0, again=True) for tool in ("reserve", "charge", "ship", "notify")),
    *(step(tool, 1, timeout_s=5.0) for tool in ("look", "reserve", "charge", "notify")),
    step("charge", 0, amount=7),
    step("charge", 0),
    *(step(tool, 1, on_replan=left) for tool in ("reserve", "ship") for left in ("adopt", "cancel")),
    *(step(tool, 0, review="quality") for tool in ("look", "reserve", "charge", "ship")),
    step("reserve", 1, review="person"),
    Step("", "wait", {"for_s": 3}),
    Step("", "wait", {"signal": "news", "timeout_s": 50}),
    Step("", "wait", {"signal": "news"}),
    Step("", "map", {"over": [0, 1], "concurrency": 2, "do": ITEM}),
    Step("", "map", {"over": [1, 1, 0], "do": [{"id": "A", **ITEM}, {"id": "B", **LOOK_AT}]}),
    Step("", "decide", {"if": {"expr": "size(input.to) == 1"}, "then": {**ITEM, "input": {"item": 7}}}),
)
OPENING = (step("reserve", 0), step("charge", 0), step("pack", 1), step("notify", 0))
SMALLER = Catalog(
    (spec for spec in SPECS if spec.name not in ("user__ship", "user__notify")), reviewers=CATALOG.reviewers
)


class Life:
    """What happens is asked for by the methods; each leaves the run as far as it goes by itself."""

    def __init__(self) -> None:
        self.at = 1000.0
        self.facts: list[f.Fact] = []
        self.run = Run("run")
        self.world = World()
        self.process = Process()
        self.catalog = CATALOG
        self.past: list[m.Message] = []
        self.effects: list[Execute] = []

    def check(self) -> None:
        """Every law, now."""
        laws.state_is_the_fold_of_its_facts(self.run, self.facts)
        laws.replay_obeys("run", self.facts)
        self.check_quickly()

    def check_quickly(self) -> None:
        """The laws that look at the present only."""
        laws.effects_happen_once(self.world)
        laws.ends_are_ends(self.run, self.world)
        laws.one_attempt_is_in_hand(self.run, self.process)
        laws.nothing_hangs(self.run, self.process, self.at)

    # -- telling the run

    def tell(self, message: m.Message) -> None:
        try:
            reaction = react(self.run, message, self.catalog)
        except MessageRefused:
            return
        self.facts += [fact for fact, _ in reaction.facts]
        laws.intent_is_recorded_before_effect(self.process.take(reaction.orders), self.facts)

    def report(self, message: m.Message) -> None:
        self.past.append(message)
        self.tell(message)

    def person(self, message: m.Message, *, foreign: bool) -> None:
        """Tell the run through its owner, or write as another process and leave the rest to the owner."""
        if not foreign:
            self.tell(message)
            return
        try:
            reaction = record(replayed("run", self.facts), message, self.catalog)
        except MessageRefused:
            return
        self.facts += [fact for fact, _ in reaction.facts]
        self.run = replayed("run", self.facts)
        self.tell(m.CatchUp(at=self.at))

    # -- plans

    def plan(self, tail: Sequence[Step], shape: Shape, undo: int = 0, undoes: int = NONE) -> Plan:
        """Make a plan.

        ``undo`` says by its bits which of the standing effects it takes back, ``undoes`` which one by a step.
        """
        first = len(self.facts) * 10
        ids = [f"S{first + place}" for place in range(len(tail) + 1)]
        steps = [replace(each, id=ids[place]) for place, each in enumerate(tail)]
        standing = [entry for entry in self.run.standing() if entry.effect == "reversible"]
        if undoes < len(standing):
            entry = standing[undoes]
            steps.append(Step(ids[-1], entry.undo, {"item": entry.input["item"]}, undoes=entry.key))
        if shape != "sequence":
            steps = [
                replace(each, needs=(ids[(place - 1) // 2],) if place and shape == "tree" else ())
                for place, each in enumerate(steps)
            ]
        listed = [entry.key for place, entry in enumerate(standing) if place != undoes and undo >> place & 1]
        return Plan(steps, listed)

    def start(
        self, tail: Sequence[Step], shape: Shape, by: Author, done: int, *, budget: int = 1_000
    ) -> None:
        """Begin, and let some things be done already."""
        goal = Goal("deliver", {"to": ("Oslo",)})
        plan = self.plan([*OPENING, *tail], shape) if by == "human" else None
        limits = f.Limits(replans=6, proposals=3, planning_attempts=2, budgets=(Budget(steps=budget),))
        self.tell(m.StartRun(at=self.at, goal=goal, lineage="run", plan=plan, planner="p", limits=limits))
        if self.process.planning is not None:
            self.planner_proposes([*OPENING, *tail], shape)
        for _ in range(done):
            self.go_on()

    def planner_proposes(self, tail: Sequence[Step], shape: Shape, undo: int = 0, undoes: int = NONE) -> None:
        plan = self.plan(tail, shape, undo, undoes)
        self.report(m.ProposePlan(at=self.at, epoch=self._answered(), plan=plan))

    def planner_answers(self, answer: Answer) -> None:
        common: dict[str, Any] = {"at": self.at, "epoch": self._answered()}
        if answer == "reached":
            self.report(m.AnswerGoalReached(**common, answer=GoalReached("so it is")))
        elif answer == "raises":
            self.report(m.ReportPlanningFailure(**common, failure=f.Failure("planner", "it raised")))
        else:
            self.report(m.AnswerNoPlan(**common, answer=NoPlan("no way", give_up=answer == "give up")))

    def _answered(self) -> int:
        order, self.process.planning = self.process.planning, None
        assert order is not None
        return order.context.epoch

    def person_proposes(self, plan: Plan, *, behind: bool, foreign: bool) -> None:
        epoch = self.run.epoch - behind
        self.person(m.ProposePlan(at=self.at, epoch=epoch, plan=plan, author="human"), foreign=foreign)

    # -- opinions

    def reviewer_answers(self, verdict: str) -> None:
        key = next(iter(self.process.consulted))
        del self.process.consulted[key]
        asked = self.run.consulting.get(key)
        updates: dict[str, Any] = {}
        if asked is not None and asked.kind == "stuck":
            # Handlers answer as often as reviewers that all is well, which is nonsense of them.
            verdict = "pass" if verdict == "step" else verdict
            updates = {"place": len(self.facts) % 3} if verdict == "plan" else {}
        answer = m.ReportOpinion(at=self.at, key=key, verdict=verdict, reason="so it seems", updates=updates)
        self.report(answer)

    def person_reviews(self, verdict: str, *, foreign: bool) -> None:
        step = next(iter(self.run.reviews))
        self.person(m.DecideReview(at=self.at, step=step, verdict=verdict), foreign=foreign)

    # -- attempts and probes

    def attempt_ends(self, which: int, ending: Ending) -> None:
        tokens = list(self.process.attempts)
        order = self.process.attempts.pop(tokens[which % len(tokens)])
        if ending in ("vouched", "replan", "waits") and self.world.has_happened(order.operation):
            ending = "done"  # a tool that vouches tells the truth
        if ending in ("done", "lost_after_effect", "replan_after_effect"):
            self.world.do(order)
            self.effects.append(order)
        self.report(self._ending(order, ending))

    def _ending(self, order: Execute, ending: Ending) -> m.Report:
        token: dict[str, Any] = {"at": self.at, "operation": order.operation, "attempt": order.attempt}
        receipt = Receipt({"id": order.operation})
        failure = f.Failure("tool_error", f"{order.tool} failed")
        match ending:
            case "done":
                return m.ReportSuccess(**token, receipt=receipt)
            case "failed":
                return m.ReportFailure(**token, failure=failure, retry_after_s=1.0)
            case "refused":
                return m.ReportFailure(**token, failure=failure)
            case "vouched":
                return m.ReportFailure(**token, failure=failure, retry_after_s=0.5, no_effect=True)
            case "waits" if order.step:
                return m.ReportSuspended(**token, due=self.at + 3.0, no_effect=True)
            case "waits_for_news" if order.step:
                return m.ReportSuspended(**token, signal="news", details="asked")
            case "replan" if order.step:
                return m.ReportReplan(**token, reason="elsewhere", no_effect=True, updates={"x": 1})
            case "replan_after_effect" if order.step:
                return m.ReportReplan(**token, reason="something new", receipt=receipt)
            case _:
                cancelled = (order.operation, order.attempt) in self.process.cancelled
                return m.ReportLost(**token, why="cancelled" if cancelled else "timeout", details=[1])

    def receipt_arrives_late_or_twice(self, which: int) -> None:
        order = self.effects[which % len(self.effects)]
        receipt = Receipt({"id": order.operation, "late": order.attempt})
        self.tell(
            m.ReportSuccess(at=self.at, operation=order.operation, attempt=order.attempt, receipt=receipt)
        )
        laws.no_receipt_is_lost(self.run, order.operation)

    def message_arrives_again(self, which: int) -> None:
        self.tell(self.past[which % len(self.past)])

    def probe_answers(self, *, can_tell: bool) -> None:
        operation, attempt = next(iter(self.process.probes))
        del self.process.probes[operation, attempt]
        happened = self.world.has_happened(operation) if can_tell else None
        receipt = Receipt({"id": operation}) if happened else None
        self.report(
            m.ReportProbe(
                at=self.at, operation=operation, attempt=attempt, happened=happened, receipt=receipt
            )
        )

    # -- time and processes

    def time_passes(self, seconds: float) -> None:
        self.at += seconds
        self.tell(m.Advance(at=self.at))

    def timer_fires(self) -> None:
        self.at = max(self.at, wake_at(self.run) or 0.0)
        self.tell(m.Advance(at=self.at))

    def process_dies(self, planners: frozenset[str], catalog: Catalog, happened: int) -> None:
        """Some attempts, by the bits of ``happened``, have their effect and nobody reports it."""
        for place, order in enumerate(self.process.attempts.values()):
            if happened >> place & 1:
                self.world.do(order)
        self.process = Process()
        self.catalog = catalog
        self.run = replayed("run", self.facts)
        self.tell(m.Activate(at=self.at, planners=planners))

    # -- people

    def signal(self, id: str, *, relevant: bool, foreign: bool) -> None:
        news = m.ReceiveSignal(at=self.at, name="news", payload=(1, 2), id=id, relevant=relevant)
        self.person(news, foreign=foreign)

    def pause(self, *, foreign: bool) -> None:
        self.person(m.PauseRun(at=self.at, reason="lunch"), foreign=foreign)

    def unpause(self, *, foreign: bool) -> None:
        """Let it go on, with more to spend where it had spent all."""
        if self.run.spent is not None:
            steps = sum(self.run.calls.values()) + 5
            self.person(m.ChangeBudget(at=self.at, budget=Budget(steps=steps)), foreign=foreign)
        else:
            self.person(m.UnpauseRun(at=self.at), foreign=foreign)

    def cancel(self, *, foreign: bool) -> None:
        self.person(m.RequestCancel(at=self.at, reason="enough"), foreign=foreign)

    def replan(self, *, foreign: bool) -> None:
        self.person(m.RequestReplan(at=self.at, reason="look again"), foreign=foreign)

    def person_settles(self, *, with_receipt: bool, foreign: bool) -> None:
        """Somebody looked, and tells the truth."""
        key = next(iter(self.run.unknown))
        happened = self.world.has_happened(key)
        receipt = Receipt({"id": key}) if happened and with_receipt else None
        settled = m.SettleOutcome(
            at=self.at, operation=key, happened=happened, receipt=receipt, reason="I looked"
        )
        self.person(settled, foreign=foreign)

    def person_decides_about_an_undo(self, *, waive: bool, foreign: bool) -> None:
        key = next(iter(self.run.parked))
        if waive or self.world.has_happened(key):  # nobody retries what they see is undone
            self.person(m.WaiveCompensation(at=self.at, operation=key, reason="let it be"), foreign=foreign)
        else:
            self.person(m.RetryCompensation(at=self.at, operation=key, reason="try again"), foreign=foreign)

    # -- liveness

    def go_on(self) -> bool:
        """Answer one open order well, or let the next time come; whether there was any."""
        if self.process.attempts:
            self.attempt_ends(0, "done")
        elif self.process.probes:
            self.probe_answers(can_tell=True)
        elif self.process.consulted:
            self.reviewer_answers("ok")
        elif self.process.planning is not None:
            self.planner_answers("reached")
        elif self.run.paused is not None:
            self.unpause(foreign=False)
        elif wake_at(self.run) is not None:
            self.timer_fires()
        elif self._waits_for_news():
            self.signal("", relevant=False, foreign=False)
        else:
            return False
        return True

    def _waits_for_news(self) -> bool:
        run = self.run
        return any(wait.signal for wait in run.waits.values()) or any(
            operation.awaits for operation in run.backoff.values()
        )

    def live_to_the_end(self) -> None:
        """From wherever it is: once every order is answered, a run has ended or needs a person."""
        for _ in range(200):
            if not self.go_on():
                break
            self.check_quickly()
        else:
            raise AssertionError("it goes on for ever")
        self.check()
        assert self.run.final is not None or needs_attention(self.run)
