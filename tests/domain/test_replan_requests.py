"""Whatever a tool asks for becomes one request; receipts and values are kept, and the planner is told."""

from __future__ import annotations

import msgspec
import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.decide import record
from midcourse.domain.decide.replan import request_replan
from midcourse.domain.orders import Execute, MakePlan
from midcourse.domain.planning import Asker, PlanningContext
from midcourse.domain.receipt import Receipt
from midcourse.domain.tools import Catalog, RetryPolicy

from .kit import TOOLS, Story, Telling, failure, given, has, like, step
from .tellings import (
    asks_replan,
    fails,
    is_lost,
    later,
    planned,
    probe_says,
    proposes,
    start,
    succeeds,
    taken_up,
)

WHY = "what it finds changes everything"
ASKERS = ("user__look", "user__charge", "user__ship")
ALWAYS = Catalog(
    msgspec.structs.replace(spec, replans=WHY) if spec.name in ASKERS else spec for spec in TOOLS.values()
)


def rule_fails(step_: str, *, receipt: Receipt) -> Telling:
    broken = f.Failure("replan_rule", "replan_when on user__look raised KeyError: 'port'")

    def message(story: Story) -> m.Message:
        asked = story.message(asks_replan(step_, receipt=receipt, seen=1))
        return msgspec.structs.replace(asked, failure=broken)

    return message


# -- replan_always: after the final outcome of every call, success or failure, after retries


def test_replan_always_asks_after_a_success_and_the_receipt_is_kept() -> None:
    story = given(*planned("look", "notify"), tools=ALWAYS).when(succeeds("E0", "calm"))
    story.then(
        f.StepCompleted("E0", story.key("E0"), 1, Receipt("calm")),
        like(f.ReplanRequested, cause="tool", reason=WHY, step="E0", tool="user__look"),
        like(f.PlanRequested, reason=WHY),
        like(MakePlan, context=like(PlanningContext, excluded={"user__look"})),
    )


def test_replan_always_asks_after_a_failure_once_it_is_final() -> None:
    story = given(*planned("look"), tools=ALWAYS)
    story.when(fails("E0", "no signal", retry_after_s=1.0)).then(like(f.AttemptFailed))
    story.when(later(1.0)).then(like(f.AttemptStarted), like(Execute, attempt=2))
    story.when(fails("E0", "no signal")).then(
        like(f.StepFailed),
        like(f.ReplanRequested, cause="tool", reason=has(WHY, "no signal")),
        like(f.PlanRequested),
        like(MakePlan),
    )


def test_replan_always_asks_once_an_unknown_outcome_is_known() -> None:
    story = given(*planned(step("charge", input={"order": 1}), "notify"), tools=ALWAYS)
    story.when(is_lost("E0")).then(like(f.OutcomeUnknown), like(type(story.orders[-1])))
    story.when(probe_says("E0", True, receipt=Receipt("paid"))).then(
        like(f.OutcomeSettled), like(f.ReplanRequested, cause="tool"), like(f.PlanRequested), like(MakePlan)
    )


def test_replan_always_under_a_plan_by_a_person_is_refused_with_its_cause() -> None:
    story = given(start("look", "ship", planner="p"), tools=ALWAYS).when(succeeds("E0"))
    refused = failure("replan_refused", "by a person", WHY, step="E0", cause="tool")
    story.then(like(f.StepCompleted), f.UnwindingBegan("failed", refused), f.RunFailed(refused))


def test_a_call_that_asks_survives_an_engine_that_closes_before_it_is_acted_on() -> None:
    story = given(*planned("look", "notify"), tools=ALWAYS)
    report = story.message(succeeds("E0"))
    facts = [fact for fact, _ in record(story.run, report, ALWAYS).facts]
    assert facts == [like(f.StepCompleted)]
    story.when(m.Activate(at=story.at, planners=frozenset("p")))
    assert story.new[-2:] == [like(f.ReplanRequested, cause="tool"), like(f.PlanRequested)]


def test_a_read_that_finds_the_same_again_is_a_lap_and_one_that_finds_something_else_is_none() -> None:
    for found, stuck in (("calm", True), ("storm", False)):
        story = given(*planned("look"), succeeds("E0", "calm"), proposes("look"), tools=ALWAYS)
        story.when(succeeds("E1", found))
        assert bool(story.run.stuck) is stuck


# -- a rule that raises is a clear failure and does not lose the receipt


def test_a_rule_that_raises_is_a_failure_beside_the_receipt_and_what_others_said() -> None:
    story = given(*planned("look", "ship")).when(rule_fails("E0", receipt=Receipt("calm")))
    broken = failure("replan_rule", "KeyError", step="E0", tool="user__look")
    story.then(
        like(f.StepCompleted, receipt=Receipt("calm")),
        f.BoardUpdated({"seen": 1}, "E0"),
        f.ReplanRuleFailed("E0", story.key("E0"), broken),
        like(f.ReplanRequested, cause="failure", reason=has("KeyError"), step="E0"),
        like(f.PlanRequested),
        like(MakePlan, context=like(PlanningContext, failures=(broken,))),
    )


def test_a_rule_that_raises_under_a_plan_by_a_person_fails_the_run() -> None:
    story = given(start("look", "ship")).when(rule_fails("E0", receipt=Receipt("calm")))
    assert story.run.outcome == failure("replan_rule", "KeyError")
    assert story.run.results == {"E0": "calm"}


# -- one request


