from typing import Any

from midcourse import Engine, Plan, RetryPolicy, Step, tool
from midcourse.actors.timers import HORIZON_S, WakeUps
from midcourse.domain.facts import AttemptFailed
from midcourse.testing import ManualClock, wait_for_fact


class SetClock:
    """A wall clock beside monotonic timers, which somebody may set."""

    def __init__(self, timers: ManualClock) -> None:
        self.timers = timers
        self.set_by_s = 0.0

    def __call__(self) -> float:
        return self.timers() + self.set_by_s


class Woken:
    """Wake-ups on a manual clock, and what came of them."""

    def __init__(self) -> None:
        self.clock = ManualClock(start=0.0)
        self.wall = SetClock(self.clock)
        self.runs: list[tuple[str, float]] = []
        self.looked: list[float] = []
        self.wake_ups = WakeUps(clock=self.wall, timers=self.clock)

    def start(self) -> WakeUps:
        self.wake_ups.start(
            wake=lambda run_id, _at: self.runs.append((run_id, self.clock())), look_ahead=self.looked.append
        )
        return self.wake_ups


def test_runs_are_woken_in_time_and_in_order() -> None:
    woken = Woken()
    wake_ups = woken.start()
    wake_ups.hold("b", 20.0)
    wake_ups.hold("a", 10.0)
    woken.clock.advance(30)
    assert woken.runs == [("a", 10.0), ("b", 20.0)]


def test_the_last_time_given_counts() -> None:
    woken = Woken()
    wake_ups = woken.start()
    for at in (30.0, 10.0, 20.0):
        wake_ups.hold("a", at)
    wake_ups.hold("b", 15.0)
    wake_ups.drop("b")
    woken.clock.advance(60)
    assert woken.runs == [("a", 20.0)]


def test_a_far_wake_up_is_kept_for_a_run_in_memory_and_left_to_the_index_for_others() -> None:
    woken = Woken()
    wake_ups = woken.start()
    wake_ups.hold("stays", 1000.0)
    wake_ups.hold("leaves", 1000.0)
    wake_ups.forget("leaves")
    woken.clock.advance(1100)
    assert woken.runs == [("stays", 1000.0)]


def test_the_index_is_asked_ahead_of_time() -> None:
    woken = Woken()
    woken.start()
    woken.clock.advance(3 * HORIZON_S)
    assert woken.looked == [2 * HORIZON_S, 3 * HORIZON_S, 4 * HORIZON_S, 5 * HORIZON_S]


def test_nobody_is_woken_after_the_stop() -> None:
    woken = Woken()
    wake_ups = woken.start()
    wake_ups.hold("a", 10.0)
    wake_ups.stop()
    wake_ups.hold("b", 10.0)
    woken.clock.advance(1000)
    assert (woken.runs, woken.looked) == ([], [2 * HORIZON_S])


def test_a_clock_that_is_set_back_makes_nobody_wait_longer() -> None:
    woken = Woken()
    wake_ups = woken.start()
    wake_ups.hold("near", 10.0)
    wake_ups.hold("far", 1000.0)
    woken.wall.set_by_s = -3600.0
    wake_ups.hold("near", 10.0)
    wake_ups.hold("far", 1000.0)
    wake_ups.hold("after", -3600.0 + 20.0)
    woken.clock.advance(1000)
    assert woken.runs == [("near", 10.0), ("after", 20.0), ("far", 1000.0)]
    assert woken.looked[:2] == [2 * HORIZON_S, -3600.0 + 3 * HORIZON_S]


def test_a_clock_that_is_set_forward_is_noticed_within_a_horizon() -> None:
    woken = Woken()
    wake_ups = woken.start()
    for run_id, at in (("near", 100.0), ("far", 1000.0), ("later", 3600.0 + 500.0)):
        wake_ups.hold(run_id, at)
    woken.wall.set_by_s = 3600.0
    woken.clock.advance(600)
    assert woken.runs == [("near", HORIZON_S), ("far", HORIZON_S), ("later", 500.0)]


async def test_a_retry_is_not_put_off_by_a_clock_that_is_set_back() -> None:
    timers = ManualClock()
    clock = SetClock(timers)
    calls: list[Any] = []

    @tool(idempotent=True, retry=RetryPolicy(initial_s=10.0))
    async def flaky() -> int:
        calls.append(clock())
        if len(calls) == 1:
            raise OSError("again")
        return 1

    async with Engine("memory:", tools=[flaky], clock=clock, timers=timers) as engine:
        run = await engine.start("g", plan=Plan([Step(tool_name="flaky")]))
        await wait_for_fact(run, AttemptFailed)
        clock.set_by_s = -3600.0
        timers.advance(15.0)
        assert (await run.outcome(timeout_s=None)).result == 1
