"""Control steps: carried out by the run itself; what they call is durable call by call."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain import facts as f
from midcourse.domain.errors import MessageRefused, PlanInvalid
from midcourse.domain.evolve import fold
from midcourse.domain.orders import Execute
from midcourse.domain.plan import Plan, Step
from midcourse.domain.summary import attention, status
from midcourse.domain.tools import Catalog
from midcourse.domain.view import view

from .kit import TOOLS, Story, failure, given, like, step
from .tellings import (
    answers,
    asks_replan,
    cancel,
    fails,
    is_lost,
    planned,
    proposes,
    replan,
    signal,
    start,
    succeeds,
    taken_up,
)


def control(tool: str, id: str = "C", **input: Any) -> Step:
    return step(tool, id, input={name.rstrip("_"): value for name, value in input.items()})


def call(tool: str = "reserve", id: str = "", **input: Any) -> dict[str, Any]:
    return {"tool_name": tool, "input": input, **({"id": id} if id else {})}


def is_(value: Any, op: str, to: Any = None) -> dict[str, Any]:
    return {"value": value, "op": op, **({"to": to} if to is not None else {})}


def over(*items: Any, **terms: Any) -> Step:
    """A map that reserves every item."""
    return control("map", over=list(items), do=call(n="{{item}}"), **terms)


def begun(story: Story) -> list[str]:
    return [order.step for order in story.orders if isinstance(order, Execute)]


# -- exit


def test_an_exit_ends_the_run_and_skips_the_rest() -> None:
    exit_ = control("exit", status="success", message="nothing to do", output={"n": "{{input.n}}"})
    story = given(start()).when(proposes(exit_, "ship"))
    assert story.new[-2:] == [
        f.ExitReached("C", "success", "nothing to do", {"n": 1}), f.RunCompleted({"n": 1}, "nothing to do"),
    ]  # fmt: skip
    assert story.orders == []


def test_an_exit_whose_condition_does_not_hold_lets_the_run_go_on() -> None:
    exit_ = control("exit", status="error", when=is_("{{input.n}}", "gt", 5))
    story = given(start()).when(proposes(exit_, "look"))
    assert story.new[-2:] == [
        f.ControlEnded("C", {"passed": True, "verdict": False}), like(f.StepStarted, step="E0"),
    ]  # fmt: skip


def test_an_exit_with_an_error_fails_the_run_and_undoes_it() -> None:
    story = given(start()).when(proposes("reserve", control("exit", status="error", message="too late")))
    story.when(succeeds("E0"))
    assert story.new[2] == like(f.UnwindingBegan, failure=failure("exit", "too late"))
    assert story.orders == [like(Execute, tool="user__release")]


def test_an_exit_in_a_dag_lets_steps_in_flight_finish_and_begins_none() -> None:
    steps = (
        step("ship", "A", needs=()),
        step("exit", "X", needs=(), input={"status": "success", "output": {"done": True}}),
        step("look", "B", needs=("A",)),
    )
    story = given(start()).when(proposes(*steps))
    assert story.new[-1] == like(f.ExitReached, step="X")
    story.when(succeeds("A")).then(like(f.StepCompleted), f.RunCompleted({"done": True}))


# -- decide


def test_the_branch_that_is_not_taken_is_never_rendered() -> None:
    decide = control(
        "decide",
        if_=is_("{{input.n}}", "eq", 1),
        then=call("look"),
        else_=call("look", x="{{input.no.such}}"),
    )
    story = given(start()).when(proposes(decide, step("look", "E", input={"r": "{{C.result}}"})))
    assert story.new[-3:] == [
        f.ControlStarted("C", said={"branch": "then", "verdict": True, "reason": ""}),
        f.BodyStarted("C", "C/then"),
        like(f.StepStarted, step="C/then"),
    ]
    story.when(succeeds("C/then", "seen")).then(
        like(f.StepCompleted),
        f.ControlEnded("C", {"branch": "then", "verdict": True, "reason": "", "result": "seen"}),
        like(f.StepStarted, step="E", input={"r": "seen"}),
        like(Execute),
    )


def test_a_branch_that_is_not_there_has_no_result() -> None:
    decide = control("decide", if_=is_([], "not_empty"), then=call("look"))
    story = given(start()).when(proposes(decide))
    assert story.new[-2] == like(f.ControlEnded, result=like_dict(branch=None, verdict=False, result=None))


def like_dict(**fields: Any) -> Any:
    class Fits(dict[str, Any]):
        def __eq__(self, other: object) -> bool:
            return isinstance(other, dict) and fields.items() <= other.items()

        __hash__ = None

    return Fits()


def test_a_branch_of_several_steps_reads_its_own_steps_and_the_last_result_counts() -> None:
    body = [call("look", "A"), call("look", "B", of="{{A.x}} {{input.n}}")]
    story = given(start()).when(proposes(control("decide", if_={"expr": "input.n == 1"}, then=body)))
    assert begun(story) == ["C/then/A"]
    story.when(succeeds("C/then/A", {"x": "a"}))
    assert story.orders == [like(Execute, step="C/then/B", input={"of": "a 1"})]
    story.when(succeeds("C/then/B", "b"))
    assert story.new[1] == like(f.ControlEnded, result=like_dict(result="b"))


def test_an_exit_in_a_branch_ends_the_run() -> None:
    body = [
        call("look", "A"),
        {"id": "X", "tool_name": "exit", "input": {"status": "error", "message": "no"}},
    ]
    story = given(start(control("decide", if_={"expr": "true"}, then=body), "ship"))
    story.when(succeeds("C/then/A"))
    assert story.new[1] == like(f.ExitReached, status="error")
    assert story.new[-1] == like(f.RunFailed)


# -- gates


@pytest.mark.parametrize(
    ("gate", "verdict"),
    [
        (is_("{{input.n}}", "eq", 1), True),
        (is_(1, "eq", "{{input.n}}"), True),
        (is_(True, "eq", 1), False),
        (is_({"a": [1]}, "eq", {"a": [1]}), True),
        (is_("a", "ne", "b"), True),
        (is_(2, "gt", 1), True),
        (is_(2, "lt", 1), False),
        (is_(2, "gte", 2), True),
        (is_(1.5, "lte", 1), False),
        (is_("", "empty"), True),
        (is_([], "empty"), True),
        (is_(0, "empty"), False),
        (is_({"a": 1}, "not_empty"), True),
        (is_("hello", "contains", "ell"), True),
        (is_([1, 2], "contains", 2), True),
        (is_([1, 2], "contains", True), False),
        ({"expr": "input.n > 0 && size(board) == 0"}, True),
    ],
)
def test_a_gate(gate: dict[str, Any], verdict: bool) -> None:
    story = given(start()).when(proposes(control("decide", if_=gate, then=call("look"))))
    assert story.facts[-2 if verdict else -1] != story.facts[0]
    said = [fact.said["verdict"] for fact in story.facts if isinstance(fact, f.ControlStarted)]
    ended = [fact.result["verdict"] for fact in story.facts if isinstance(fact, f.ControlEnded)]
    assert said + ended == [verdict]


@pytest.mark.parametrize(
    ("gate", "problem"),
    [
        (is_("{{A}}", "gt", 1), "condition: ordering ops need numbers, got string"),
        (is_(1, "lte", "{{A}}"), "condition: ordering ops need numbers, got string"),
        (is_("{{input.n}}", "contains", 5), "condition: contains needs a string or an array, got number"),
        (is_("{{A}}", "contains", 5), "condition: contains in a string needs a string, got number"),
        ({"expr": "input.n"}, "must be true or false"),
        ({"expr": "input.nope > 1"}, "cannot be evaluated"),
    ],
)
def test_a_gate_that_cannot_be_decided_fails_the_step(gate: dict[str, Any], problem: str) -> None:
    story = given(*planned(step("look", "A"), control("decide", if_=gate, then=call("look"))))
    story.when(succeeds("A"))
    assert story.new[1] == like(f.StepFailed, step="C", failure=failure("arguments", problem))


def test_a_gate_that_needs_a_model_says_that_there_is_none() -> None:
    story = given(*planned(control("decide", infer="is it?", then=call("look"))))
    assert like(f.StepFailed, failure=failure("arguments", "'infer' needs a model")) in story.facts


# -- filter


def test_a_filter_parts_a_list_in_two_in_its_order() -> None:
    filter_ = control("filter", over=[3, 1, 2], where={"expr": "item >= 2 && index < 5"})
    story = given(start()).when(proposes(filter_))
    assert story.new[-2] == like(
        f.ControlEnded, result={"count": 2, "items": [3, 2], "dropped": [1], "dropped_count": 1}
    )


def test_what_is_no_array_is_a_defect() -> None:
    for tool, more in (
        ("filter", {"where": {"expr": "true"}}),
        ("map", {"do": call()}),
        ("reduce", {"do": call()}),
    ):
        story = given(*planned(control(tool, over="{{input.n}}", **more)))
        assert (
            like(f.StepFailed, failure=failure("arguments", f"{tool} needs an array in 'over', got number"))
            in story.facts
        )


# -- map


def test_a_map_calls_its_body_for_every_item_one_after_the_other() -> None:
    story = given(start()).when(proposes(over("a", "b")))
    assert story.new[-3:] == [
        f.ControlStarted("C", ("a", "b")), f.BodyStarted("C", "C/do.0"), like(f.StepStarted, step="C/do.0"),
    ]  # fmt: skip
    assert story.orders == [like(Execute, step="C/do.0", input={"n": "a"})]
    story.when(succeeds("C/do.0", "A")).then(
        like(f.StepCompleted), f.BodyStarted("C", "C/do.1", 1), like(f.StepStarted), like(Execute)
    )
    story.when(succeeds("C/do.1", "B")).then(
        like(f.StepCompleted), f.ControlEnded("C", {"count": 2, "results": ["A", "B"]}), like(f.RunCompleted)
    )


def test_a_map_runs_as_many_bodies_at_a_time_as_it_says_and_keeps_the_order() -> None:
    story = given(start()).when(proposes(over("a", "b", "c", concurrency=2)))
    assert begun(story) == ["C/do.0", "C/do.1"]
    story.when(succeeds("C/do.1", "B"))
    assert begun(story) == ["C/do.2"]
    story.when(succeeds("C/do.2", "C")).when(succeeds("C/do.0", "A"))
    assert story.new[1] == f.ControlEnded("C", {"count": 3, "results": ["A", "B", "C"]})


def test_a_map_over_nothing_is_done() -> None:
    story = given(start()).when(proposes(over()))
    assert story.new[-2] == f.ControlEnded("C", {"count": 0, "results": []})


def test_a_failure_in_a_map_lets_items_in_flight_finish_begins_no_more_and_reports_the_lowest() -> None:
    story = given(*planned(over("a", "b", "c", "d", concurrency=3)))
    story.when(fails("C/do.2", "two", no_effect=True)).then(like(f.StepFailed, step="C/do.2"))
    story.when(succeeds("C/do.0")).then(like(f.StepCompleted))
    story.when(fails("C/do.1", "one", no_effect=True))
    assert story.new[1] == like(f.StepFailed, step="C", failure=failure("tool_error", "item 1: one"))
    assert story.new[2] == like(f.ReplanRequested, cause="failure")


def test_under_a_plan_by_a_person_a_failure_in_a_map_undoes_what_it_did() -> None:
    story = given(start(over("a", "b"))).when(succeeds("C/do.0"))
    story.when(fails("C/do.1", no_effect=True))
    assert story.new[2:4] == [like(f.UnwindingBegan, status="failed"), like(f.CompensationIssued)]


def test_no_committed_call_of_a_map_is_made_again_by_the_next_process() -> None:
    story = given(*planned(over(*"abcdef"))).when(succeeds("C/do.0")).when(succeeds("C/do.1"))
    story.when(taken_up("p"))
    assert begun(story) == ["C/do.2"]
    again = fold("run", story.facts)
    assert (again.controls, again.unmet, again.ready) == (
        story.run.controls, story.run.unmet, story.run.ready,
    )  # fmt: skip


def test_a_map_over_a_list_that_changed_between_revisions_acts_on_new_items_only() -> None:
    story = given(*planned(over("a", "b", "c"))).when(succeeds("C/do.0")).when(succeeds("C/do.1"))
    story.when(replan("other items")).when(succeeds("C/do.2"))
    story.when(proposes(step("map", "D", input={"over": ["b", "x", "c"], "do": call(n="{{item}}")})))
    satisfied = [fact.step for fact in story.new if isinstance(fact, f.StepSatisfied)]
    assert (satisfied, begun(story)) == (["D/do.0"], ["D/do.1"])
    story.when(succeeds("D/do.1"))
    assert like(f.StepSatisfied, step="D/do.2") in story.new
    assert like(f.ControlEnded, step="D") in story.new


def test_equal_items_of_a_map_are_operations_of_their_own() -> None:
    story = given(*planned(over("a", "a"))).when(succeeds("C/do.0")).when(succeeds("C/do.1"))
    assert len(story.run.ledger) == 2


def test_a_replan_leaves_a_half_done_map_and_what_it_committed_stays() -> None:
    story = given(*planned(over("a", "b", concurrency=2), step("look", "L"))).when(
        asks_replan("C/do.0", no_effect=True)
    )
    story.when(succeeds("C/do.1"))
    story.when(proposes(step("look", "N")))
    assert story.run.controls == {}
    assert story.run.unmet.keys() == {"N"}
    assert [entry.step for entry in story.run.ledger.values()] == ["C/do.1"]


def test_an_item_whose_outcome_is_unknown_waits_for_a_person() -> None:
    story = given(*planned(control("map", over=["a"], do=call("ship", n="{{item}}")))).when(is_lost("C/do.0"))
    assert status(story.run) == "attention"


def test_a_cancel_ends_a_map_and_undoes_its_items() -> None:
    story = given(*planned(over("a", "b"))).when(succeeds("C/do.0")).when(cancel())
    story.when(succeeds("C/do.1"))
    undone = [fact.of for fact in story.facts if isinstance(fact, f.CompensationIssued)]
    assert undone == [story.key("C/do.1"), story.key("C/do.0")]


def test_a_wait_in_a_body_waits_there() -> None:
    body = [
        {"id": "W", "tool_name": "wait", "input": {"signal": "{{item}}"}},
        call("look", "L", got="{{W.payload}}"),
    ]
    story = given(*planned(control("map", over=["a", "b"], concurrency=2, do=body)))
    assert story.run.waits.keys() == {"C/do.0/W", "C/do.1/W"}
    story.when(signal("b", 7))
    assert story.orders == [like(Execute, step="C/do.1/L", input={"got": 7})]


def test_the_steps_of_bodies_can_be_looked_at() -> None:
    story = given(*planned(over("a", "b"))).when(succeeds("C/do.0"))
    assert [(each.id, each.state) for each in view(story.run).steps] == [
        ("C", "running"), ("C/do.0", "done"), ("C/do.1", "running"),
    ]  # fmt: skip


# -- reduce


def test_a_reduce_hands_each_result_on() -> None:
    body = call("look", sum="{{accumulator}}+{{item}}@{{index}}")
    story = given(start()).when(proposes(control("reduce", over=["a", "b"], do=body, initial="0")))
    assert story.orders == [like(Execute, input={"sum": "0+a@0"})]
    story.when(succeeds("C/do.0", "0a"))
    assert story.orders == [like(Execute, input={"sum": "0a+b@1"})]
    story.when(succeeds("C/do.1", "0ab"))
    assert story.new[1] == f.ControlEnded("C", {"count": 2, "result": "0ab"})


def test_a_reduce_over_nothing_is_its_initial_value() -> None:
    story = given(start()).when(
        proposes(control("reduce", over=[], do=call("look"), initial=["{{input.n}}"]))
    )
    assert story.new[-2] == f.ControlEnded("C", {"count": 0, "result": [1]})


# -- plans in plans

INNER = Plan(
    [
        step("look", "A", input={"x": "{{input.x}}"}),
        step("map", "M", input={"over": "{{A}}", "do": call("reserve", n="{{item}}{{input.x}}")}),
    ],
    output={"all": "{{M.results}}", "of": "{{input.x}}"},
)
PLANS = Catalog(TOOLS.values(), plans={"plan__inner": INNER})


def calling() -> Story:
    return given(start(), proposes(step("plan__inner", "P", input={"x": "{{input.n}}"})), tools=PLANS)


def test_a_plan_as_a_tool_is_run_inside_its_step() -> None:
    story = calling()
    assert story.orders == [like(Execute, step="P/A", input={"x": 1})]
    story.when(succeeds("P/A", ["u", "v"]))
    assert story.orders == [like(Execute, step="P/M/do.0", input={"n": "u1"})]
    story.when(succeeds("P/M/do.0", "U")).when(succeeds("P/M/do.1", "V"))
    assert story.new[1:] == [
        f.ControlEnded("P/M", {"count": 2, "results": ["U", "V"]}),
        f.ControlEnded("P", {"all": ["U", "V"], "of": 1}),
        like(f.RunCompleted, result={"all": ["U", "V"], "of": 1}),
    ]


def test_a_failure_in_a_plan_in_a_plan_is_that_of_its_step() -> None:
    story = calling().when(fails("P/A", "gone"))
    assert [(fact.step, fact.failure.message) for fact in story.new if isinstance(fact, f.StepFailed)] == [
        ("P/A", "gone"), ("P", "gone"),
    ]  # fmt: skip


def test_a_plan_in_a_plan_sees_nothing_of_what_is_around_it() -> None:
    inner = Plan([step("user__look", "A", input={"x": "{{Z}}"})])
    catalog = Catalog(TOOLS.values(), plans={"plan__inner": inner})
    story = given(start(), proposes(step("look", "Z"), step("plan__inner", "P")), tools=catalog)
    story.when(succeeds("Z", 1))
    assert like(f.StepFailed, step="P/A", failure=failure("template", "'Z' which has no result")) in story.new


# -- ask

SCHEMA = {"properties": {"ok": {"type": "boolean"}, "why": {"enum": ["a", "b"]}}, "required": ["ok"]}


def asking(mode: str = "interactive", **terms: Any) -> Story:
    ask = control("ask", prompt="Ship {{input.n}}?", output_schema=SCHEMA, **terms)
    return given(start(ask, step("look", "L", input={"ok": "{{C.answer.ok}}"}), mode=mode))


def test_a_person_is_asked_and_their_answer_is_a_fact() -> None:
    story = asking()
    assert story.facts[-1] == f.QuestionAsked("C", "Ship 1?", SCHEMA)
    assert [(item.kind, item.subject, item.detail) for item in attention(story.run)] == [
        ("question", "C", "Ship 1?")
    ]
    story.when(answers("C", {"ok": True})).then(
        f.QuestionAnswered("C", {"answer": {"ok": True}, "answered": True}, "os:alice"),
        like(f.StepStarted, step="L", input={"ok": True}),
        like(Execute),
    )


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({}, "ok is missing"),
        ({"ok": "yes"}, "ok is a boolean, not 'yes'"),
        ({"ok": True, "why": "c"}, "why is one of 'a', 'b', not 'c'"),
        ({"ok": True, "no": 1}, r"no is no field \(there are: ok, why\)"),
        (True, "an answer is an object with ok, why"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(answer: Any, problem: str) -> None:
    story = asking()
    with pytest.raises(MessageRefused, match=problem):
        story.when(answers("C", answer))


def test_a_declined_question_has_its_default_or_fails() -> None:
    story = asking(when_unanswered="default", default={"ok": False}).when(answers("C", decline=True))
    assert story.new[0] == like(
        f.QuestionAnswered, result={"answer": {"ok": False}, "answered": False, "reason": "declined"}
    )
    story = asking().when(answers("C", decline=True))
    assert story.new[0] == like(f.StepFailed, failure=failure("unanswered", "it was declined"))


def test_autonomous_mode_asks_nobody() -> None:
    story = asking("autonomous", when_unanswered="default", default={"ok": False})
    assert (
        like(f.QuestionAnswered, result={"answer": {"ok": False}, "answered": False, "reason": "unavailable"})
        in story.facts
    )
    assert like(f.StepFailed, failure=failure("unanswered", "autonomous")) in asking("autonomous").facts


def test_people_are_asked_one_question_at_a_time() -> None:
    ask = {"prompt": "?", "output_schema": SCHEMA}
    steps = [step("ask", name, needs=(), input=ask) for name in "AB"]
    story = given(start(*steps, step("look", "L", needs=()), mode="interactive"))
    assert [*story.run.questions] == ["A"]
    assert "L" in story.run.started
    story.when(answers("A", {"ok": True}))
    assert [*story.run.questions] == ["B"]


def test_only_what_is_asked_can_be_answered() -> None:
    story = asking()
    with pytest.raises(MessageRefused, match=r"step 'X' asks nothing \(asked: C\)"):
        story.when(answers("X", {"ok": True}))


# -- plans that cannot be used


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (control("exit"), "'status'"),
        (control("map", over=[1], do=call("shp")), r"step C/do: unknown tool 'shp' \(did you mean 'ship'"),
        (control("map", over=[1], do=call("look", x="{{Q}}")), "refer to 'Q', which is no step"),
        (control("map", over=[1], do=[call("look", "A", x="{{B}}"), call("look", "B")]), "'B'"),
        (control("decide", then=call("look")), "'if'|'infer'"),
    ],
)
def test_a_control_step_that_cannot_work_is_refused_before_the_run_starts(bad: Step, problem: str) -> None:
    with pytest.raises(PlanInvalid, match=problem):
        given(start(bad))
