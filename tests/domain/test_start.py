"""The start of a run."""

from __future__ import annotations

import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.errors import InvalidInputError, MessageRefused, PlanInvalid
from midcourse.domain.goal import Goal
from midcourse.domain.orders import Execute, MakePlan
from midcourse.domain.plan import Plan

from .kit import CATALOG, START_AT, given, has, like, step
from .tellings import later, planned, signal, start, succeeds


def test_with_a_planner_it_is_asked() -> None:
    story = given().when(start(key="order-42", tags={"a": "b"}, mode="interactive"))
    story.then(
        f.RunStarted(
            Goal("g", {"n": 1}),
            "p",
            "interactive",
            "order-42",
            "run",
            {"a": "b"},
            catalog=CATALOG.digest,
            by="engine",
            at=START_AT,
        ),
        f.PlanRequested(1, "p", "start"),
        like(MakePlan, planner="p"),
    )


def test_with_a_plan_its_first_step_begins_at_once() -> None:
    given().when(start("look", "ship")).then(
        like(f.RunStarted, planner=""),
        like(f.PlanProposed, epoch=1, author="human"),
        like(f.PlanAccepted, revision=1, author="human", added=("E0", "E1"), kept=(), superseded=()),
        like(f.StepStarted, step="E0", tool="user__look", attempt=1),
        like(Execute, step="E0", tool="user__look", attempt=1),
    )


def test_a_plan_without_steps_is_done_at_once() -> None:
    message = m.StartRun(at=1.0, goal=Goal("g"), lineage="run", plan=Plan())
    given().when(message).then(
        like(f.RunStarted), like(f.PlanProposed), like(f.PlanAccepted, stability=0), f.RunCompleted(None)
    )


def test_a_plan_that_cannot_be_used_is_refused_before_anything_is_recorded() -> None:
    story = given()
    with pytest.raises(PlanInvalid, match="unknown tool 'lok'"):
        story.when(start("lok"))
    assert story.run.version == 0


def test_it_needs_a_plan_or_a_planner() -> None:
    with pytest.raises(MessageRefused, match="give it a plan or name a planner"):
        given().when(m.StartRun(at=1.0, goal=Goal("g"), lineage="run"))


def test_a_run_starts_once() -> None:
    with pytest.raises(MessageRefused, match="run run was started already"):
        given(start()).when(start())


@pytest.mark.parametrize("message", [signal(), later(1.0)])
def test_nothing_else_can_be_the_first_of_a_run(message: m.Message) -> None:
    with pytest.raises(MessageRefused, match="run run was never started"):
        given().when(message)


def test_inputs_are_held_as_a_replay_reads_them() -> None:
    goal = Goal("g", {"sizes": (1, 2), 7: "seven"})  # type: ignore[dict-item]  # what JSON makes text of
    story = given().when(m.StartRun(at=1.0, goal=goal, lineage="run", planner="p"))
    assert story.run.goal.inputs == {"sizes": [1, 2], "7": "seven"}


def test_inputs_that_json_cannot_carry_are_refused() -> None:
    message = m.StartRun(at=1.0, goal=Goal("g", {"x": object()}), lineage="run", planner="p")
    with pytest.raises(InvalidInputError, match="not a JSON value"):
        given().when(message)


def test_a_fork_keeps_the_lineage_of_its_root() -> None:
    root, fork = given(start()), given(m.StartRun(at=1.0, goal=Goal("g"), lineage="root", planner="p"))
    assert (root.run.lineage, fork.run.lineage) == ("run", "root")


def test_operations_are_those_of_the_lineage() -> None:
    keys = [
        given(m.StartRun(at=1.0, goal=Goal("g"), lineage=lineage, plan=Plan([step("ship")]))).key("E0")
        for lineage in ("run", "run", "other")
    ]
    assert keys[0] == keys[1] != keys[2]
    assert keys[0] == has("user__ship:", ".0")


def test_a_plan_by_a_planner_begins_as_one_by_a_person_does() -> None:
    given(*planned("look")).when(succeeds("E0", {"x": 1})).then(
        like(f.StepCompleted, step="E0"), f.RunCompleted({"x": 1})
    )
