"""Schedules in processes that are killed before and after each of their appends: one run for each due time.

Between the fact that a due time is fired and that its run was started lies the start of the run; the key of
the run, made of the schedule and the due time, keeps it from being started twice.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from midcourse.actors.testing.crash import (
    MOMENTS,
    CrashAt,
    Moment,
    Scenario,
    ScenarioEndedError,
    kill_scenario,
    preload,
    run_scenario,
)

from . import scheduling

preload(scheduling.__name__)

MOST_APPENDS = 40
MOST_S = 30.0
EXPECTED = {
    "one_start": [("schedule_added", 0), ("schedule_fired", 1), ("scheduled_run_started", 1)],
    "caught_up": [
        ("schedule_added", 0), ("schedule_skipped", 1), ("schedule_fired", 2), ("schedule_fired", 3),
        ("scheduled_run_started", 2), ("scheduled_run_started", 3),
    ],
    "one_after_the_other": [
        ("schedule_added", 0), ("schedule_fired", 1), ("scheduled_run_started", 1), ("schedule_queued", 2),
        ("schedule_fired", 2), ("scheduled_run_started", 2),
    ],
}  # fmt: skip


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize(
    ("scenario", "arguments"),
    [
        (scheduling.one_start, {}),
        (scheduling.one_after_the_other, {"overlap": "queue"}),
        (scheduling.one_after_the_other, {"overlap": "cancel_previous"}),
        (scheduling.caught_up, {}),
    ],
)
def test_a_due_time_becomes_one_run_wherever_its_process_is_killed(
    scenario: Scenario,
    arguments: Mapping[str, Any],
    moment: Moment,
    crash_folder: Path,
    subtests: pytest.Subtests,
) -> None:
    with tempfile.TemporaryDirectory(dir=crash_folder) as name:
        uncrashed = live(scenario, Path(name), arguments)
    _, facts, problems = uncrashed
    beginning = -scheduling.BEGINNING
    assert [(topic, 0 if due == beginning else due / scheduling.HOUR) for topic, due in facts] == EXPECTED[
        scenario.__name__
    ]
    assert problems == []
    for append in range(1, MOST_APPENDS):
        with (
            subtests.test(f"killed {moment} append {append}"),
            tempfile.TemporaryDirectory(dir=crash_folder) as name,
        ):
            try:
                at = CrashAt(append, moment)
                kill_scenario(scenario, at, folder=Path(name), arguments=arguments, timeout_s=MOST_S)
            except ScenarioEndedError:
                assert append > len(EXPECTED[scenario.__name__])
                return
            assert live(scenario, Path(name), arguments) == uncrashed
    pytest.fail(f"it went on beyond append {MOST_APPENDS}")


def live(scenario: Scenario, folder: Path, arguments: Mapping[str, Any]) -> Any:
    return run_scenario(scenario, folder=folder, arguments=arguments, timeout_s=MOST_S).result
