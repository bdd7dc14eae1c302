"""The parts of the test kit. It is imported as `midcourse.testing`, which says what is in it."""

from ...domain import facts
from .clock import ManualClock
from .crash import (
    MOMENTS,
    STORE,
    Crash,
    CrashAt,
    Finished,
    Scenario,
    ScenarioEndedError,
    ScenarioError,
    crash_at_every_fact,
    kill_scenario,
    preload,
    run_scenario,
)
from .crashing import CrashingJournal, Moment, crashing
from .scripted import ScriptedPlanner, ScriptedTool, ScriptEndedError, ToolCall, scripted_tool
from .trial import FactMissingError, RecordOf, TrialEngine, wait_for_fact

__all__ = [
    "MOMENTS",
    "STORE",
    "Crash",
    "CrashAt",
    "CrashingJournal",
    "FactMissingError",
    "Finished",
    "ManualClock",
    "Moment",
    "RecordOf",
    "Scenario",
    "ScenarioEndedError",
    "ScenarioError",
    "ScriptEndedError",
    "ScriptedPlanner",
    "ScriptedTool",
    "ToolCall",
    "TrialEngine",
    "crash_at_every_fact",
    "crashing",
    "facts",
    "kill_scenario",
    "preload",
    "run_scenario",
    "scripted_tool",
    "wait_for_fact",
]