def test_several_requests_are_one_replan_and_every_reason_receipt_and_value_is_kept() -> None:
    steps = [step("reserve", f"S{n}", needs=(), input={"n": n}) for n in range(3)]
    story = given(*planned(*steps), asks_replan("S0", "one", receipt=Receipt(0), a=0))
    story.when(asks_replan("S1", "two", receipt=Receipt(1), b=1)).then(
        like(f.StepCompleted),
        f.BoardUpdated({"b": 1}, "S1"),
        like(f.ReplanJoined, cause="tool", reason="two", step="S1", tool="user__reserve"),
    )
    story.when(asks_replan("S2", "three", receipt=Receipt(2), c=2))
    assert [type(fact) for fact in story.facts].count(f.ReplanRequested) == 1
    assert story.run.replans == 1
    context = story.orders[-1].context  # type: ignore[attr-defined]
    assert context.board == {"a": 0, "b": 1, "c": 2}
    assert [entry.receipt.result for entry in context.ledger] == [0, 1, 2]
    assert [asker.reason for asker in context.askers] == ["one", "two", "three"]


def test_the_calls_that_asked_are_a_warning_by_tool_and_argument_digest() -> None:
    story = given(*planned(step("look", input={"at": "quay"}))).when(asks_replan("E0", "closed"))
    digest = next(iter(story.run.closed.values())).digest
    context = story.orders[-1].context  # type: ignore[attr-defined]
    assert context.askers == (Asker("tool", "closed", "E0", "user__look", digest),)
    assert context.blacklist == (("user__look", digest),)
    story.when(proposes("ship")).when(fails("E1"))
    assert story.orders[-1].context.blacklist == (("user__ship", story.run.closed.popitem()[1].digest),)  # type: ignore[attr-defined]


def test_the_tools_that_asked_are_left_out_of_the_one_next_plan() -> None:
    story = given(*planned(step("look", needs=()), step("reserve", needs=())), asks_replan("E0", "one"))
    story.when(asks_replan("E1", "two", receipt=Receipt()))
    assert story.orders[-1].context.excluded == {"user__look", "user__reserve"}  # type: ignore[attr-defined]
    story.when(proposes("notify")).when(fails("E2"))
    assert story.orders[-1].context.excluded == frozenset()  # type: ignore[attr-defined]


def test_an_undo_that_asks_for_a_plan_has_failed_or_is_done() -> None:
    story = given(start("reserve", "ship"), succeeds("E0"), fails("E1"))
    story.when(asks_replan("undo E0", "elsewhere")).then(
        like(f.CompensationParked, failure=failure("undo", "which an undo cannot"))
    )
    story = given(start("reserve", "ship"), succeeds("E0"), fails("E1"))
    story.when(asks_replan("undo E0", receipt=Receipt("gone"))).then(
        like(f.CompensationCompleted, receipt=Receipt("gone")), like(f.RunFailed)
    )


# -- the board reaches the tools


def test_the_board_as_it_is_reaches_every_call() -> None:
    story = given(*planned("look"), asks_replan("E0", no_effect=True, hub="Oslo"))
    story.when(proposes("notify", "ship"))
    order = story.orders[-1]
    assert order == like(Execute, tool="user__notify", board={"hub": "Oslo"})
    story.take(f.BoardUpdated({"hub": "Bergen"}))
    assert order == like(Execute, board={"hub": "Oslo"})
    story.when(fails("E1", retry_after_s=1.0)).when(later(1.0))
    assert story.orders == [like(Execute, tool="user__notify", attempt=2, board={"hub": "Bergen"})]


def test_the_board_reaches_undos() -> None:
    board = f.BoardUpdated({"hub": "Oslo"})
    story = given(start("reserve", "ship"), succeeds("E0"), board).when(fails("E1"))
    assert story.orders == [like(Execute, tool="user__release", board={"hub": "Oslo"})]


# -- stuck


def test_two_tools_that_ask_for_each_other_for_ever_are_stuck_with_the_cycle_named() -> None:
    tools = Catalog(
        msgspec.structs.replace(spec, replans=f"{spec.name} first", retry=RetryPolicy(max_attempts=1))
        if spec.name in ("user__look", "user__notify")
        else spec
        for spec in TOOLS.values()
    )
    story = given(*planned("look"), fails("E0"), proposes("notify"), fails("E1"), tools=tools)
    story.when(proposes("look")).when(fails("E2")).then(
        like(f.StepFailed),
        like(f.ReplanRequested),
        f.RunStuck(has("(user__look first: no → user__notify first: no → user__look first: no)")),
    )


@pytest.mark.parametrize("cause", ["tool", "precondition", "review", "coverage"])
def test_every_automatic_route_under_a_plan_by_a_person_is_refused_with_its_cause(cause: str) -> None:
    story = given(start("look", "ship", planner="p"))
    assert request_replan(story.run, cause, "it says so", "E0", "user__look") == [
        f.UnwindingBegan("failed", failure("replan_refused", cause, "it says so", cause=cause, step="E0"))
    ]


# -- crash


def test_a_plan_that_is_owed_survives_a_crash_and_the_count_is_not_reset() -> None:
    story = given(*planned("look", "ship"), asks_replan("E0"))
    story.when(taken_up("p")).then(like(MakePlan, context=like(PlanningContext, reason="elsewhere")))
    assert (story.run.replans, story.run.owed) == (1, like(f.ReplanRequested))


def test_an_old_attempt_that_fails_late_leaves_its_replacement_alone() -> None:
    story = given(*planned("reserve"), is_lost("E0"), later(1.0))
    story.when(fails("E0", attempt=1)).then_nothing()
    assert story.run.running[story.key("E0")].attempt == 2
