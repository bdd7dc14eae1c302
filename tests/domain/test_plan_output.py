"""How a plan says what its run ends with, and whether its effects are undone if it fails."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.errors import PlanInvalid
from midcourse.domain.goal import Goal
from midcourse.domain.plan import Plan

from .kit import START_AT, Telling, given, like, step
from .tellings import cancel, fails, is_lost, succeeds


def start(*tools: str, **fields: Any) -> Telling:
    plan = Plan([step(tool) for tool in tools], **fields)
    return m.StartRun(at=START_AT, goal=Goal("g", {"n": 1}), lineage="run", plan=plan)


def test_a_run_ends_with_the_output_of_its_plan() -> None:
    output = {"seen": "{{E0.items}}", "n": "{{input.n}}", "text": "{{E0.items.length}} seen"}
    story = given(start("look", "notify", output=output), succeeds("E0", {"items": [1, 2]}))
    story.when(succeeds("E1")).then(
        like(f.StepCompleted),
        f.RunCompleted({"seen": [1, 2], "n": 1, "text": "2 seen"}),
    )


def test_without_an_output_it_ends_with_the_last_result() -> None:
    given(start("look")).when(succeeds("E0", 7)).then(like(f.StepCompleted), f.RunCompleted(7))


def test_an_output_that_leads_nowhere_fails_the_run_and_undoes_it() -> None:
    story = given(start("reserve", "look", output={"id": "{{E0.idd}}"}), succeeds("E0", {"id": 1}))
    story.when(succeeds("E1")).then(
        like(f.StepCompleted),
        f.UnwindingBegan(
            "failed", like(f.Failure, kind="template", error_type="BadPath", step="", empty_data=False)
        ),
        like(f.CompensationIssued, operation=story.key("undo E0")),
        like(f.CompensationStarted),
        *story.orders,
    )


def test_an_output_over_no_data_says_so() -> None:
    story = given(start("look", output={"id": "{{E0.items.0}}"})).when(succeeds("E0", {"items": []}))
    assert story.run.outcome.empty_data is True


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ({"a": "{{E7.a}}"}, "output: its templates refer to 'E7', which is no step"),
        ({"a": "{{E0.a"}, "output: template syntax error in 'a' at line 1, column 1"),
    ],
)
def test_an_output_is_checked_before_anything_runs(output: dict[str, Any], said: str) -> None:
    with pytest.raises(PlanInvalid, match=said):
        given(start("look", output=output))


def test_effects_stand_where_the_plan_says_so() -> None:
    begin = start("reserve", "ship", compensate_on_failure=False)
    failed = given(begin, succeeds("E0", 1)).when(fails("E1"))
    assert (failed.run.final, [entry.state for entry in failed.run.ledger.values()]) == (
        "failed",
        ["committed"],
    )
    cancelled = given(begin, succeeds("E0", 1), cancel()).when(is_lost("E1", "cancelled"))
    assert [entry.state for entry in cancelled.run.ledger.values()] == ["committed"]
    assert cancelled.run.undos == {}
