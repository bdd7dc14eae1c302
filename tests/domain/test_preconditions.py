"""What the steps to come need is checked after every receipt against what is now known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.decide.preconditions import first_broken
from midcourse.domain.facts import BoardUpdated
from midcourse.domain.orders import Execute, MakePlan
from midcourse.domain.plan import Step
from midcourse.domain.tools import Catalog, ToolSpec

from .kit import Story, failure, given, has, like, step
from .tellings import asks_replan, proposes, start, succeeds


def spec(
    name: str, pre: Mapping[str, bool] | None = None, post: Mapping[str, bool] | None = None, **terms: Any
) -> ToolSpec:
    return ToolSpec(f"user__{name}", pre=pre or {}, post=post or {}, **terms)


TOOLS = Catalog(
    (
        spec("open", post={"open": True}, effect="reversible", undo="user__shut"),
        spec("shut", post={"open": False}, idempotent=True),
        spec("load", pre={"open": True}, post={"loaded": True}),
        spec("sail", pre={"loaded": True, "calm": True}, post={"sailed": True}),
        spec("look", effect="read"),
        spec("rest", pre={"calm": False}),
    )
)


def run_of(*steps: str | Step) -> Story:
    return given(start(), proposes(*steps), tools=TOOLS)


def needs(name: str, value: str = "true") -> Any:
    return has(f"needs {name} to be {value}, which no longer holds")


def test_a_plan_of_tools_without_preconditions_is_not_checked() -> None:
    story = run_of("look", "open")
    assert story.run.guarded == {}
    assert story.facts[3] == like(f.PlanAccepted, guarded={})


def test_a_steps_own_predecessors_establish_what_it_needs() -> None:
    story = run_of("open", "load", "sail")
    assert story.run.guarded == {"E1": ("open",), "E2": ("loaded", "calm")}
    story.when(succeeds("E0")).then(like(f.StepCompleted), like(f.StepStarted, step="E1"), like(Execute))


def test_a_value_on_the_board_that_contradicts_a_step_to_come_asks_for_a_plan() -> None:
    story = run_of("open", "look", "load", "sail")
    story.take(BoardUpdated({"calm": False}))
    story.when(succeeds("E0")).then(
        like(f.StepCompleted),
        like(f.ReplanRequested, cause="precondition", reason=needs("calm"), step="E3", tool="user__sail"),
        like(f.PlanRequested, reason=needs("calm")),
        like(MakePlan),
    )
    assert story.run.excluded == frozenset()


def test_a_value_that_does_not_contradict_asks_nobody() -> None:
    story = run_of("open", "load", "sail")
    story.take(BoardUpdated({"calm": True, "loaded": False}))
    story.when(succeeds("E0")).then(like(f.StepCompleted), like(f.StepStarted, step="E1"), like(Execute))


def test_an_effect_that_is_undone_on_request_breaks_what_relies_on_it() -> None:
    story = run_of("open", "look", "load")
    story.when(succeeds("E0"))
    story.when(m.RequestCompensation(at=story.at, operation=story.key("E0"), reason="wrong gate")).then(
        like(f.CompensationRequested),
        like(f.CompensationIssued, cause="request"),
        like(f.CompensationStarted),
        like(Execute),
    )
    story.when(succeeds("undo E0")).then(
        like(f.CompensationCompleted), like(f.ReplanRequested, cause="precondition", reason=needs("open"))
    )
    story.when(succeeds("E1")).then(like(f.StepCompleted), like(f.PlanRequested), like(MakePlan))


def test_what_was_known_otherwise_when_the_plan_was_made_is_left_to_the_planner() -> None:
    stale = proposes("look", epoch=1)
    story = given(start(), BoardUpdated({"calm": False}), stale, proposes("look", "sail"), tools=TOOLS)
    assert story.run.guarded == {}
    story.when(succeeds("E0")).then(like(f.StepCompleted), like(f.StepStarted, step="E1"), like(Execute))


def test_what_was_not_known_when_the_plan_was_made_is_looked_at() -> None:
    story = run_of("look", "rest")
    assert story.run.guarded == {"E1": ("calm",)}
    story.take(BoardUpdated({"calm": True}))
    story.when(succeeds("E0"))
    assert story.new[1] == like(f.ReplanRequested, reason=needs("calm", "false"))


def test_the_inputs_of_the_goal_count() -> None:
    goal = {"calm": False}
    begin = given(start()).message(start())
    assert isinstance(begin, m.StartRun)
    message = m.StartRun(at=1.0, goal=type(begin.goal)("g", goal), lineage="run", planner="p")
    story = given(message, proposes("look", "rest"), tools=TOOLS)
    assert story.run.guarded == {"E1": ("calm",)}


def test_steps_that_are_undone_by_the_plan_do_not_count_as_standing() -> None:
    story = run_of("open", "look", "look")
    story.when(succeeds("E0")).when(asks_replan("E1"))
    story.when(proposes("open", "load", undo=("E0",)))
    assert story.run.guarded == {"E4": ("open",)}
    assert story.run.revision == 2


def test_a_dag_is_gone_through_in_the_order_of_its_needs() -> None:
    story = given(
        start(),
        proposes(step("load", "L", needs=("O",)), step("open", "O", needs=())),
        tools=TOOLS,
    )
    assert story.run.guarded == {"L": ("open",)}
    story.when(succeeds("O")).then(like(f.StepCompleted), like(f.StepStarted, step="L"), like(Execute))


def test_a_receipt_is_checked_once_however_many_steps_begin_after_it() -> None:
    looks = [step("look", f"S{n}", needs=("O",), input={"n": n}) for n in range(3)]
    story = given(
        start(), proposes(step("open", "O", needs=()), *looks, step("load", "L", needs=("S0",))), tools=TOOLS
    )
    story.when(succeeds("O"))
    assert [type(fact) for fact in story.new] == [
        f.StepCompleted,
        f.StepStarted,
        f.StepStarted,
        f.StepStarted,
    ]
    assert not story.run.recheck
    assert first_broken(story.run, TOOLS) is None


def test_the_check_does_not_wait_until_the_step_has_its_turn() -> None:
    story = given(
        start(),
        proposes(
            step("open", "O", needs=()), step("look", "W", needs=()), step("sail", "S", needs=("O", "W"))
        ),
        tools=TOOLS,
    )
    story.take(BoardUpdated({"calm": False}))
    story.when(succeeds("O")).then(like(f.StepCompleted), like(f.ReplanRequested, cause="precondition"))


def test_under_a_plan_by_a_person_a_broken_precondition_fails_the_run() -> None:
    story = given(start("open", "load", "sail", planner="p"), BoardUpdated({"calm": False}), tools=TOOLS)
    story.when(succeeds("E0"))
    refused = failure("replan_refused", "precondition", "needs calm", cause="precondition")
    assert story.run.unwinding == f.UnwindingBegan("failed", refused)


def test_a_plan_of_two_steps_that_need_the_same_asks_once() -> None:
    story = run_of("look", "rest", "rest")
    story.take(BoardUpdated({"calm": True}))
    story.when(succeeds("E0"))
    assert [type(fact) for fact in story.new].count(f.ReplanRequested) == 1
    assert story.run.unmet.keys() == {"E1", "E2"}
