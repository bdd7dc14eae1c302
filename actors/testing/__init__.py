"""The test kit: engines, clocks, planners and tools for the tests of programs that embed Midcourse.

=================  ====================================================================================
`TrialEngine`      an engine on a store in memory, whose time a test moves by hand
`ManualClock`      that clock
`ScriptedPlanner`  gives one answer after the other, and remembers what it was asked
`scripted_tool`    makes a tool that has one outcome after the other, and remembers its calls
`wait_for_fact`    waits for a fact of a run
`crash_at_every_fact`  kills a scenario at every commit, in a real process, and calls it again
=================  ====================================================================================

Import it as ``midcourse.testing``.
"""

from .clock import ManualClock
from .crash import (
    MOMENTS,
    STORE,
    Crash,
    CrashAt,
    Finished,
    Scenario,
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
    "ScenarioError",
    "ScriptEndedError",
    "ScriptedPlanner",
    "ScriptedTool",
    "ToolCall",
    "TrialEngine",
    "crash_at_every_fact",
    "crashing",
    "kill_scenario",
    "preload",
    "run_scenario",
    "scripted_tool",
    "wait_for_fact",
]
