"""What an accepted plan leaves in the state of a run: a sequence is laid out by what its edges say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain import facts as f
from midcourse.domain.evolve import evolve
from midcourse.domain.plan import Plan, Step
from midcourse.domain.readiness import edges
from midcourse.domain.run import Run

NAMES = [f"s{n}" for n in range(8)]


def accepted(tail: list[Step], done: tuple[str, ...]) -> Run:
    """Return a run with a new tail, some steps done before it; the last of them is kept."""
    run = Run("run")
    run.done = dict.fromkeys(done, "operation")
    evolve(run, f.PlanProposed(epoch=0, author="human", digest="d", plan=Plan(tail)))
    added = tuple(step.id for step in tail)
    evolve(run, f.PlanAccepted(revision=1, author="human", digest="d", kept=done, added=added))
    return run


def by_edges(
    tail: list[Step], done: tuple[str, ...]
) -> tuple[dict[str, int], dict[str, list[str]], list[str]]:
    unmet: dict[str, int] = {}
    needed_by: dict[str, list[str]] = {}
    for step, needs in edges(tail, done[-1] if done else "").items():
        still = [need for need in needs if need not in done]
        unmet[step] = len(still)
        for need in still:
            needed_by.setdefault(need, []).append(step)
    return unmet, needed_by, [step for step, count in unmet.items() if not count]


@given(
    st.lists(st.sampled_from(NAMES), unique=True),
    st.lists(st.sampled_from(NAMES), unique=True),
    st.booleans(),
)
def test_a_tail_is_laid_out_by_its_edges(steps: list[str], done: list[str], is_dag: bool) -> None:
    tail = [Step(step, "t", needs=() if is_dag and n == 0 else None) for n, step in enumerate(steps)]
    run = accepted(tail, tuple(done))
    assert by_edges(tail, tuple(done)) == (run.unmet, run.needed_by, list(run.ready))


def test_a_last_executed_step_that_is_not_done_is_waited_for() -> None:
    run, plan = Run("run"), Plan([Step("B", "t"), Step("C", "t")])
    evolve(run, f.PlanProposed(epoch=0, author="human", digest="d", plan=plan))
    evolve(run, f.PlanAccepted(revision=1, author="human", digest="d", kept=("A",), added=("B", "C")))
    assert (run.unmet, run.needed_by, list(run.ready)) == ({"B": 1, "C": 1}, {"A": ["B"], "B": ["C"]}, [])


def test_whether_a_signal_moves_the_epoch_is_said_by_each() -> None:
    run = accepted([Step("A", "t")], ())
    evolve(run, f.SignalReceived("s", None, id="1", relevant=False))
    assert (run.version, run.epoch) == (3, 2)
    evolve(run, f.SignalReceived("s", None, id="2", relevant=True))
    assert (run.version, run.epoch) == (4, 4)
