"""The crash matrix: each scenario, killed at every boundary, taken up again, compared with its uncrashed run.

Facts become durable by appends, each all or nothing. So a process is killed before and after each of them;
and besides inside its tools, on both sides of the moment at which the world commits an effect. Every boundary
is tried, until the scenario comes to its end first: how many there are may differ by one or two, because
messages that happen to wait together share an append.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
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

from . import (
    approving,
    asking,
    controlling,
    helping,
    nesting,
    replanning,
    reviewing,
    running,
    undoing,
    waiting,
)
from .laws import Books, check_books, check_recovery, check_wreck, picture, read_books
from .leaving import LEAVING
from .stopping import STOPPING

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
        replanning.step_in_flight,
        replanning.cancelled_while_planning,
        replanning.failed_step,
        replanning.request_with_updates,
        replanning.request_with_receipt,
        replanning.stale_proposal,
        replanning.listed_undo,
        replanning.planned_undo,
        replanning.undo_and_redo,
        replanning.satisfied_from_ledger,
        replanning.conflict_in_proposal,
        replanning.conflict_at_admission,
        replanning.irreversible_constraint,
        replanning.goal_reached_early,
        replanning.stuck_then_signal,
        helping.stuck_then_helped,
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
        reviewing.done_again,
        reviewing.becomes_a_plan,
        reviewing.plan_waits_for_review,
        reviewing.plan_refused,
        reviewing.covered,
        waiting.for_a_time,
        waiting.for_a_signal,
        waiting.tool_suspended,
        waiting.paused_and_budgeted,
        controlling.mapped,
        controlling.mapped_one_fails,
        controlling.mapped_anew,
        controlling.reduced,
        controlling.decided,
        controlling.called,
        controlling.called_and_left,
        controlling.ended_early,
        controlling.asked,
        controlling.waited,
        controlling.retried,
        controlling.debugged,
        nesting.child_in_a_plan,
        nesting.children_of_a_tool,
        nesting.cancelled_in_a_child,
        nesting.undone_across,
        nesting.on_one_place,
        undoing.all_undone,
        undoing.undo_asked_about,
        undoing.undo_fails_twice,
        undoing.undo_parked,
        undoing.undo_waived,
        *LEAVING,
        *STOPPING,
    )
} | {
    f"order_{variant}_{planner}": Case(replanning.order, {"variant": variant, "planner": planner})
    for variant in ("ship", "no_route", "address_change")
    for planner in ("goap", "function")
}


class Death(NamedTuple):
    """Where a scenario is killed: at an append, or by a call that its world receives."""

    append: CrashAt = NEVER
    call: KillAt | None = None

    def __str__(self) -> str:
        if self.call is None:
            return f"killed {self.append.moment} append {self.append.append}"
        return f"killed {self.call.moment} of call {self.call.call}"


def die(case: Case, folder: Path, death: Death) -> Books:
    """Kill a scenario, and return what it leaves behind.

    Raises:
        ScenarioEndedError: it does not get as far as that.
    """
    deadly = {**case.arguments, "kill_at": death.call}
    kill_scenario(case.scenario, death.append, folder=folder, arguments=deadly, timeout_s=MOST_S)
    wreck = read_books(folder)
    check_wreck(wreck)
    return wreck


def live(case: Case, folder: Path) -> Books:
    """Let a scenario come to its end, and return what there is then."""
    finished = run_scenario(case.scenario, folder=folder, arguments=case.arguments, timeout_s=MOST_S)
    books = read_books(folder)
    check_books(books, finished.result)
    return books


class Trial:
    """One scenario, to be killed everywhere.

    Args:
        case: the scenario.
        folder: an empty folder.
    """

    def __init__(self, case: Case, folder: Path) -> None:
        self._case = case
        self._folder = folder
        self._uncrashed = picture(live(case, made(folder / "uncrashed")))

    def kill(self, subtests: pytest.Subtests, deaths_at: Callable[[int], tuple[Death, ...]]) -> None:
        """Kill it at the first boundary, at the second, and so on until it ends before.

        Args:
            subtests: each boundary is one.
            deaths_at: how it is killed at the boundary of a number, from 1: once, or several times in turn.
        """
        for number in range(1, MOST_BOUNDARIES):
            deaths = deaths_at(number)
            with subtests.test(", then ".join(map(str, deaths))):
                try:
                    crashed = self._survive(deaths)
                except ScenarioEndedError:
                    assert number > 1
                    return
                assert crashed == self._uncrashed
        pytest.fail(f"it went on beyond boundary {MOST_BOUNDARIES}")

    def _survive(self, deaths: tuple[Death, ...]) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            folder = Path(name)
            wrecks = [die(self._case, folder, death) for death in deaths]
            rest = live(self._case, folder)
        for wreck in wrecks:
            check_recovery(wreck, rest)
        return picture(rest)


@pytest.fixture(params=list(SCENARIOS), scope="module")
def trial(request: pytest.FixtureRequest, crash_folder: Path) -> Trial:
    return Trial(SCENARIOS[request.param], made(crash_folder / request.param))


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_at_every_fact(trial: Trial, moment: Moment, subtests: pytest.Subtests) -> None:
    trial.kill(subtests, lambda number: (Death(CrashAt(number, moment)),))


@pytest.mark.parametrize("moment", ["before_commit", "after_commit"])
def test_killed_in_every_tool(
    trial: Trial, moment: Literal["before_commit", "after_commit"], subtests: pytest.Subtests
) -> None:
    trial.kill(subtests, lambda number: (Death(call=KillAt(number, moment)),))


def test_killed_again_while_it_is_taken_up(trial: Trial, subtests: pytest.Subtests) -> None:
    """The second time it dies at the first append of its second life, where what was in flight is found lost.

    This is tried at every second boundary, by turns before that append and after it: they are alike in this.
    """

    def twice(number: int) -> tuple[Death, ...]:
        return Death(CrashAt(2 * number - 1, "after")), Death(CrashAt(1, MOMENTS[number % len(MOMENTS)]))

    trial.kill(subtests, twice)


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder
