"""``runs pause``, ``unpause`` and ``budget``, with no engine about."""

from collections.abc import Callable
from typing import Any

import pytest

from midcourse.domain import messages as m
from midcourse.domain.budget import Budget
from midcourse.domain.facts import Limits
from midcourse.domain.goal import Goal

Call = Callable[..., Any]


def test_a_run_is_paused_and_goes_on(on_store: Call, replanned: Any) -> None:
    paused = on_store("runs", "pause", "key:order-42", "--reason", "audit")
    assert (paused.code, paused.out) == (0, f"{replanned.run.id}: run_paused\n")
    shown = on_store("runs", "show", "key:order-42")
    assert "paused" in shown.out
    assert "audit" in shown.out
    gone_on = on_store("runs", "unpause", "key:order-42", "--json")
    assert gone_on.json == {"run": replanned.run.id, "recorded": ["run_unpaused"]}


def test_runs_are_paused_by_what_they_are_for(on_store: Call, replanned: Any) -> None:
    assert on_store("runs", "pause", "--tag", "shop=bergen").out == ""
    assert on_store("runs", "pause", "--tag", "shop=oslo").out == f"{replanned.run.id}\n"
    assert on_store("runs", "unpause", "--all", "--json").json == {"runs": [replanned.run.id]}


@pytest.mark.parametrize("which", [(), ("key:order-42", "--all")])
def test_which_runs_has_to_be_said_once(on_store: Call, replanned: Any, which: tuple[str, ...]) -> None:
    answer = on_store("runs", "pause", *which)
    assert answer.code == 2
    assert "name a RUN, or say --all" in answer.err


def test_a_budget_lets_a_run_go_on_that_the_one_before_paused(on_store: Call, story: Any) -> None:
    limits = Limits(budgets=(Budget(steps=1),))
    story.tell(
        m.StartRun, goal=Goal("g"), lineage=story.run.id, planner="orders", key="order-42", limits=limits
    )
    story.plan(("notify", {"text": "a"}), ("notify", {"text": "b"}))
    story.succeed("ok")
    listed = on_store("runs", "list", "--attention")
    assert f"midcourse --store sqlite:///{story.store} runs budget {story.run.id} --steps MORE" in listed.out
    answer = on_store("runs", "budget", "key:order-42", "--steps", "5", "--reason", "go on")
    assert (answer.code, answer.out) == (0, f"{story.run.id}: budget_changed, run_unpaused\n")


def test_a_budget_that_limits_nothing_is_refused(on_store: Call, replanned: Any) -> None:
    answer = on_store("runs", "budget", "key:order-42")
    assert answer.code != 0
    assert "this one limits nothing" in answer.err
