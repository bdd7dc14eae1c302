"""The test kit, for the tests of programs that embed Midcourse.

=================  ====================================================================================
`TrialEngine`      an engine on a store in memory, whose time a test moves by hand
`ManualClock`      that clock: nothing that waits goes on before `clock.advance(seconds)`
`ScriptedPlanner`  gives one answer after the other, and remembers what it was asked
`scripted_tool`    makes a tool that has one outcome after the other, and remembers its calls
`wait_for_fact`    waits for a fact of a run
`facts`            the kinds of facts there are, such as `facts.StepFailed`
`crash_at_every_fact`  kills a scenario at every commit, in a real process, and calls it again
=================  ====================================================================================

A tool that fails once and is tried again, without waiting for the thirty seconds between::

    from midcourse import Plan, Step, ToolError
    from midcourse.testing import TrialEngine, facts, scripted_tool, wait_for_fact

    async def test_a_second_attempt() -> None:
        later = ToolError("not now", retryable=True, retry_after_s=30)
        work = scripted_tool("work", later, "done", effect="read")
        async with TrialEngine(tools=[work]) as engine:
            run = await engine.start("work", plan=Plan((Step(tool_name="work"),)))
            await wait_for_fact(run, facts.AttemptFailed)
            engine.clock.advance(30)
            assert (await run.outcome(timeout_s=10)).result == "done"
        assert [call.attempt for call in work.calls] == [1, 2]

Import it as ``midcourse.testing``.
"""

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
