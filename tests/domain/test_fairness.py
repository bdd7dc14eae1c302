"""Who comes next where places are scarce."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain.fairness import TICKETS, FairQueue, Priority


def test_a_run_with_ten_thousand_jobs_keeps_out_no_small_one() -> None:
    queue = FairQueue[str]()
    for n in range(10_000):
        queue.push(f"big-{n}", "big")
    for n in range(100):
        queue.push(f"small-{n}", f"run-{n}")
    order = [queue.pop() for _ in range(101)]
    assert ["big-0", *(f"small-{n}" for n in range(100))] == order


def test_all_priorities_get_their_shares_while_all_wait() -> None:
    queue = FairQueue[tuple[Priority, int]]()
    for n in range(1_000):
        for priority in TICKETS:
            queue.push((priority, n), f"run-{n}", priority=priority)
    shares = Counter(queue.pop()[0] for _ in range(210))
    assert shares == {"high": 160, "normal": 40, "low": 10}


def test_a_low_priority_gets_its_turn_though_high_ones_never_end() -> None:
    queue = FairQueue[int]()
    queue.push(-1, "low", priority="low")
    taken: list[int] = []
    for n in range(40):
        queue.push(n, f"high-{n}", priority="high")
        queue.push(n + 1_000, f"more-{n}", priority="high")
        taken.append(queue.pop())
    assert taken.count(-1) == 1
    assert taken.index(-1) <= 16


def test_a_priority_that_nobody_used_has_saved_up_nothing() -> None:
    queue = FairQueue[str]()
    for n in range(1_000):
        queue.push(f"low-{n}", "a", priority="low")
    for _ in range(100):
        queue.pop()
    for n in range(100):
        queue.push(f"high-{n}", "b", priority="high")
    first = [queue.pop().partition("-")[0] for _ in range(34)]
    assert first.index("low") <= 17
    assert first.count("high") >= 32


def test_what_is_urgent_comes_first_whatever_its_priority() -> None:
    queue = FairQueue[str]()
    queue.push("step", "a", priority="high")
    queue.push("undo", "b", priority="low", is_urgent=True)
    assert [queue.pop(), queue.pop()] == ["undo", "step"]


def test_a_job_that_was_removed_does_not_come() -> None:
    queue = FairQueue[str]()
    queue.push("a", "run")
    queue.push("b", "run")
    assert queue.remove("a")
    assert not queue.remove("a")
    assert [queue.pop()] == ["b"]
    with pytest.raises(LookupError):
        queue.pop()


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(tuple(TICKETS)), st.booleans())))
def test_every_job_comes_once(pushed: list[tuple[str, Priority, bool]]) -> None:
    queue = FairQueue[int]()
    for job, (run, priority, is_urgent) in enumerate(pushed):
        queue.push(job, run, priority=priority, is_urgent=is_urgent)
    assert list(range(len(pushed))) == sorted(queue.pop() for _ in pushed)
    assert len(queue) == 0
