"""Which operation a step means: intents, and positions among equal ones."""

from __future__ import annotations

import pytest

from midcourse.domain import facts as f
from midcourse.domain.plan import Step

from .kit import Story, given, has, like, step
from .tellings import fails, is_lost, planned, probe_says, proposes, start, succeeds


def numbers(story: Story) -> list[int]:
    """Which number of their intent the steps of the plan mean, in plan order."""
    return [int(story.run.done[each].rpartition(".")[2]) for each in story.run.order]


def intents(*steps: Step) -> list[str]:
    story = given(start(*steps))
    for each in story.run.order:
        story.take(succeeds(each))
    return [story.run.done[each].rpartition(".")[0] for each in story.run.order]


def carried_out(*tails: list[Step]) -> Story:
    """A run that was planned so, each tail done but for a look that fails and asks for the next one."""
    story = given(start())
    for place, tail in enumerate(tails):
        story.take(proposes(*tail, "look"))
        while (last := next(iter(story.run.running.values()))).tool != "user__look":
            story.take(succeeds(last.step))
        story.take(fails(last.step, f"reason {place}"))
    return story


NOTE = step("notify", input={"text": "hi"})
AGAIN = step("notify", input={"text": "hi"}, again=True)


def test_the_key_says_tool_and_number_and_not_step_or_revision() -> None:
    story = given(*planned(step("ship", "first", input={"a": 1})))
    key = story.key("first")
    assert key == has("user__ship:", ".0")
    story.when(fails("first")).when(proposes(step("ship", "second", input={"a": 1})))
    assert story.key("second") == key


def test_all_arguments_identify_by_default_in_any_order() -> None:
    one, two, three = intents(
        step("ship", input={"a": 1, "b": 2}),
        step("ship", input={"b": 2, "a": 1}),
        step("ship", input={"a": 1}),
    )
    assert one == two != three


def test_a_tool_may_name_the_arguments_that_identify() -> None:
    one, two = intents(
        step("charge", input={"order": 1, "amount": 5}), step("charge", input={"order": 1, "amount": 7})
    )
    assert one == two


def test_a_step_may_name_its_operation_itself() -> None:
    one, two, three = intents(
        step("ship", input={"a": 1}, operation="parcel {{input.n}}"),
        step("ship", input={"a": 2}, operation="parcel 1"),
        step("ship", input={"a": 1}),
    )
    assert one == two != three


def test_an_operation_that_renders_to_nothing_is_not_the_same_as_none() -> None:
    one, two = intents(step("ship", operation="{{#input.none}}x{{/input.none}}"), step("ship"))
    assert one != two


def test_tools_do_not_share_operations() -> None:
    one, two = intents(step("ship", input={"a": 1}), step("notify", input={"a": 1}))
    assert one != two


def test_two_equal_steps_of_one_plan_are_two_operations() -> None:
    assert numbers(carried_out([NOTE, NOTE]).when(proposes())) == [0, 1]


@pytest.mark.parametrize("needs", [None, ()])
def test_a_tail_that_repeats_committed_intents_is_satisfied_from_the_ledger(needs: tuple[()] | None) -> None:
    story = carried_out([NOTE, NOTE])
    again = step("notify", input={"text": "hi"}, needs=needs)
    story.when(proposes(again, again))
    assert story.new[2:4] == [like(f.StepSatisfied), like(f.StepSatisfied)]
    assert numbers(story) == [0, 1, 0, 1]


def test_one_more_than_were_committed_is_a_new_operation() -> None:
    story = carried_out([NOTE], [NOTE, NOTE]).when(proposes())
    assert numbers(story) == [0, 0, 1]


def test_again_asks_for_one_more_and_takes_the_next_number_nobody_used() -> None:
    story = carried_out([NOTE], [AGAIN], [AGAIN]).when(proposes())
    assert numbers(story) == [0, 1, 2]


def test_again_before_an_equal_step_does_not_move_that_step_on() -> None:
    story = carried_out([NOTE], [AGAIN, NOTE]).when(proposes())
    assert numbers(story) == [0, 1, 0]


def test_again_in_a_new_run_and_an_equal_step_are_two_operations() -> None:
    for tail in ([AGAIN, NOTE], [NOTE, AGAIN]):
        assert numbers(carried_out(tail).when(proposes())) == [0, 1]


def test_an_equal_step_passes_over_the_numbers_that_again_has_taken_in_its_tail() -> None:
    story = carried_out([NOTE], [AGAIN, NOTE, NOTE]).when(proposes())
    assert numbers(story) == [0, 1, 0, 2]


def test_undone_operations_do_not_count() -> None:
    reserve = step("reserve", input={"n": 1})
    story = carried_out([reserve, reserve])
    story.when(proposes(reserve, "look", undo=("E0",))).when(succeeds("undo E0"))
    assert story.new[1] == f.StepSatisfied("E3", story.key("E1"))
    story.when(fails("E4", "other")).when(proposes(reserve, reserve, "look"))
    assert story.new[2:4] == [
        f.StepSatisfied("E5", story.key("E1")),
        like(f.StepStarted, step="E6", operation=has(".2")),
    ]


def test_a_read_runs_again_in_a_new_tail_and_is_kept_while_its_step_is() -> None:
    read = step("look", input={"at": "x"})
    story = given(*planned(read, "ship"), succeeds("E0"), fails("E1")).when(proposes(read, "ship"))
    assert story.new[-1] == like(f.StepStarted, step="E2", operation=has(".1"))
    assert story.run.done == {"E0": has(".0")}


def test_a_failed_again_is_a_new_operation_and_a_failed_other_step_is_the_same() -> None:
    story = given(*planned(NOTE), fails("E0"), proposes(NOTE))
    assert story.key("E1") == has(".0")
    story.when(fails("E1", "other")).when(proposes(AGAIN))
    assert story.key("E2") == has(".1")


# -- conflicts that show before anything runs


CHARGE = step("charge", input={"order": 1, "amount": 5})
DEARER = step("charge", input={"order": 1, "amount": 7})


def judged(story: Story, *steps: str | Step, undo: tuple[str, ...] = ()) -> str:
    story.when(proposes(*steps, undo=undo))
    rejected = story.new[1]
    return rejected.problems[0] if isinstance(rejected, f.ProposalRejected) else ""


def charged() -> Story:
    return given(*planned(CHARGE, "look"), succeeds("E0"), fails("E1"))


def test_the_same_content_is_no_conflict() -> None:
    assert judged(charged(), CHARGE) == ""


def test_other_content_under_the_same_identity_is_one() -> None:
    assert judged(charged(), DEARER) == has("operation conflict", "'E2'", "'E0'", "with other arguments")


def test_other_content_under_a_new_identity_is_none() -> None:
    assert judged(charged(), step("charge", input={"order": 2, "amount": 7})) == ""
    assert judged(charged(), step("charge", input={"order": 1, "amount": 7}, operation="tip")) == ""


def test_other_content_is_no_conflict_where_it_is_asked_for_again_or_comes_second() -> None:
    again = step("charge", input={"order": 1, "amount": 7}, again=True)
    assert judged(charged(), again) == ""
    assert judged(charged(), CHARGE, DEARER) == ""
    assert judged(charged(), again, CHARGE) == ""


def test_other_content_is_no_conflict_where_the_plan_takes_the_first_back() -> None:
    story = charged()
    assert judged(story, DEARER, undo=("E0",)) == ""
    story = charged()
    refund = step("refund", undoes=story.key("E0"))
    assert judged(story, refund, DEARER) == ""


def test_what_was_taken_back_is_no_conflict() -> None:
    story = charged().when(proposes("look", undo=("E0",))).when(succeeds("undo E0")).when(fails("E2", "x"))
    assert judged(story, DEARER) == ""


def test_what_templates_bring_is_judged_when_it_is_known() -> None:
    assert judged(charged(), "look", step("charge", input={"order": 1, "amount": "{{E2}}"})) == ""


def test_a_step_behind_one_whose_identity_is_not_known_is_judged_when_it_is() -> None:
    unclear = step("charge", input={"order": "{{E2}}", "amount": 5})
    assert judged(charged(), "look", unclear, DEARER) == ""


def test_an_identity_may_be_known_though_other_arguments_are_not() -> None:
    same = step("charge", input={"order": 1, "amount": "{{E2}}"})
    assert judged(charged(), "look", same, DEARER) == ""


def test_a_conflict_with_an_effect_whose_undo_waits_for_a_person_is_named() -> None:
    story = charged().when(proposes("look", undo=("E0",))).when(fails("undo E0")).when(fails("E2", "x"))
    assert judged(story, CHARGE) == has("is being undone")


def test_an_effect_that_was_unknown_and_happened_satisfies_the_next_plan() -> None:
    story = given(*planned(CHARGE, "look"), is_lost("E0"), probe_says("E0", True), fails("E1"))
    story.when(proposes(CHARGE))
    assert story.new[2] == f.StepSatisfied("E2", story.key("E0"))
