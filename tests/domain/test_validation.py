"""Whether a plan can be used: every problem at once, each naming its step."""

from __future__ import annotations

import pytest

from midcourse.domain.briefing import next_id
from midcourse.domain.decide.validation import normalize, problems_of
from midcourse.domain.plan import Plan, Step
from midcourse.domain.tools import Catalog, ToolSpec

from .kit import CATALOG, Story, given, has, step
from .tellings import fails, planned, proposes, start, succeeds, waives

SCHEMA = {"properties": {"to": {}, "weight": {}}, "required": ["to"], "additionalProperties": False}
SEND = Catalog([ToolSpec("user__send", input_schema=SCHEMA), ToolSpec("other__send"), ToolSpec("user__look")])


def problems(*steps: Step, tools: Catalog = CATALOG, story: Story | None = None, undo: str = "") -> list[str]:
    run = (story or given(start())).run
    plan = Plan(steps, [undo] if undo else [])
    return [*problems_of(run, normalize(plan, tools, next_id(run)), tools)]


def test_a_plan_without_problems_has_none() -> None:
    assert problems(step("look"), step("ship", "a_1", input={"n": "{{E0}}"}), step("notify")) == []


@pytest.mark.parametrize(
    ("id", "problem"),
    [
        ("1a", "must be letters, digits and _"),
        ("a-b", "must be letters, digits and _"),
        ("input", "is reserved (accumulator, board"),
        ("E0", "is done with another tool; it keeps its place: leave it out"),
    ],
)
def test_ids(id: str, problem: str) -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"))
    assert problems(step("look", id), story=story) == [has(repr(id), problem)]


def test_two_steps_with_one_id() -> None:
    assert problems(step("look", "A"), step("look", "A")) == [has("two steps have the id 'A'")]


def test_a_step_that_never_began_may_be_planned_again_under_its_id() -> None:
    story = given(*planned("look", "ship"), fails("E0"))
    assert problems(step("ship", "E1"), story=story) == []


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("user__shp", "unknown user tool 'user__shp' (did you mean 'user__ship'?)"),
        ("shp", "unknown tool 'shp' (did you mean 'ship'?)"),
        ("zzzzzz", "(registered: user__charge, user__look"),
    ],
)
def test_unknown_tools(name: str, problem: str) -> None:
    assert problems(step(name)) == [has("step E0", problem)]


def test_an_ambiguous_tool() -> None:
    assert problems(step("send"), tools=SEND) == [
        has("'send' is ambiguous; write one of other__send, user__send")
    ]


def test_arguments() -> None:
    assert problems(step("user__send", input={"weigth": 1}), tools=SEND) == [
        has("takes no argument 'weigth' (did you mean 'weight'?)"),
        has("needs the argument 'to'"),
    ]
    assert problems(step("user__send", input={"to": 1, "zzz": 2}), tools=SEND) == [
        has("takes no argument 'zzz' (it takes: to, weight)")
    ]
    assert problems(step("look", input={"anything": 1}), tools=SEND) == []


def test_more_arguments_where_the_tool_allows_them() -> None:
    tools = Catalog([ToolSpec("t", input_schema={"properties": {}, "additionalProperties": True})])
    assert problems(step("t", input={"x": 1}), tools=tools) == []


def test_a_time_to_take_is_above_nothing() -> None:
    assert problems(step("look", timeout_s=0.0)) == [has("timeout_s must be above 0 seconds, not 0.0")]


def test_templates() -> None:
    assert problems(step("look", input={"x": "{{E0"})) == [has("step E0:")]
    assert problems(step("look", input={"x": "{{E7.id}}"})) == [
        has("step E0", "'E7', which is no step (available: board, input)")
    ]
    assert problems(step("look", input={"x": "{{E1.id}}"}), step("look")) == [
        has("'E1', which comes later; move it before")
    ]
    assert problems(step("look", operation="{{E7}}")) == [has("'E7', which is no step")]
    assert problems(step("look", input={"x": "{{input.n}} {{board.n}}"})) == []


def test_in_a_dag_templates_may_refer_to_any_step() -> None:
    assert problems(step("look", input={"x": "{{E1.id}}"}, needs=()), step("look")) == []


def test_templates_may_refer_to_executed_steps_only_if_they_are_done() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"))
    assert problems(step("ship", input={"a": "{{E0}}"}), story=story) == []
    assert problems(step("ship", input={"a": "{{E1}}"}), story=story) == [
        has("'E1', which is no step (available: E0, board, input)")
    ]


