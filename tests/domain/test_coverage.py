"""Before delivery the requirements of a goal are counted: a run is complete when its gaps are zero."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.errors import InvalidInputError
from midcourse.domain.goal import Goal, Requirement
from midcourse.domain.orders import Consult, MakePlan
from midcourse.domain.plan import Plan, Step
from midcourse.domain.summary import attention
from midcourse.domain.tools import Catalog
from midcourse.domain.view import view

from .kit import TOOLS, Story, failure, given, has, like, step
from .tellings import finds, goal_reached, proposes, signal, succeeds, taken_up, takes_back

JUDGED = Catalog(TOOLS.values(), reviewers=frozenset(("judge",)))


def goal(*evidence: tuple[str, str]) -> Goal:
    required = (
        Requirement(id=f"R{n}", text="it is so", evidence={kind: value})
        for n, (kind, value) in enumerate(evidence)
    )
    return Goal("g", {"n": 1}, tuple(required))


def covering(*evidence: tuple[str, str], plan: Plan | None = None) -> Story:
    message = m.StartRun(at=1.0, goal=goal(*evidence), lineage="run", planner="p", plan=plan)
    return given(message, tools=JUDGED)


def test_a_run_without_gaps_is_complete() -> None:
    story = covering(("operation", "ship*"), ("expr", "ledger.exists(e, e.tool == 'user__ship')"))
    story.when(proposes("ship")).when(succeeds("E0")).then(
        like(f.StepCompleted), f.CoverageChecked(), like(f.RunCompleted)
    )


def test_gaps_ask_for_a_plan_that_closes_them() -> None:
    story = covering(("operation", "ship*")).when(proposes("look")).when(succeeds("E0"))
    story.then(
        like(f.StepCompleted),
        f.CoverageChecked((f.Gap("R0", "no committed operation is like 'ship*'"),)),
        like(f.ReplanRequested, cause="coverage", reason=has("requirement 'R0' has no evidence")),
        like(f.PlanRequested),
        like(MakePlan),
    )
    context = story.orders[0].context  # type: ignore[attr-defined]
    assert (context.gaps, context.goal.requirements) == (story.run.gaps, story.run.goal.requirements)
    story.when(proposes("ship")).when(succeeds("E1"))
    assert story.new[-1] == like(f.RunCompleted)


def test_a_plan_that_serves_no_open_requirement_goes_back_to_its_planner() -> None:
    story = (
        covering(("operation", "ship*")).when(proposes("look")).when(succeeds("E0")).when(proposes("notify"))
    )
    assert story.new[1] == like(
        f.ProposalRejected,
        code="invalid",
        problems=(has("requirement 'R0' needs an operation like 'ship*'"),),
    )


def test_a_goal_that_its_planner_finds_reached_is_counted_too() -> None:
    story = covering(("operation", "ship*")).when(goal_reached())
    assert story.new[1:3] == [like(f.CoverageChecked), like(f.ReplanRequested, cause="coverage")]


def test_an_effect_that_was_undone_is_no_evidence() -> None:
    expr = "ledger.exists(e, e.tool == 'user__reserve')"
    story = covering(("operation", "reserve"), ("expr", expr)).when(proposes("reserve", "look"))
    story.when(succeeds("E0")).when(takes_back("E0")).when(succeeds("undo E0")).when(succeeds("E1"))
    assert [gap.requirement for gap in story.run.gaps] == ["R0", "R1"]


@pytest.mark.parametrize(
    "glob", ["ship*", "user__ship", "user__ship:*", "*:*"], ids=["bare", "full", "key", "any key"]
)
@pytest.mark.parametrize(
    "tail",
    [
        step("ship"),
        step("map", "M", input={"over": [1], "do": {"tool_name": "ship", "input": {}}}),
        step(
            "decide",
            "M",
            input={"if": {"expr": "true"}, "then": [{"id": "x", "tool_name": "ship", "input": {}}]},
        ),
        step("plan__sending", "M"),
    ],
    ids=lambda each: each.tool_name,
)
def test_a_plan_serves_a_requirement_by_any_step_body_or_plan_that_calls_the_tool(
    glob: str, tail: Step
) -> None:
    sending = Catalog(TOOLS.values(), plans={"plan__sending": Plan([step("user__ship", "A")])})
    story = covering(("operation", glob), ("expr", "false")).when(goal_reached())
    story.when(proposes(tail), tools=sending)
    assert story.run.revision == 1


def test_a_plan_need_not_serve_what_no_tool_can() -> None:
    story = covering(("operation", "ship"), ("operation", "fly")).when(goal_reached()).when(proposes("ship"))
    assert story.run.revision == 1
    story.when(succeeds("E0"))
    assert [gap.requirement for gap in story.run.gaps] == ["R1"]


def test_the_same_gaps_on_the_same_state_are_stuck() -> None:
    story = covering(("expr", "false")).when(goal_reached()).when(goal_reached())
    assert f.RunStuck(has("the same requirements were open (requirement 'R0'")) in story.new


def test_the_same_gaps_in_other_words_are_the_same() -> None:
    story = covering(("judge", "?")).when(goal_reached()).when(finds("gap", "not yet"))
    story.when(goal_reached()).when(finds("gap", "by no means"))
    assert like(f.RunStuck) in story.new


@pytest.mark.parametrize(("found", "is_stuck"), [("the same", True), ("more", False)])
def test_what_was_read_since_is_progress_unless_it_is_the_same(found: str, is_stuck: bool) -> None:
    story = covering(("expr", "false")).when(proposes("look")).when(succeeds("E0", "the same"))
    story.when(proposes("look")).when(succeeds("E1", found))
    assert bool(story.run.stuck) == is_stuck


def test_gaps_fail_a_plan_by_a_person() -> None:
    story = covering(("operation", "ship"), plan=Plan([step("look", "A")])).when(succeeds("A"))
    refused = failure("replan_refused", "by itself; coverage asked for it: req", cause="coverage")
    assert story.new[2] == like(f.UnwindingBegan, failure=refused)


def leaving(status: str) -> Story:
    way_out = step("exit", "X", input={"status": status, "output": {"n": 1}})
    return covering(("operation", "ship")).when(proposes("look", way_out, "notify"))


def test_an_exit_with_success_is_counted_too_and_a_plan_may_follow() -> None:
    story = leaving("success").when(succeeds("E0"))
    assert story.new[1:4] == [
        like(f.ExitReached), like(f.CoverageChecked), like(f.ReplanRequested, cause="coverage"),
    ]  # fmt: skip
    story.when(proposes("ship")).when(succeeds("E2"))
    assert story.new[-2:] == [f.CoverageChecked(), f.RunCompleted("ok")]


def test_an_exit_with_success_and_no_gaps_ends_the_run_with_its_output() -> None:
    way_out = step("exit", "X", input={"status": "success", "output": {"n": 1}})
    story = covering(("operation", "ship")).when(proposes("ship", way_out, "notify")).when(succeeds("E0"))
    assert story.new[-2:] == [f.CoverageChecked(), like(f.RunCompleted, result={"n": 1})]


def test_an_exit_with_an_error_is_not_counted() -> None:
    story = leaving("error").when(succeeds("E0"))
    assert not any(isinstance(fact, f.CoverageChecked) for fact in story.facts)


def test_an_expression_that_cannot_be_evaluated_is_a_gap_that_says_so() -> None:
    story = covering(("expr", "ledger[7].tool == 'x'")).when(goal_reached())
    assert story.new[1].gaps[0].why == has("cannot be evaluated")  # type: ignore[attr-defined]


def test_a_judge_is_asked_and_must_cite_what_stands() -> None:
    story = covering(("judge", "Is it on its way?")).when(proposes("ship")).when(succeeds("E0"))
    story.then(
        like(f.StepCompleted), like(f.ConsultationRequested, kind="requirement", who="judge"), like(Consult)
    )
    assert story.orders[0].about.requirement.judge == "Is it on its way?"  # type: ignore[attr-defined]
    story.when(finds("ok", cites=(story.run.done["E0"],)))
    assert story.new[-1] == like(f.RunCompleted)


@pytest.mark.parametrize(
    ("verdict", "cites", "why"),
    [
        ("ok", (), "cites nothing in the ledger"),
        ("ok", ("user__ship:0",), "cites 'user__ship:0', which is not in the ledger"),
        ("gap", (), "the judge finds it open: not yet"),
    ],
)
def test_a_judgement_without_evidence_is_a_gap(verdict: str, cites: tuple[str, ...], why: str) -> None:
    story = covering(("judge", "?")).when(goal_reached()).when(finds(verdict, "not yet", cites=cites))
    assert story.new[1].gaps[0].why == has(why)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("verdict", "why"),
    [
        ("failed", "could not be judged: no light"),
        ("perhaps", "judge answered 'perhaps'; it is one of ok, gap"),
    ],
)
@pytest.mark.parametrize("plan", [None, Plan([step("reserve", "A")])], ids=["planner", "person"])
def test_a_judge_that_does_not_answer_is_for_a_person_and_undoes_nothing(
    plan: Plan | None, verdict: str, why: str
) -> None:
    story = covering(("judge", "?"), plan=plan).when(goal_reached() if plan is None else succeeds("A"))
    story.when(finds(verdict, "no light")).then(like(f.OpinionGiven), like(f.RunStuck, reason=has(why)))
    assert [item.kind for item in attention(story.run)] == ["stuck"]
    assert story.run.gaps == ()
    story.when(signal("light")).then(like(f.SignalReceived), like(f.ConsultationRequested), like(Consult))


def test_a_judge_that_does_not_answer_after_an_exit_is_for_a_person() -> None:
    way_out = step("exit", "X", input={"status": "success"})
    story = covering(("judge", "?")).when(proposes(way_out)).when(finds("failed", "no light"))
    story.then(like(f.OpinionGiven), like(f.RunStuck))
    story.when(signal("light")).when(finds("gap", "no"))
    assert story.run.owed == like(f.ReplanRequested, cause="coverage")


def test_what_is_open_is_shown_until_there_is_another_plan() -> None:
    story = covering(("operation", "ship")).when(goal_reached())
    assert [gap.requirement for gap in view(story.run).gaps] == ["R0"]
    story.when(proposes("ship"))
    assert view(story.run).gaps == ()


def test_a_judgement_that_is_owed_is_asked_for_by_the_next_process_and_once_per_state() -> None:
    story = covering(("judge", "?"), ("judge", "??")).when(goal_reached()).when(taken_up("p"))
    assert story.orders == [like(Consult, who="judge")]
    story.when(finds("gap")).when(finds("gap"))
    assert [type(fact) for fact in story.facts].count(f.ConsultationRequested) == 2


@pytest.mark.parametrize(
    ("required", "problem"),
    [
        ({"operation": "a", "expr": "b"}, "not 'operation' and 'expr'"),
        ({}, "not nothing"),
        ({"judge": ""}, "'judge' is empty"),
        ({"expr": "1 +"}, "not in the Common Expression Language"),
        ({"proof": "x"}, "one of operation, expr, judge"),
    ],
)
def test_a_requirement_that_cannot_be_used_is_refused_before_anything_is_recorded(
    required: dict[str, Any], problem: str
) -> None:
    requirement = Requirement(id="R", text="t", evidence=required)
    message = m.StartRun(at=1.0, goal=Goal("g", {}, (requirement,)), lineage="run", planner="p")
    with pytest.raises(InvalidInputError, match=f"requirement 'R': .*{problem}"):
        given(message, tools=JUDGED)


def test_a_judgement_needs_a_judge_and_ids_are_unique() -> None:
    with pytest.raises(InvalidInputError, match="this engine has no judge"):
        given(m.StartRun(at=1.0, goal=goal(("judge", "?")), lineage="run", planner="p"))
    twice = Requirement(id="R", text="t", evidence={"operation": "a"})
    message = m.StartRun(at=1.0, goal=Goal("g", {}, (twice, twice)), lineage="run", planner="p")
    with pytest.raises(InvalidInputError, match="'R': its id is taken"):
        given(message)
