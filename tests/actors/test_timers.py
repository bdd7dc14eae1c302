from midcourse.actors.timers import HORIZON_S, WakeUps
from midcourse.testing import ManualClock


class Woken:
    """Wake-ups on a manual clock, and what came of them."""

    def __init__(self) -> None:
        self.clock = ManualClock(start=0.0)
        self.runs: list[tuple[str, float]] = []
        self.looked: list[float] = []
        self.wake_ups = WakeUps(clock=self.clock, timers=self.clock)

    def start(self) -> WakeUps:
        self.wake_ups.start(
            wake=lambda run_id: self.runs.append((run_id, self.clock())), look_ahead=self.looked.append
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
