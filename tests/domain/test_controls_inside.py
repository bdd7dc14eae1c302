"""Control steps inside each other and beside others: what ends what, what is begun, what can be read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from midcourse.domain import facts as f
from midcourse.domain.errors import PlanInvalid
from midcourse.domain.evolve import fold
from midcourse.domain.orders import Execute, MakePlan
from midcourse.domain.plan import Plan, Step
from midcourse.domain.retry import RetryPolicy
from midcourse.domain.summary import status
from midcourse.domain.tools import Catalog
from midcourse.domain.view import view

from .kit import TOOLS, Story, failure, given, has, like, step
from .tellings import cancel, fails, later, planned, proposes, replan, start, succeeds, taken_up
from .test_controls import begun, call, control, over

ASKED = {"properties": {"ok": {"type": "boolean"}}}


def plans(**inner: Plan | Sequence[Step]) -> Catalog:
    """The tools, and plans that steps may call."""
    made = {
        f"plan__{name}": each if isinstance(each, Plan) else Plan(list(each)) for name, each in inner.items()
    }
    return Catalog(TOOLS.values(), plans=made)


def read_back(story: Story) -> None:
    """Every fact can be read again, and comes to the same state."""
    facts = [msgspec.json.decode(msgspec.json.encode(fact), type=type(fact)) for fact in story.facts]
    again = fold(story.run.id, facts)
    assert view(again) == view(story.run)


def calling(catalog: Catalog, *after: Step, **input: Any) -> Story:
    return given(start(step("plan__inner", "P", input=input), *after), tools=catalog)


# -- what is rendered to something else than a text


def test_a_message_that_is_one_tag_is_still_a_text() -> None:
    exit_ = control("exit", status="error", message="{{A}}")
    story = given(start(step("look", "A"), exit_)).when(succeeds("A", {"x": 5}))
    assert story.new[1] == f.ExitReached("C", "error", '{"x":5}', None)
    read_back(story)


def test_a_question_that_is_one_tag_is_still_a_text() -> None:
    ask = control("ask", prompt="{{A}}", output_schema=ASKED)
    story = given(start(step("look", "A"), ask, mode="interactive")).when(succeeds("A", 7))
    assert story.new[-1] == like(f.QuestionAsked, prompt="7")
    read_back(story)


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("no", "it must be a JSON Schema, which is an object, not 'no'"),
        ({}, "'type: object'"),
        ({"type": "array"}, "'type: object'"),
        ({"properties": {"a": {"type": "object"}}}, "property 'a' of what is asked must be a string, number"),
        ({"properties": [1]}, "'properties' must be an object"),
    ],
)
def test_a_schema_that_turns_out_to_be_none_fails_the_step(schema: Any, said: str) -> None:
    ask = control("ask", prompt="?", output_schema="{{A}}")
    story = given(start(step("look", "A"), ask, mode="interactive")).when(succeeds("A", schema))
    assert story.new[1] == like(f.StepFailed, step="C", failure=failure("arguments", said))


def test_a_default_that_does_not_fit_is_no_answer() -> None:
    terms: dict[str, Any] = {"prompt": "?", "output_schema": ASKED, "when_unanswered": "default"}
    with pytest.raises(PlanInvalid, match="'default' does not fit 'output_schema': nok is no field"):
        given(start(control("ask", default={"nok": 1}, **terms)))
    story = given(start(step("look", "A"), control("ask", default="{{A}}", **terms)))
    story.when(succeeds("A", {"ok": "yes"}))
    assert story.new[1] == like(
        f.StepFailed, failure=failure("arguments", "'default' of what is asked: ok is a boolean, not 'yes'")
    )


# -- exit


def test_a_step_that_waits_for_another_attempt_gets_it_before_an_exit_ends_the_run() -> None:
    exit_ = step("exit", "X", needs=("B",), input={"status": "success", "output": {"n": 1}})
    story = given(start(step("look", "A", needs=()), step("look", "B", needs=()), exit_))
    story.when(fails("A", "busy", retry_after_s=2.0)).when(succeeds("B"))
    assert (status(story.run), story.new[-1]) == ("waiting", like(f.ExitReached))
    story.when(later(2.0)).then(like(f.AttemptStarted, attempt=2), like(Execute))
    story.when(succeeds("A")).then(like(f.StepCompleted), f.RunCompleted({"n": 1}))


def test_an_exit_lets_the_item_in_flight_of_a_map_finish_and_begins_no_other() -> None:
    story = given(
        start(
            step("map", "M", needs=(), input={"over": ["a", "b"], "do": call("look")}),
            step("look", "A", needs=()),
            step("exit", "X", needs=("A",), input={"status": "success"}),
        )
    )
    story.when(succeeds("A")).when(succeeds("M/do.0")).then(like(f.StepCompleted), f.RunCompleted(None))


def test_a_cancel_after_an_exit_is_a_cancel() -> None:
    story = given(
        start(step("look", "A", needs=()), step("exit", "X", needs=(), input={"status": "success"}))
    )
    story.when(cancel()).when(succeeds("A"))
    assert story.run.final == "cancelled"


# -- failures, and what goes on beside them


def test_items_in_flight_finish_with_all_the_steps_of_their_bodies() -> None:
    body = [call("look", "A"), call("look", "B")]
    story = given(*planned(control("map", over=["a", "b", "c"], concurrency=2, do=body)))
    story.when(fails("C/do.1/A", "broken")).when(succeeds("C/do.0/A"))
    assert begun(story) == ["C/do.0/B"]
    story.when(succeeds("C/do.0/B"))
    assert story.new[1] == like(f.StepFailed, step="C", failure=failure("tool_error", "item 1: broken"))


def test_a_failure_in_a_dag_of_a_plan_lets_its_steps_in_flight_finish_and_begins_none() -> None:
    steps = (
        step("user__look", "A", needs=()), step("user__look", "B", needs=()),
        step("user__look", "D", needs=("B",)),
    )  # fmt: skip
    story = calling(plans(inner=steps)).when(fails("P/A")).then(like(f.StepFailed, step="P/A"))
    story.when(succeeds("P/B"))
    assert (begun(story), story.new[1]) == ([], like(f.StepFailed, step="P", failure=failure("tool_error")))
    read_back(story)


def test_what_a_failed_plan_waits_for_is_not_waited_for() -> None:
    steps = (step("user__look", "A", needs=()), step("wait", "W", needs=(), input={"signal": "x"}))
    story = calling(plans(inner=steps)).when(fails("P/A"))
    assert story.new[1] == like(f.StepFailed, step="P")
    assert story.run.waits == {}


def test_a_map_in_a_failed_plan_begins_no_more_items() -> None:
    loop = step("map", "M", needs=(), input={"over": ["a", "b"], "do": call("user__look")})
    story = calling(plans(inner=(step("user__look", "A", needs=()), loop))).when(fails("P/A"))
    story.when(succeeds("P/M/do.0"))
    assert (begun(story), story.new[1]) == ([], like(f.StepFailed, step="P"))
    assert story.run.controls == {}
    read_back(story)


def test_the_item_that_failed_can_be_seen() -> None:
    story = given(start(over("a", "b"))).when(fails("C/do.0", no_effect=True))
    assert [(each.id, each.state) for each in view(story.run).steps] == [
        ("C", "failed"), ("C/do.0", "failed"),
    ]  # fmt: skip


# -- plans in plans


def test_an_exit_in_a_plan_ends_that_plan_and_its_caller_goes_on() -> None:
    inner = (control("exit", "X", status="success", output={"a": 1}), step("user__look", "Z"))
    story = calling(plans(inner=inner), step("look", "L", input={"x": "{{P.a}}"}))
    assert story.new[-3:] == [
        f.ExitReached("P/X", "success", "", {"a": 1}), f.ControlEnded("P", {"a": 1}),
        like(f.StepStarted, step="L", input={"x": 1}),
    ]  # fmt: skip
    story.when(succeeds("L"))
    assert story.run.final == "completed"
    read_back(story)


def test_an_exit_with_an_error_in_a_plan_is_a_failed_call() -> None:
    inner = (control("exit", "X", status="error", message="none left"), step("user__look", "Z"))
    story = calling(plans(inner=inner))
    assert story.new[-3] == like(
        f.StepFailed, step="P", failure=failure("tool_error", "none left", tool="plan__inner")
    )
    assert story.run.final == "failed"


def test_an_exit_in_a_plan_waits_for_its_steps_in_flight() -> None:
    inner = (
        step("user__look", "A", needs=()), control("exit", "X", status="success", output={"a": 1}),
        step("user__look", "B", needs=("A",)),
    )  # fmt: skip
    story = calling(plans(inner=inner))
    assert (begun(story), story.new[-1]) == (["P/A"], like(f.ExitReached, step="P/X"))
    story.when(succeeds("P/A")).then(
        like(f.StepCompleted), f.ControlEnded("P", {"a": 1}), like(f.RunCompleted, result={"a": 1})
    )


def test_an_exit_in_a_plan_that_a_map_calls_ends_that_item() -> None:
    gate = control("exit", "X", status="success", output={"skipped": True}, when={"expr": "input.n > 1"})
    inner = Plan([gate, step("user__look", "A")], output={"seen": "{{A}}"})
    body = {"tool_name": "plan__inner", "input": {"n": "{{item}}"}}
    story = given(start(control("map", over=[1, 2], concurrency=2, do=body)), tools=plans(inner=inner))
    story.when(succeeds("C/do.0/A", "a"))
    assert story.run.outcome == {"count": 2, "results": [{"seen": "a"}, {"skipped": True}]}


def test_a_plan_in_a_plan_may_use_bare_names() -> None:
    story = calling(plans(inner=(step("look", "Z"), over("a"))))
    assert story.orders == [like(Execute, step="P/Z", tool="user__look")]
    story.when(succeeds("P/Z"))
    assert story.orders == [like(Execute, step="P/C/do.0", tool="user__reserve")]


def test_plans_that_call_each_other_in_a_circle_fail() -> None:
    catalog = plans(inner=(step("plan__other", "O"),), other=(step("plan__inner", "I"),))
    story = calling(catalog)
    said = failure("arguments", "recursive plan cycle: inner → other → inner")
    assert like(f.StepFailed, step="P/O/I", failure=said) in story.facts
    assert story.run.final == "failed"


def test_plans_may_be_called_eight_deep() -> None:
    chain = {f"p{n}": (step(f"plan__p{n + 1}", "S"),) for n in range(1, 8)}
    story = given(start(step("plan__p1", "P")), tools=plans(**chain, p8=(step("look", "Z"),)))
    assert begun(story) == ["P/S/S/S/S/S/S/S/Z"]
    chain["p8"] = (step("plan__p9", "S"),)
    story = given(start(step("plan__p1", "P")), tools=plans(**chain, p9=(step("look", "Z"),)))
    said = failure("arguments", "plans call plans 9 deep, at most 8 are allowed: p1 → p2")
    assert like(f.StepFailed, failure=said) in story.facts


def test_a_plan_that_was_missing_is_there_again() -> None:
    catalog = plans(inner=(step("look", "Z"),))
    story = given(start(step("look", "A"), step("plan__inner", "P")), tools=catalog)
    story.when(succeeds("A"), tools=Catalog(TOOLS.values()))
    assert story.new[-1] == f.PartMissing("tool", "plan__inner")
    story.when(taken_up(), tools=catalog)
    assert (story.new[0], begun(story)) == (f.PartRestored("tool", "plan__inner"), ["P/Z"])


def test_the_inputs_of_a_plan_have_its_defaults_and_are_checked() -> None:
    def take(given: Mapping[str, Any]) -> tuple[Mapping[str, Any], Sequence[str]]:
        return {"many": 2, **given}, [] if isinstance(given.get("sku"), str) else ["sku: 1 is no text"]

    inner = Plan([step("user__look", "A", input={"x": "{{input.sku}} {{input.many}}"})])
    catalog = Catalog(TOOLS.values(), plans={"plan__inner": inner}, inputs={"plan__inner": take})
    assert calling(catalog, sku="lamp").orders == [like(Execute, input={"x": "lamp 2"})]
    said = failure("arguments", "plan__inner takes other inputs: sku: 1 is no text")
    assert like(f.StepFailed, step="P", failure=said) in calling(catalog, sku=1).facts


def test_a_branch_in_a_plan_in_a_map_reads_the_inputs_of_its_own_call() -> None:
    branch = control(
        "decide",
        if_={"expr": "input.x > 1"},
        then=call("look", y="{{input.x}}"),
        else_=call("look", y="small"),
    )
    inner = Plan([branch], output={"r": "{{C.result}}"})
    body = {"tool_name": "plan__inner", "input": {"x": "{{item}}"}}
    story = given(start(control("map", "M", over=[1, 2], concurrency=2, do=body)), tools=plans(inner=inner))
    assert [order.input for order in story.orders if isinstance(order, Execute)] == [{"y": "small"}, {"y": 2}]
    story.when(succeeds("M/do.1/C/then", "b")).when(succeeds("M/do.0/C/else", "a"))
    assert story.run.outcome == {"count": 2, "results": [{"r": "a"}, {"r": "b"}]}


def test_the_items_of_a_list_in_a_plan_are_parted_by_its_inputs() -> None:
    parted = control("filter", "F", over="{{input.xs}}", where={"expr": "item > input.least"})
    story = calling(plans(inner=Plan([parted], output={"kept": "{{F.items}}"})), xs=[1, 5], least=2)
    assert story.run.outcome == {"kept": [5]}


# -- what people and planners write


def test_what_happens_in_a_body_is_not_visible_outside() -> None:
    reads = step("look", "E", input={"x": "{{B}}"})
    with pytest.raises(PlanInvalid, match="'B', which is no step"):
        given(start(control("map", over=["a"], do=[call("look", "B")]), reads))


def test_ids_are_unique_in_bodies_too() -> None:
    with pytest.raises(PlanInvalid, match="two steps have the id 'B'; ids are unique, in bodies too"):
        given(start(step("look", "B"), control("map", over=["a"], do=[call("look", "B")])))


@pytest.mark.parametrize("tool", ["map", "plan__inner"])
@pytest.mark.parametrize(
    "field", [{"operation": "x"}, {"timeout_s": 1.0}, {"again": True}, {"retry": RetryPolicy(max_attempts=2)}]
)
def test_a_field_that_would_say_nothing_is_refused(tool: str, field: dict[str, Any]) -> None:
    bad = over("a") if tool == "map" else step(tool, "C")
    with pytest.raises(
        PlanInvalid, match=f"{tool!r} is carried out by the run itself and takes no {next(iter(field))!r}"
    ):
        given(start(msgspec.structs.replace(bad, **field)), tools=plans(inner=(step("look", "Z"),)))


def test_a_planner_is_asked_again_with_the_failure_of_a_body() -> None:
    story = (
        given(*planned(over("a", "b"))).when(succeeds("C/do.0")).when(fails("C/do.1", "gone", no_effect=True))
    )
    assert story.new[2] == like(f.ReplanRequested, cause="failure", step="C", reason="item 1: gone")
    [order] = story.orders
    assert isinstance(order, MakePlan)
    assert [(entry.step, entry.tool) for entry in order.context.ledger] == [("C/do.0", "user__reserve")]
    story.when(proposes(step("map", "D", input={"over": ["b", "a"], "do": call(n="{{item}}")})))
    story.when(succeeds("D/do.0"))
    assert like(f.StepSatisfied, step="D/do.1", operation=story.run.done["C/do.0"]) in story.new
    assert story.run.final == "completed"


def test_data_that_ran_out_in_a_body_is_told_apart() -> None:
    body = call("look", x="{{item.0}}")
    story = given(start(control("map", over=[["a"], []], do=body))).when(succeeds("C/do.0"))
    failed = story.new[-2].failure if isinstance(story.new[-2], f.UnwindingBegan) else None
    assert failed == like(f.Failure, empty_data=True, message=has("item 1: empty data at 'item.0'"))


def test_a_plan_that_is_left_in_the_middle_of_a_plan_in_a_plan_is_left_whole() -> None:
    inner = (step("user__look", "A"), step("user__look", "B"))
    story = given(start(), proposes(step("plan__inner", "P")), tools=plans(inner=inner))
    story.when(replan()).when(succeeds("P/A")).when(proposes(step("look", "N")))
    assert (story.run.controls, [*story.run.unmet]) == ({}, ["N"])
    story.when(succeeds("N"))
    assert story.run.final == "completed"
    read_back(story)


# -- retries of a step's own


def test_a_step_may_have_a_retry_policy_of_its_own() -> None:
    patient = step("ship", "E0", retry=RetryPolicy(max_attempts=2))
    story = given(start(patient))
    assert story.orders == [like(Execute, retry=RetryPolicy(max_attempts=2))]
    story.when(fails("E0", retry_after_s=1.0)).then(like(f.AttemptFailed))
    story.when(later(1.0))
    assert story.orders == [like(Execute, attempt=2, retry=RetryPolicy(max_attempts=2))]
    story.when(fails("E0", retry_after_s=1.0))
    assert story.new[0] == like(f.StepFailed)
    read_back(story)


def test_the_retry_policy_of_a_step_takes_the_place_of_its_tools() -> None:
    given(start(step("notify", retry=RetryPolicy(max_attempts=1)))).when(fails("E0", retry_after_s=1.0)).then(
        like(f.StepFailed), like(f.UnwindingBegan), like(f.RunFailed)
    )


def test_the_steps_of_a_body_have_policies_of_their_own() -> None:
    body = {**call("ship"), "retry": {"max_attempts": 2}}
    story = given(start(control("map", over=["a"], do=body))).when(fails("C/do.0", retry_after_s=1.0))
    assert story.new == [like(f.AttemptFailed)]


def test_how_many_attempts_may_be_lost_is_a_steps_own_too() -> None:
    story = given(start(step("look", retry=RetryPolicy(max_lost=1)))).when(taken_up())
    story.then(like(f.AttemptLost), like(f.AttemptStarted, attempt=2), like(Execute))
    story.when(taken_up())
    assert story.new[0] == like(f.StepFailed, failure=failure("lost"))


def test_a_policy_that_allows_no_attempt_is_refused() -> None:
    with pytest.raises(PlanInvalid, match=r"retry\.max_attempts is 0; the first one counts"):
        given(start(step("look", retry=RetryPolicy(max_attempts=0))))
