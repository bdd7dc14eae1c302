import asyncio
import contextvars
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from midcourse.actors.orders import RunOrders
from midcourse.actors.planner import PlannerActor, PlannerLimits
from midcourse.domain.messages import AnswerGoalReached, AnswerNoPlan, ProposePlan
from midcourse.domain.orders import CancelPlanning, MakePlan
from midcourse.domain.plan import GoalReached, NoPlan, Plan, Step
from midcourse.domain.planning import PlanningContext

from .contexts import context

Start = Callable[..., Any]
STEP = Step(id="E0", tool_name="user__ship", input={"order": "42"})
WRONG_STEP = Step(id=7)  # type: ignore[arg-type]
PLAN = Plan((STEP,), reason="the only way")
NO_PLAN = NoPlan("no stock", give_up=True)
REACHED = GoalReached("shipped")


def context_at(epoch: int, run_id: str = "run") -> PlanningContext:
    return context(run_id=run_id, epoch=epoch, reason="start")


class Scripted:
    """Answers what it was given; an exception is raised."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def plan(self, context: PlanningContext) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class Gated:
    """Answers once the test opens it; says which epochs it began and which it was cancelled at."""

    def __init__(self, *, hears: bool = True) -> None:
        self.hears = hears
        self.begun: list[int] = []
        self.cancelled: list[int] = []
        self.changed = asyncio.Event()
        self.opened = asyncio.Event()

    async def plan(self, context: PlanningContext) -> NoPlan:
        self.begun.append(context.epoch)
        self.changed.set()
        while not self.opened.is_set():
            try:
                await self.opened.wait()
            except asyncio.CancelledError:
                self.cancelled.append(context.epoch)
                self.changed.set()
                if self.hears:
                    raise
        return NoPlan(f"planned from {context.epoch}")

    async def until(self, begun: list[int], cancelled: list[int]) -> None:
        while (self.begun, self.cancelled) != (begun, cancelled):
            self.changed.clear()
            await self.changed.wait()


class PlannerKit:
    def __init__(self, planners: dict[str, Any], timers: Any, reports: Any, **limits: Any) -> None:
        self.timers = timers
        self.reports = reports
        self.ref = PlannerActor.start(
            urn="test",
            planners=planners,
            report=reports,
            clock=timers.time,
            timers=timers,
            limits=PlannerLimits(**limits),
        )

    def make_plan(self, epoch: int = 7, *, planner: str = "p", run: str = "run") -> None:
        self.ref.tell(RunOrders(run, [MakePlan(planner, context_at(epoch, run))]))

    def cancel(self, epoch: int, *, run: str = "run") -> None:
        self.ref.tell(RunOrders(run, [CancelPlanning(epoch)]))

    async def order_taken(self) -> None:
        await self.ref.ask(RunOrders("nobody", ()))


@pytest.fixture
async def planning(manual_timers: Any, reports: Any) -> AsyncIterator[Start]:
    kits: list[PlannerKit] = []

    def start(planner: Any, **limits: Any) -> PlannerKit:
        kits.append(PlannerKit({"p": planner}, manual_timers, reports, **limits))
        return kits[-1]

    yield start
    for kit in kits:
        await kit.ref.stop()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (PLAN, ProposePlan(at=1_000.0, epoch=7, plan=PLAN)),
        ([STEP], ProposePlan(at=1_000.0, epoch=7, plan=Plan((STEP,)))),
        (NO_PLAN, AnswerNoPlan(at=1_000.0, epoch=7, answer=NO_PLAN)),
        (REACHED, AnswerGoalReached(at=1_000.0, epoch=7, answer=REACHED)),
    ],
)
async def test_an_answer_reaches_its_run_with_its_epoch(planning: Start, answer: Any, message: Any) -> None:
    kit = planning(Scripted(answer))
    kit.make_plan()
    assert await kit.reports.next() == message
    assert [run for run, _ in kit.reports.all] == ["run"]


async def test_a_plan_is_what_a_replay_will_read_back(planning: Start) -> None:
    kit = planning(Scripted([Step(id="E0", tool_name="ship", input={"lines": (1, 2), "by": {3: None}})]))
    kit.make_plan()
    assert (await kit.reports.next()).plan.steps[0].input == {"lines": [1, 2], "by": {"3": None}}


class Exiting:
    def model_dump(self, **_options: Any) -> Any:
        raise SystemExit(4)


class HostIsTiredError(Exception):
    pass


@pytest.mark.parametrize(
    ("answer", "problem", "error_type"),
    [
        (None, "answered None (a NoneType); return a Plan,", "InvalidInputError"),
        ([], "answered [] (a list); return a Plan,", "InvalidInputError"),
        ([STEP, "ship"], "(a list); return a Plan,", "InvalidInputError"),
        ("ship it", "answered 'ship it' (a str)", "InvalidInputError"),
        (
            [Step(id="E0", input={"x": object()})],
            "answered a Plan that cannot be recorded",
            "InvalidInputError",
        ),
        (
            [WRONG_STEP],
            "cannot be recorded: Expected `str`, got `int` - at `$.steps[0].id`",
            "InvalidInputError",
        ),
        (HostIsTiredError("no tokens left"), "raised HostIsTiredError: no tokens left", "HostIsTiredError"),
        (KeyError("stock"), "raised KeyError: 'stock'", "KeyError"),
        (SystemExit(2), "raised SystemExit: 2", "SystemExit"),
        (asyncio.CancelledError(), "raised CancelledError", "CancelledError"),
        (GeneratorExit(), "raised GeneratorExit", "GeneratorExit"),
        ([Step(id="E0", input={"x": Exiting()})], "answered what raises SystemExit when it is", "SystemExit"),
    ],
)
async def test_what_is_no_answer_is_a_failure_of_the_planner(
    planning: Start, answer: Any, problem: str, error_type: str
) -> None:
    kit = planning(Scripted(answer))
    kit.make_plan()
    report = await kit.reports.next()
    assert report.epoch == 7
    assert (report.failure.kind, report.failure.error_type) == ("planner", error_type)
    assert report.failure.message.startswith("planner 'p' ")
    assert problem in report.failure.message


async def test_a_planner_nobody_registered_is_a_failure_that_names_it(planning: Start) -> None:
    kit = planning(Scripted(NoPlan("x")))
    kit.make_plan(planner="q")
    report = await kit.reports.next()
    assert report.failure.message == "planner 'q' is not registered with this engine (registered: p)"


async def test_a_newer_order_ends_the_older_call(planning: Start) -> None:
    gate = Gated()
    kit = planning(gate)
    kit.make_plan(7)
    await gate.until([7], [])
    kit.make_plan(9)
    await gate.until([7, 9], [7])
    gate.opened.set()
    assert await kit.reports.next() == AnswerNoPlan(at=1_000.0, epoch=9, answer=NoPlan("planned from 9"))
    assert len(kit.reports.all) == 1


async def test_the_same_order_again_is_the_same_call(planning: Start) -> None:
    gate = Gated()
    kit = planning(gate)
    kit.make_plan(7)
    kit.make_plan(7)
    await gate.until([7], [])
    gate.opened.set()
    await kit.reports.next()
    await kit.order_taken()
    assert gate.begun == [7]
    kit.make_plan(7)  # asked again after its answer, as after a failure
    await kit.reports.next()
    assert gate.begun == [7, 7]


async def test_a_cancel_ends_the_call_of_that_epoch_and_earlier(planning: Start) -> None:
    gate = Gated()
    kit = planning(gate)
    kit.make_plan(7)
    await gate.until([7], [])
    kit.cancel(6)
    kit.cancel(7, run="other")
    await kit.order_taken()
    assert gate.cancelled == []
    kit.cancel(8)
    await gate.until([7], [7])
    assert kit.reports.all == []


async def test_the_answer_of_a_planner_that_does_not_hear_is_dropped(planning: Start) -> None:
    gate = Gated(hears=False)
    kit = planning(gate, max_calls_at_once=1)
    kit.make_plan(7)
    await gate.until([7], [])
    kit.cancel(7)
    await gate.until([7], [7])
    kit.make_plan(8)
    await gate.until([7, 8], [7])
    gate.opened.set()
    assert (await kit.reports.next()).epoch == 8
    assert len(kit.reports.all) == 1


async def test_calls_wait_for_a_place_in_order(planning: Start) -> None:
    gate = Gated()
    kit = planning(gate, max_calls_at_once=1)
    for epoch in (1, 2, 3):
        kit.make_plan(epoch, run=f"run {epoch}")
    kit.cancel(2, run="run 2")
    await gate.until([1], [])
    gate.opened.set()
    assert [(await kit.reports.next()).epoch, (await kit.reports.next()).epoch] == [1, 3]
    assert gate.begun == [1, 3]


async def test_a_planner_that_takes_too_long_is_a_failure(planning: Start) -> None:
    gate = Gated(hears=False)
    kit = planning(gate, timeout_s=30.0)
    kit.make_plan(7)
    await gate.until([7], [])
    kit.timers.advance(30.0)
    report = await kit.reports.next()
    assert report.failure.message == "planner 'p' did not answer within 30 s"
    gate.opened.set()
    await kit.order_taken()
    assert len(kit.reports.all) == 1


async def test_an_answer_in_time_leaves_no_timer(planning: Start) -> None:
    kit = planning(Scripted(NoPlan("x")), timeout_s=30.0)
    kit.make_plan()
    await kit.reports.next()
    assert kit.timers.pending() == 0


ORIGIN: contextvars.ContextVar[str] = contextvars.ContextVar("planner_origin", default="nobody")


async def test_planners_see_the_context_of_the_start_and_not_of_each_other(planning: Start) -> None:
    class Whence:
        async def plan(self, context: PlanningContext) -> NoPlan:
            seen = ORIGIN.get()
            ORIGIN.set("a planner")
            return NoPlan(seen)

    ORIGIN.set("the start")
    kit = planning(Whence())
    ORIGIN.set("the sender")
    for epoch in (1, 2):
        kit.make_plan(epoch)
        assert (await kit.reports.next()).answer == NoPlan("the start")


async def test_a_stop_cancels_all_calls_and_reports_none(planning: Start) -> None:
    gate = Gated()
    kit = planning(gate, max_calls_at_once=1)
    kit.make_plan(1, run="a")
    kit.make_plan(2, run="b")
    await gate.until([1], [])
    await kit.ref.stop()
    await gate.until([1], [1])
    assert kit.reports.all == []


async def test_a_run_that_takes_no_answer_does_not_stop_the_others(planning: Start) -> None:
    complaints: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: complaints.append(context["message"]))
    kit = planning(Scripted(NoPlan("x")))
    kit.reports.gone_runs.add("gone")
    kit.make_plan(1, run="gone")
    kit.make_plan(2)
    assert (await kit.reports.next()).epoch == 2
    assert len(complaints) == 1
    assert "AnswerNoPlan" in complaints[0]
    assert "run gone" in complaints[0]
