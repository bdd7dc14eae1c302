"""What a planner is told."""

from __future__ import annotations

from midcourse.domain.briefing import brief, next_id

from .kit import CATALOG, given, has, step
from .tellings import asks_replan, fails, goal_reached, planned, proposes, signal, start, succeeds


def test_at_the_start_it_is_told_the_goal_and_the_tools() -> None:
    story = given(start())
    context = brief(story.run, CATALOG)
    assert (context.goal.text, context.inputs, context.tools) == ("g", {"n": 1}, CATALOG)
    assert (context.run_id, context.epoch, context.revision, context.is_replanning) == ("run", 1, 0, False)
    assert (context.reason, context.ledger, context.next_id) == ("start", (), 0)


def test_later_on_it_is_told_what_was_done_what_was_not_and_why() -> None:
    story = given(*planned("reserve", "ship", "look", "notify"), succeeds("E0"), succeeds("E1", 5))
    story.when(asks_replan("E2", "closed", port="Oslo"))
    context = brief(story.run, CATALOG)
    assert (context.revision, context.is_replanning, context.reason) == (1, True, "closed")
    assert [each.id for each in context.executed] == ["E0", "E1"]
    assert [each.id for each in context.superseded] == ["E2", "E3"]
    assert [(each.tool, each.step, each.state) for each in context.ledger] == [
        ("user__reserve", "E0", "committed"),
        ("user__ship", "E1", "committed"),
    ]
    assert context.board == {"port": "Oslo"}
    assert [each.message for each in context.failures] == ["closed"]
    assert context.excluded == {"user__look"}
    assert context.next_id == 4


def test_irreversible_effects_are_constraints() -> None:
    story = given(*planned("reserve", "ship", "look"), succeeds("E0"), succeeds("E1"), fails("E2"))
    assert [each.tool for each in brief(story.run, CATALOG).constraints] == ["user__ship"]


def test_entries_that_are_undone_stay_in_the_ledger_and_say_so() -> None:
    story = given(*planned("reserve", "look"), succeeds("E0"), fails("E1"), proposes("look", undo=("E0",)))
    story.when(succeeds("undo E0"))
    context = brief(story.run, CATALOG)
    assert [each.state for each in context.ledger] == ["undone"]
    assert context.committed("reserve") == ()


def test_committed_finds_standing_operations_by_full_or_bare_name() -> None:
    context = brief(given(start("reserve", "look"), succeeds("E0")).run, CATALOG)
    assert len(context.committed("reserve")) == len(context.committed("user__reserve")) == 1
    assert context.committed("release") == ()


def test_the_problems_of_refused_answers_go_back_until_a_plan_is_accepted() -> None:
    story = given(start(), proposes("shp"), proposes("lok"))
    assert [*brief(story.run, CATALOG).refusals] == [has("'shp'"), has("'lok'")]
    story.when(proposes("look"))
    assert brief(story.run, CATALOG).refusals == ()


def test_what_a_context_holds_does_not_change_with_the_run() -> None:
    story = given(*planned("look"), asks_replan("E0", a=1))
    context = brief(story.run, CATALOG)
    story.when(proposes("look")).when(signal()).when(asks_replan("E1", "b", b=2))
    assert context.board == {"a": 1}
    assert context.signals == ()


def test_new_numbers_are_above_all_that_were_started_or_are_planned() -> None:
    assert next_id(given(start("look", "ship")).run) == 2
    assert next_id(given(start(step("look", "A"), step("look", "E7x"))).run) == 0
    story = given(*planned(step("look", "E9"), "ship"), fails("E9"), goal_reached())
    assert next_id(story.run) == 10