def test_needs() -> None:
    assert problems(step("look", needs=("E7",))) == [has("needs 'E7', which is no step (available: E0)")]
    assert problems(step("look"), step("look", needs=("E0",))) == []


def test_cycles_are_shown_as_a_path() -> None:
    assert problems(
        step("look", "A", needs=("B",)),
        step("look", "B", input={"x": "{{C}}"}),
        step("look", "C", needs=("A",)),
    ) == [has("in a cycle: A → B → C → A; break it")]
    assert problems(step("look", "A", needs=("A",))) == [has("A → A")]


def test_undo() -> None:
    story = given(*planned("reserve", "ship", "look"), succeeds("E0"), succeeds("E1"), fails("E2"))
    reserved, shipped = story.key("E0"), story.key("E1")
    assert problems(story=story, undo=reserved) == []
    assert problems(story=story, undo="x.0") == [has("'x.0', which is not committed (committed: ", reserved)]
    assert problems(story=story, undo=shipped) == [has("of user__ship, whose effect is irreversible")]
    run = story.run
    twice = problems_of(run, Plan((), [reserved, reserved]), CATALOG)
    assert [*twice] == [has("twice; list it once")]


def test_undo_of_what_is_undone_or_kept() -> None:
    story = given(*planned("charge", "look"), succeeds("E0"), fails("E1"), proposes("look", undo=("E0",)))
    key = story.key("E0")
    assert problems(story=story, undo=key) == [has("which is undoing already")]
    story.when(fails("undo E0")).when(waives("E0"))
    assert problems(story=story, undo=key) == [has("which a person decided to keep")]
    assert problems(step("refund", undoes=key), story=story) == [has("which a person decided to keep")]
    story.when(succeeds("undo E0", attempt=1))
    assert problems(story=story, undo=key) == [has("which is undone already")]
    assert problems(step("refund", undoes=key), story=story) == []


def test_steps_that_undo() -> None:
    story = given(*planned("reserve", "ship", "look"), succeeds("E0"), succeeds("E1"), fails("E2"))
    reserved, shipped = story.key("E0"), story.key("E1")
    assert problems(step("release", undoes=reserved), story=story) == []
    assert problems(step("refund", undoes=reserved), story=story) == [
        has("is undone by user__release, not by user__refund")
    ]
    assert problems(step("release", undoes=shipped), story=story) == [has("cannot be undone")]
    assert problems(step("release", undoes="x.0"), story=story) == [has("is not committed")]
    assert problems(step("release", undoes=reserved), story=story, undo=reserved) == [
        has("undone elsewhere in this plan; say it once")
    ]


def test_a_step_that_calls_an_undo_tool_says_what_it_undoes() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"))
    key = story.key("E0")
    assert problems(step("release"), story=story) == [has("user__release takes back what stands", key)]
    assert problems(step("release", undoes=key), step("release"), story=story) == []
    assert problems(step("release"), story=story, undo=key) == []
    assert problems(step("release")) == []


def test_an_undo_is_not_undone() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"))
    story.when(proposes(step("release", undoes=story.key("E0")), "look")).when(succeeds("E2"))
    assert problems(story=story, undo=story.key("E2")) == [has("which undid", "plan that effect again")]


def test_all_problems_are_told_at_once() -> None:
    found = problems(step("shp", "1"), step("look", input={"x": "{{E9}}"}), undo="x.0")
    assert len(found) == 4


# -- names and numbers


def test_steps_without_an_id_are_numbered_and_keep_clear_of_those_that_have_one() -> None:
    plan = normalize(Plan([step("look"), step("look", "E1"), step("look")]), CATALOG, 0)
    assert [each.id for each in plan.steps] == ["E0", "E1", "E2"]


def test_numbers_go_on_where_the_run_is() -> None:
    plan = normalize(Plan([step("look"), step("look")]), CATALOG, 7)
    assert [each.id for each in plan.steps] == ["E7", "E8"]


def test_names_that_resolve_to_nothing_are_left_as_they_are() -> None:
    plan = normalize(Plan([step("user__look"), step("look"), step("shp")]), CATALOG, 0)
    assert [each.tool_name for each in plan.steps] == ["user__look", "user__look", "shp"]
