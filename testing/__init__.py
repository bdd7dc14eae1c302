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

The crash kit is described in `midcourse.actors.testing.crash`.
"""

from ..actors.testing import *  # noqa: F403 - the same names
from ..actors.testing import __all__ as __all__
