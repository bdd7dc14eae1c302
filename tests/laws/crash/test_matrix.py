"""The crash matrix: every scenario, killed at every boundary, taken up again, and compared with the uncrashed run.

Facts become durable by appends, each all or nothing. So a process is killed before and after each of them, and
besides inside its tools: on both sides of the moment at which the outside world commits an effect. Every boundary
is tried, until the scenario comes to its end first: how many there are may differ by one or two, because messages
that happen to wait together share an append.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest
from midcourse.actors.testing.crash import (
    MOMENTS,
    CrashAt,
    Moment,
    Scenario,
    ScenarioEndedError,
    kill_scenario,
    run_scenario,
)
from midcourse.examples.order.calls import KillAt

from . import approving, asking, replanning, running, undoing
from .laws import check_books, check_recovery, check_wreck, picture, read_books

MOST_S = 30.0
"""Seconds one life of a scenario may take; it takes a tenth of one."""

MOST_BOUNDARIES = 60
NEVER = CrashAt(0, "before")


class Case(NamedTuple):
    """A scenario with its arguments."""

    scenario: Scenario
    arguments: Mapping[str, Any]


SCENARIOS: dict[str, Case] = {
    scenario.__name__: Case(scenario, {})
    for scenario in (
        running.sequence,
        running.wide_dag,
        running.dag_one_by_one,
        running.retry_with_back_off,
        running.late_receipt,
        running.cancelled,
        running.safe_to_lose,
        running.probe_says_happened,
        running.probe_says_not_happened,
        running.person_says_happened,
        running.person_says_not_happened,
        replanning.failed_step,
        replanning.request_with_updates,
        replanning.request_with_receipt,
        replanning.stale_proposal,
        replanning.listed_undo,
        replanning.undo_and_redo,
        replanning.satisfied_from_ledger,
        replanning.conflict_in_proposal,
        replanning.conflict_at_admission,
        replanning.irreversible_constraint,
        replanning.goal_reached_early,
        replanning.stuck_then_signal,
        asking.value_found,
        asking.asked_after_every_call,
        asking.rule_that_raises,
        asking.condition_broken,
        approving.approved_step,
        approving.denied_step,
        approving.skipped_step,
        approving.approved_retry,
        approving.plan_denied_then_approved,
        approving.planned_undo_approved,
        undoing.all_undone,
        undoing.undo_asked_about,
        undoing.undo_fails_twice,
        undoing.undo_parked,
        undoing.undo_waived,
    )
} | {
    f"order_{variant}_{planner}": Case(replanning.order, {"variant": variant, "planner": planner})
    for variant in ("ship", "no_route", "address_change")
    for planner in ("goap", "function")
}


async def live(case: Case, folder: Path) -> dict[str, Any]:
    """Let a scenario come to its end, check its laws, and return what has to be the same after a crash."""
    finished = run_scenario(case.scenario, folder=folder, arguments=case.arguments, timeout_s=MOST_S)
    books = await read_books(folder)
    check_books(books, finished.result)
    return picture(books)


async def die_and_live(case: Case, folder: Path, at: CrashAt, kill_at: KillAt | None = None) -> dict[str, Any]:
    """Kill a scenario, take it up again, check the laws of both lives, and return the picture in the end.

    Raises:
        ScenarioEndedError: it does not get as far as that.
    """
    deadly = {**case.arguments, "kill_at": kill_at}
    kill_scenario(case.scenario, at, folder=folder, arguments=deadly, timeout_s=MOST_S)
    wreck = await read_books(folder)
    check_wreck(wreck)
    rest = await live(case, folder)
    check_recovery(wreck, await read_books(folder))
    return rest


@pytest.fixture(params=list(SCENARIOS))
def case(request: pytest.FixtureRequest) -> Case:
    return SCENARIOS[request.param]


@pytest.mark.parametrize("moment", MOMENTS)
async def test_killed_at_every_fact(
    case: Case, moment: Moment, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    uncrashed = await live(case, made(tmp_path / "uncrashed"))
    for append in range(1, MOST_BOUNDARIES):
        with subtests.test(f"killed {moment} append {append}"):
            try:
                crashed = await die_and_live(case, made(tmp_path / f"{append}"), CrashAt(append, moment))
            except ScenarioEndedError:
                assert append > 2
                return
            assert crashed == uncrashed
    pytest.fail(f"it never ended before append {MOST_BOUNDARIES}")


@pytest.mark.parametrize("moment", ["before_commit", "after_commit"])
async def test_killed_in_every_tool(
    case: Case,
    moment: Literal["before_commit", "after_commit"],
    tmp_path: Path,
    subtests: pytest.Subtests,
) -> None:
    uncrashed = await live(case, made(tmp_path / "uncrashed"))
    for call in range(1, MOST_BOUNDARIES):
        with subtests.test(f"killed at {moment} of call {call} to the world"):
            try:
                crashed = await die_and_live(case, made(tmp_path / f"{call}"), NEVER, KillAt(call, moment))
            except ScenarioEndedError:
                assert call > 1
                return
            assert crashed == uncrashed
    pytest.fail(f"it never ended before call {MOST_BOUNDARIES}")


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder
